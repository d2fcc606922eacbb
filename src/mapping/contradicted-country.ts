/**
 * A column, or a member of JSON, with countries that nothing maps, beside phone numbers without a country code: in the generic layout these are numbers of the default
 * country, also in the rows whose country is another one. Such a number would be that of a stranger, and no row would say so. Pure.
 */
import type { CountryCode } from 'libphonenumber-js/max';
import { normaliseHeader, tidyHeader } from '#src/sources/column-name.ts';
import { type JsonValue, listNames, type Row } from '#src/sources/row.ts';
import { isJsonObject, type JsonObject, memberOf } from './cell.ts';
import type { ContactColumn, CountryStrays } from './contact-columns.ts';
import { countryMissingCode, countryOf } from './country.ts';
import { type FlatNames, isContactShape } from './json-rows.ts';
import type { BoundColumn, Target } from './layout.ts';
import { valueMemberOf } from './list-element.ts';
import { readPhone, readPhones, splitPhones } from './phone-cell.ts';
import { isPlaceholder } from './placeholder.ts';

export interface CountryWatch {
  /** Looks at a row. */
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
  const named =
    country === null || phones.length === 0 ? [] : unmapped.filter((index) => isCountryName(columns[index]));
  const found = new Set<number>();
  const countryIn = remembered(countryOf);
  const strays = countStrays<number>();
  return {
    see: (row) => {
      if (country === null || row.kind !== 'cells') return;
      for (const index of named) {
        const text = row.cells[index] ?? '';
        const own = countryIn(text);
        if (own === null) strays.see(index, text, () => phones.map((phone) => row.cells[phone] ?? ''), country);
        else if (!found.has(index) && phones.some((phone) => differs(row.cells[phone] ?? '', country, own)))
          found.add(index);
      }
    },
    list: () =>
      [...found].map((index) => countryColumn(columns[index] ?? '', { numbers: strays.of(index), unread: [] })),
  };
}

/** The same for JSON. A country in an object, as in `address`, is named by its path. */
export function watchCountriesOfObjects(names: FlatNames, country: CountryCode | null): CountryWatch {
  const found = new Set<string>();
  const unread = new Set<string>();
  const countryIn = remembered(countryOf);
  const isCountry = remembered(isCountryName);
  const isCustomList = remembered(isCustomListName);
  const strays = countStrays<string>();
  return {
    see: (row) => {
      if (country === null || row.kind !== 'object') return;
      const { object } = row;
      for (const [name, value] of Object.entries(object))
        if (unread.size < foundMax && isCustomList(name) && Array.isArray(value) && value.length > 0) unread.add(name);
      const met = countriesIn(object, isCountry);
      if (met.length === 0) return;
      const mapped = isContactShape(object) ? null : names.targetsOf(object);
      const phones = mapped === null ? textsIn(phoneNumbersOf(object)) : phonesIn(object, mapped);
      for (const { path, value } of met) {
        if (mapped?.has(path) === true) continue;
        const own = countryIn(value);
        if (own === null) strays.see(path, value, () => phones, country);
        else if (!found.has(path) && found.size < foundMax && phones.some((phone) => differs(phone, country, own)))
          found.add(path);
      }
    },
    list: () => [...found].map((path) => countryColumn(path, { numbers: strays.of(path), unread: [...unread] })),
  };
}

const straysMax = 1_000;

/** Counts numbers without a country code whose row names no country, by the column or member that should. */
function countStrays<Column>() {
  const counts = new Map<Column, number>();
  return {
    of: (column: Column): number => counts.get(column) ?? 0,
    see: (column: Column, text: string, phones: () => readonly string[], usual: CountryCode): void => {
      const count = counts.get(column) ?? 0;
      if (text.trim() === '' || isPlaceholder(text, 'company') || count >= straysMax) return;
      if (counts.size >= foundMax && count === 0) return;
      const numbers = phones().flatMap((cell) => splitPhones(cell, usual).filter((part) => isNational(part, usual)));
      if (numbers.length > 0) counts.set(column, count + numbers.length);
    },
  };
}

function isNational(part: string, usual: CountryCode): boolean {
  return readPhone(part, usual).ok && lacksCountry(part);
}

function lacksCountry(part: string): boolean {
  const bare = readPhone(part, null);
  return !bare.ok && bare.flaw.code === countryMissingCode;
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

/** Names of members are the same in most records, and most files name a few countries, again and again. */
function remembered<Found>(find: (text: string) => Found): (text: string) => Found {
  const known = new Map<string, { readonly found: Found }>();
  return (text) => {
    const met = known.get(text) ?? { found: find(text) };
    if (known.size < rememberedMax) known.set(text, met);
    return met.found;
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

/** `customFields: [{key, value}]`: the generic layout reads it, and a mapping names members alone. */
export function isCustomListName(name: string): boolean {
  return normaliseHeader(name) === 'customfields';
}

/** Half a sentence on what a mapping that reads the column leaves out; null where it is nothing. */
export function unreadInWords(unread: readonly string[]): string | null {
  if (unread.length === 0) return null;
  const isCustom = unread.some(isCustomListName);
  const cure = isCustom ? 'write the custom fields there as members "custom.KEY"' : 'add what you need of it by hand';
  return `it does not read ${listNames(unread)}, which the generic layout reads: ${cure} first, or they are left out`;
}

/** Half a sentence on rows that such a mapping rejects; null where there are none. */
export function straysInWords(column: string, { numbers }: CountryStrays): string | null {
  if (numbers === 0) return null;
  const many =
    numbers >= straysMax ? `${straysMax} numbers or more` : numbers === 1 ? '1 number' : `${numbers} numbers`;
  return `rows with a text there that is no country are rejected where their number has no country code (${many}): correct ${listNames([column])} in them, or leave it blank`;
}

function countryColumn(column: string, strays: CountryStrays): ContactColumn {
  return {
    column,
    kind: 'country',
    line: `defaultCountry: { column: ${JSON.stringify(tidyHeader(column))} }`,
    generic: 'defaultCountry',
    strays,
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
    return lacksCountry(part);
  });
}
