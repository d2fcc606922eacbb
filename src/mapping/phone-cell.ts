/**
 * Phone numbers, as people and programs write them, become E.164 (`docs/rules.md`, "What a cell means"; the spellings:
 * `docs/exports.md`, "Phones"). A cell may hold several.
 *
 * Nothing is guessed: a number without a country code needs a default country; letters and numbers that a spreadsheet has
 * damaged are refused. A number that is possible but not assigned in its numbering plan passes with a warning.
 */
import {
  type CountryCode,
  isSupportedCountry,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import { PatchbayError } from '#src/errors.ts';
import { bad, characterFlaw, type Flaw, good, type Reading, type WarningCode } from './cell.ts';

/** The pattern of the service (`docs/facts.md`, "not looked up"). */
const e164 = /^\+[1-9]\d{1,14}$/;
/** `3.108207129E9`, `4.15E+09`: the last digits are lost. */
const scientific = /^[+-]?\d+(?:[.,]\d+)?E[+-]?\d{1,3}$/i;
/** `;ext=5`, `ext. 5`, `x123`, `#5`, `DW 5` at the end, after a digit. */
const extension = /(?<=[\d)])[\s,;]*(?:extension|ext|x|durchwahl|dw|#)[\s.:=]*\d{1,7}$/i;

const unassigned: Flaw<WarningCode> = {
  code: 'phoneUnassigned',
  message: 'the number is possible but not assigned in its numbering plan',
  hint: 'Check the number. It was kept.',
};
const extensionDropped: Flaw<WarningCode> = {
  code: 'phoneExtensionDropped',
  message: 'the extension was dropped: contacts hold plain numbers only',
  hint: 'If the extension is needed, keep it in another column.',
};
const countryAssumed: Flaw<WarningCode> = {
  code: 'phoneCountryAssumed',
  message: 'the number begins with the digits of its own country code, but was read as a national number',
  hint: 'If the first digits are the country code, write a + before them.',
};

/** Removes differences of spelling: full-width forms, spaces, dashes, invisible marks, an apostrophe, the `=` of `=+49…`, `tel:`, `(+49)`, a trailing `.0`. */
function tidyPhone(raw: string): string {
  const plain = raw
    .replace(/[\uFF01-\uFF5E]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/\p{Cf}/gu, '')
    .replace(/[\p{Pd}\u2212]/gu, '-')
    .replace(/[^\S\r\n]/gu, ' ')
    .trim();
  return plain
    .replace(/^'\s*/, '')
    .replace(/^=\s*(?=[+(\d])/, '')
    .replace(/^tel:\s*/i, '')
    .replace(/^\(\s*(\+|00)(\d{1,3})\s*\)/, '$1$2 ')
    .replace(/^(\+?\d{5,})\.0+$/, '$1');
}

/** Reads one number. @param country of numbers without a country code; null if it is unknown. */
export function readPhone(raw: string, country: CountryCode | null): Reading<string> {
  const broken = characterFlaw(raw);
  if (broken !== null) return broken;
  const text = tidyPhone(raw);
  if (scientific.test(text)) {
    const hint =
      'Format the column as text in the spreadsheet, or export again without opening the file in a spreadsheet.';
    return bad('phoneDamaged', 'a spreadsheet has damaged the phone number', hint);
  }
  const base = text.replace(extension, '').trim();
  if (/\p{L}/u.test(base)) {
    return bad('phoneLetters', 'the phone number contains letters', 'Write it in digits, or leave the cell blank.');
  }
  if (/\/\s*\d{0,2}$/.test(base)) {
    return bad(
      'phoneAmbiguous',
      'the digits after the / may be an extension or an alternative ending',
      'Write one whole number per cell.',
    );
  }
  const parsed = parseAny(base, country);
  if (parsed === 'countryMissing') {
    const hint =
      'Write the number with + and its country code, or set defaultCountry in the mapping (--default-country).';
    return bad('phoneCountryMissing', 'the phone number has no country code', hint);
  }
  if (parsed === null || !e164.test(parsed.number)) {
    return bad(
      'phoneImpossible',
      'this is not a possible phone number',
      'Check the country code and the number of digits.',
    );
  }
  const warnings = [
    ...(base !== text || parsed.ext !== undefined ? [extensionDropped] : []),
    ...(parsed.isValid() ? [] : [unassigned]),
    ...(mayHoldItsCountryCode(base, parsed) ? [countryAssumed] : []),
  ];
  return good(parsed.number, warnings);
}

/**
 * Read as dialled in the default country first; then, if it begins with 00, as an international number. Other exit codes
 * are known to the numbering plan of the default country.
 */
function parseAny(base: string, country: CountryCode | null): PhoneNumber | 'countryMissing' | null {
  if (base.startsWith('+')) return possible(parsePhoneNumberFromString(base, { extract: false }));
  const national =
    country === null ? null : possible(parsePhoneNumberFromString(base, { defaultCountry: country, extract: false }));
  if (national !== null) return national;
  if (/^00\s*[1-9]/.test(base))
    return possible(parsePhoneNumberFromString(base.replace(/^00\s*/, '+'), { extract: false }));
  return country === null && /\d/.test(base) ? 'countryMissing' : null;
}

function possible(number: PhoneNumber | undefined): PhoneNumber | null {
  return number?.isPossible() === true ? number : null;
}

/** By the German plan `49170…` is a number in the town of Leer; most likely it is a mobile number that lost its +. */
function mayHoldItsCountryCode(base: string, parsed: PhoneNumber): boolean {
  const digits = base.replace(/\D/g, '');
  if (base.startsWith('+') || parsed.nationalNumber !== digits || !digits.startsWith(parsed.countryCallingCode))
    return false;
  return parsePhoneNumberFromString(`+${digits}`, { extract: false })?.isValid() === true;
}

const alwaysSeparates = /[\r\n|]|:::|;(?!\s*ext)/i;
/** May also be part of a number (`030/1234567`). Tried in this order; the first that gives plausible numbers alone is used. */
const maySeparate = [/,/, /\//, /[,/]/] as const;
/** A shorter part is an area code, or another ending of the same number. */
const digitsMin = 7;

/** The numbers of a cell, each to be read on its own; blank parts are left out. */
export function splitPhones(text: string, country: CountryCode | null): readonly string[] {
  return cut(text, alwaysSeparates).flatMap((part) => splitIntoPlausible(part, country));
}

function splitIntoPlausible(text: string, country: CountryCode | null): readonly string[] {
  for (const separator of maySeparate) {
    const parts = cut(text, separator);
    if (parts.length > 1 && parts.every((part) => isPlausible(part, country))) return parts;
  }
  return [text];
}

function isPlausible(part: string, country: CountryCode | null): boolean {
  return part.replace(/[^\p{Nd}]/gu, '').length >= digitsMin && readPhone(part, country).ok;
}

function cut(text: string, separator: RegExp): readonly string[] {
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** The ISO 3166-1 alpha-2 code in upper case, or null: `de` is DE; UK is not a code, GB is. */
export function readCountry(text: string): CountryCode | null {
  const code = text.trim().toUpperCase();
  return isSupportedCountry(code) ? code : null;
}

/** Checks `--default-country`. @throws PatchbayError `usage`, `countryUnknown`. */
export function checkCountry(text: string): CountryCode {
  const code = readCountry(text);
  if (code !== null) return code;
  throw new PatchbayError('usage', 'countryUnknown', `"${text}" is not a country code`, {
    facts: { country: text },
    hint: 'Use the two letters of ISO 3166-1, e.g. DE, AT, US or GB.',
  });
}
