/**
 * A column with countries that nothing maps, beside phone numbers without a country code: in the generic layout these are numbers of the default
 * country, also in the rows whose country is another one. Such a number would be that of a stranger, and no row would say so. Pure.
 */
import type { CountryCode } from 'libphonenumber-js/max';
import { normaliseHeader, tidyHeader } from '#src/sources/column-name.ts';
import { listNames, type Row } from '#src/sources/row.ts';
import type { ContactColumn } from './contact-columns.ts';
import { countryMissingCode, countryOf } from './country.ts';
import type { BoundColumn } from './layout.ts';
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
  const phones = bound.flatMap(({ index, target }) =>
    index !== null && target.kind === 'items' && target.list === 'phones' ? [index] : [],
  );
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
