/**
 * One phone number, as people and programs write it, becomes E.164 (`rules.md`, "What a cell means"; the
 * spellings: `exports.md`, "Phones").
 *
 * Nothing is guessed: a number without a country needs a default country; letters and what a spreadsheet damaged
 * are refused. A number that its country's plan could hold, but has not given out, passes with a warning.
 */
import {
  type CountryCode,
  isSupportedCountry,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import { PatchbayError } from '#src/errors.ts';
import { bad, type Flaw, good, type Reading, type WarningCode } from './cell.ts';
import { characterFlaw } from './text-cells.ts';

/** The pattern of the service (`facts.md`, "not looked up"). */
const e164 = /^\+[1-9]\d{1,14}$/;
/** `3.108207129E9`, `4.15E+09`: the last digits are gone for good. */
const scientific = /^[+-]?\d+(?:[.,]\d+)?E[+-]?\d{1,3}$/i;
/** `;ext=5`, `ext. 5`, `x123`, `#5`, `DW 5` at the end, after a digit. */
const extension = /(?<=[\d)])[\s,;]*(?:extension|ext|x|durchwahl|dw|#)[\s.:=]*\d{1,7}$/i;

const unassigned: Flaw<WarningCode> = {
  code: 'phoneUnassigned',
  message: 'the number is possible, but its numbering plan has not given it out',
  hint: 'Check the number; it was taken as it is.',
};
const extensionDropped: Flaw<WarningCode> = {
  code: 'phoneExtensionDropped',
  message: 'the extension was left out: a contact holds plain numbers only',
  hint: 'Keep the extension in another column if it is needed.',
};
const countryAssumed: Flaw<WarningCode> = {
  code: 'phoneCountryAssumed',
  message: 'the number begins with the digits of its own country code, but was read as a national number',
  hint: 'If the first digits are meant as the country code, write a + before them.',
};

/** Makes one spelling of the many: full-width forms, spaces, dashes, invisible marks, an apostrophe, the `=` of `=+49…`, `tel:`, `(+49)`, a trailing `.0`. */
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

/** Reads one number. `country` is what a number without a country code belongs to; null when nothing says so. */
export function readPhone(raw: string, country: CountryCode | null): Reading<string> {
  const broken = characterFlaw(raw);
  if (broken !== null) return broken;
  const text = tidyPhone(raw);
  if (scientific.test(text)) {
    const hint = 'Format the column as text in the spreadsheet, or export again without opening the file in one.';
    return bad('phoneDamaged', 'a spreadsheet has damaged the phone number', hint);
  }
  const base = text.replace(extension, '').trim();
  if (/\p{L}/u.test(base)) {
    return bad('phoneLetters', 'the phone number has letters in it', 'Write it in digits, or leave the cell blank.');
  }
  if (/\/\s*\d{0,2}$/.test(base)) {
    return bad(
      'phoneAmbiguous',
      'what follows the / may be an extension or another ending',
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
    return bad('phoneImpossible', 'no such phone number is possible', 'Check country code and number of digits.');
  }
  const warnings = [
    ...(base !== text || parsed.ext !== undefined ? [extensionDropped] : []),
    ...(parsed.isValid() ? [] : [unassigned]),
    ...(mayHoldItsCountryCode(base, parsed) ? [countryAssumed] : []),
  ];
  return good(parsed.number, warnings);
}

/**
 * As the default country dials it; then, where it begins with 00, as an international number. Italy's and others'
 * own exit codes are known to the numbering plan of the default country.
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

/** `49170…` under DE is a number of the town of Leer by the plan, and most likely a mobile whose + was lost. */
function mayHoldItsCountryCode(base: string, parsed: PhoneNumber): boolean {
  const digits = base.replace(/\D/g, '');
  if (base.startsWith('+') || parsed.nationalNumber !== digits || !digits.startsWith(parsed.countryCallingCode))
    return false;
  return parsePhoneNumberFromString(`+${digits}`, { extract: false })?.isValid() === true;
}

/**
 * Several phone numbers in one cell (`exports.md`, "Phones").
 *
 * Line breaks, ` ::: `, `;` and `|` never stand inside a number: they always separate. `,` and `/` may belong to a
 * number (`030/1234567`): they separate only where each part is a plausible number by itself.
 */
const alwaysSeparates = /[\r\n|]|:::|;(?!\s*ext)/i;
/** Tried in this order; the first that leaves only plausible numbers is taken. */
const maySeparate = [/,/, /\//, /[,/]/] as const;
/** Below this a part is an area code or the other ending of the same number. */
const digitsMin = 7;

/** The parts of a cell, each to be read by itself; blank parts are left out. */
export function splitPhones(text: string, country: CountryCode | null): readonly string[] {
  return cut(text, alwaysSeparates).flatMap((part) => splitWhereEachPartCalls(part, country));
}

function splitWhereEachPartCalls(text: string, country: CountryCode | null): readonly string[] {
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

// Countries as phone numbers need them: ISO 3166-1 alpha-2, in upper case.

/** The country code that was meant, or null: `de` is DE; UK is not a code, GB is. */
export function readCountry(text: string): CountryCode | null {
  const code = text.trim().toUpperCase();
  return isSupportedCountry(code) ? code : null;
}

/**
 * Checks `--default-country`.
 *
 * @throws PatchbayError `usage`, `countryUnknown`.
 */
export function checkCountry(text: string): CountryCode {
  const code = readCountry(text);
  if (code !== null) return code;
  throw new PatchbayError('usage', 'countryUnknown', `"${text}" is no country code`, {
    facts: { country: text },
    hint: 'Use the two letters of ISO 3166-1, such as DE, AT, US or GB.',
  });
}
