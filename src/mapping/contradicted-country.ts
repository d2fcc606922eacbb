/**
 * A column, or a member of JSON, with countries that nothing maps, beside phone numbers without a country code: in the generic layout these are numbers of the default
 * country, also in the rows whose country is another one. Such a number would be that of a stranger, and no row would say so. Pure.
 */
import type { CountryCode } from 'libphonenumber-js/max';
import { normaliseHeader, tidyHeader } from '#src/sources/column-name.ts';
import { type JsonValue, listNames, type Row } from '#src/sources/row.ts';
import { isJsonObject, type JsonObject, memberOf } from './cell.ts';
import type { ContactColumn } from './contact-columns.ts';
import { countryMissingCode, countryOf } from './country.ts';
import { type FlatNames, isContactShape } from './json-rows.ts';
import type { BoundColumn, Target } from './layout.ts';
import { valueMemberOf } from './list-element.ts';
import { readPhone, readPhones, splitPhones } from './phone-cell.ts';

export interface CountryWatch {
  /** Looks at a row, until one contradicts the default country. */
  see(row: Row): void;
  /** The columns that name another country for a number. */
  list(): readonly ContactColumn[];
}

/** Of a person's address, in English, German, French and Spanish; no `Country Manager`. */
const countryNames =
  /^(?:home|business|work|mailing|postal|primary|contact|address)?(?:country|land|pays|pais|nation)(?:name|code|region|\/region)?$|^(?:laendercode|landercode|countryid(?:\/name)?)$/;

/**
 * @param unmapped the positions of the columns that nothing maps.
 * @param country the default one; null: numbers without a country code are rejected, and nothing is read in a wrong country.
 */
export function watchCountries(
  columns: readonly string[],
  unmapped: readonly number[],
  bound: readonly BoundColumn[],
  country: CountryCode | null,
): CountryWatch {
  const phones = bound.flatMap(({ index, target }) => (index !== null && isPhones(target) ? [index] : []));
  let open = country === null || phones.length === 0 ? [] : unmapped.filter((index) => isCountryName(columns[index]));
  const found: ContactColumn[] = [];
  const countryIn = rememberCountries();
  return {
    see: (row) => {
      if (open.length === 0 || country === null || row.kind !== 'cells') return;
      const met = open.filter((index) => {
        const own = countryIn(row.cells[index] ?? '');
        return own !== null && phones.some((phone) => differs(row.cells[phone] ?? '', country, own));
      });
      if (met.length === 0) return;
      found.push(...met.map((index) => countryColumn(columns[index] ?? '')));
      open = open.filter((index) => !met.includes(index));
    },
    list: () => found,
  };
}

/** The same for JSON. A country in an object, as in `address`, is named by its path. */
export function watchCountriesOfObjects(names: FlatNames, country: CountryCode | null): CountryWatch {
  const found = new Map<string, ContactColumn>();
  const countryIn = rememberCountries();
  const isCountry = rememberNames();
  return {
    see: (row) => {
      if (country === null || row.kind !== 'object') return;
      const { object } = row;
      const met = countriesIn(object, isCountry).filter(({ path }) => !found.has(path));
      if (met.length === 0) return;
      const mapped = isContactShape(object) ? null : names.targetsOf(object);
      const phones = mapped === null ? textsIn(phoneNumbersOf(object)) : phonesIn(object, mapped);
      for (const { path, value } of met) {
        const own = mapped?.has(path) === true ? null : countryIn(value);
        if (own !== null && phones.some((phone) => differs(phone, country, own))) found.set(path, countryColumn(path));
        if (found.size === foundMax) return;
      }
    },
    list: () => [...found.values()],
  };
}

/** A member may be named by a key, and be another one in each record. */
const foundMax = 100;

interface CountryMember {
  readonly path: string;
  readonly value: string;
}

/** Members with the name of a country, and those of objects: the name of `address.country` is read as that of `Address Country`. */
function countriesIn(object: JsonObject, isCountry: (name: string) => boolean): readonly CountryMember[] {
  return Object.entries(object).flatMap(([name, raw]): readonly CountryMember[] => {
    if (typeof raw === 'string') return isCountry(name) ? [{ path: name, value: raw }] : [];
    if (!isJsonObject(raw)) return [];
    const isFields = name === 'defaultFields';
    return Object.entries(raw).flatMap(([inner, value]) =>
      typeof value === 'string' && isCountry(isFields ? inner : `${name}${inner}`)
        ? [{ path: `${name}.${inner}`, value }]
        : [],
    );
  });
}

function phonesIn(object: JsonObject, mapped: ReadonlyMap<string, readonly Target[]>): readonly string[] {
  return [...mapped].flatMap(([name, targets]) => (targets.some(isPhones) ? textsIn(memberOf(object, name)) : []));
}

function phoneNumbersOf(object: JsonObject): JsonValue | undefined {
  const defaults = memberOf(object, 'defaultFields');
  return isJsonObject(defaults) ? memberOf(defaults, 'phoneNumbers') : undefined;
}

/** The texts of a value, or of the elements of a list. */
function textsIn(raw: JsonValue | undefined): readonly string[] {
  if (typeof raw === 'string') return [raw];
  if (typeof raw === 'number') return [String(raw)];
  if (!Array.isArray(raw)) return [];
  return raw.flatMap((element: JsonValue) => {
    const name = isJsonObject(element) ? valueMemberOf(element) : null;
    const value = isJsonObject(element) ? memberOf(element, name ?? '') : element;
    return Array.isArray(value) ? [] : textsIn(value);
  });
}

function isPhones(target: Target): boolean {
  return target.kind === 'items' && target.list === 'phones';
}

/** Names of members are the same in most records. */
function rememberNames(): (name: string) => boolean {
  const known = new Map<string, boolean>();
  return (name) => {
    const met = known.get(name);
    if (met !== undefined) return met;
    const isCountry = isCountryName(name);
    if (known.size < rememberedMax) known.set(name, isCountry);
    return isCountry;
  };
}

/** Most files name a few countries, again and again. */
function rememberCountries(): (text: string) => CountryCode | null {
  const known = new Map<string, CountryCode | null>();
  return (text) => {
    const met = known.get(text);
    if (met !== undefined) return met;
    const country = countryOf(text);
    if (known.size < rememberedMax) known.set(text, country);
    return country;
  };
}

const rememberedMax = 300;

/** Half a sentence on one of them. */
export function countryLeftOut(column: string): string {
  return `the column ${listNames([column])} is not mapped, and names other countries than the default one for phone numbers without a country code, which would become numbers of other people`;
}

function isCountryName(name: string | undefined): boolean {
  return countryNames.test(
    normaliseHeader(name ?? '')
      .normalize('NFKD')
      .replace(/\p{M}/gu, ''),
  );
}

function countryColumn(column: string): ContactColumn {
  return {
    column,
    kind: 'country',
    line: `defaultCountry: { column: ${JSON.stringify(tidyHeader(column))} }`,
    generic: 'defaultCountry',
  };
}

/** Whether the cell holds a number without a country code that is one number in the default country, and another one in the row's own. */
function differs(cell: string, usual: CountryCode, own: CountryCode): boolean {
  if (own === usual || /^\s*(?:\+[^+]*)?$/.test(cell)) return false;
  const parts = splitPhones(cell, usual);
  const [asUsual, asOwn] = [readPhones(parts, usual), readPhones(parts, own)];
  return parts.some((part, index) => {
    const [here, there] = [asUsual[index], asOwn[index]];
    if (here?.ok !== true || there?.ok !== true || here.value === there.value) return false;
    // Many digits are possible in many countries: only one that assigns them speaks against the default one.
    if (there.warnings.some(({ code }) => code === 'phoneUnassigned')) return false;
    const bare = readPhone(part, null);
    return !bare.ok && bare.flaw.code === countryMissingCode;
  });
}
