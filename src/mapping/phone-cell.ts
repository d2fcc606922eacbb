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
import { conjunctions, machineIn } from '#src/sources/number-words.ts';
import { bad, characterFlaw, type Flaw, formulaError, good, type Reading, type WarningCode } from './cell.ts';
import { assignedNumber, isWholeLength, parseAny } from './numbering-plans.ts';
import { digitsMin, endsInRange, isBehindWhole, mayEndInRange } from './phone-endings.ts';
import { extensionText, isFax, spellPhone } from './phone-spelling.ts';
import { isPlaceholder } from './placeholder.ts';

/** The pattern of the service (`docs/facts.md`, "not looked up"). */
const e164 = /^\+[1-9]\d{1,14}$/;
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
  message: 'the number begins with the code of the default country, and was read as if a + were before it',
  hint: 'If it is a national number, write it with its 0 at the beginning.',
};

const remarkDropped: Flaw<WarningCode> = {
  code: 'phoneRemarkDropped',
  message: 'a word before or behind a phone number, such as mobile, or its number in a list (1.) was left out',
  hint: 'No action needed: the column decides the label.',
};

/** No spelling of one number is longer. */
const spellingLengthMax = 200;

/**
 * Most numbers of most files: one number of digits in groups, of which nothing has to be tidied. Single spaces, dots and dashes
 * part the groups; one at the beginning may be in brackets, where these hold no exit code.
 */
const plainNumber = /^(?:\+[1-9]\d{0,2}[ .-]?)?(?:\((?!00)\d{2,4}\)[ .-]?)?\d+(?:[ .-]\d+)*$/;
const plainLengthMax = 40;

function isPlain(text: string): boolean {
  return text.length <= plainLengthMax && plainNumber.test(text);
}

/** Null where more has to be looked at: `12345678.0`, which a program wrote with decimals, dates and ranges have that form, too. */
function plainValueOf(text: string, country: CountryCode | null): string | null {
  if (!isPlain(text) || decimals.test(text) || date.test(text) || digitsBefore.test(text)) return null;
  if (mayEndInRange(text)) return null;
  const digits = text.replace(/\D+/g, '');
  if (text.startsWith('+')) return assignedNumber(digits, null);
  return country === null ? null : assignedNumber(digits, country);
}

const decimals = /\.0+$/;
/** In this form, nothing has to be tidied of a number that is not assigned either. */
const international = /^\+[1-9]\d{6,14}$/;

/** Reads one number. @param country of numbers without a country code; null if it is unknown. */
export function readPhone(raw: string, country: CountryCode | null): Reading<string> {
  const plain = plainValueOf(raw, country);
  if (plain !== null) return good(plain);
  if (international.test(raw)) {
    const parsed = parseAny(raw, null);
    if (parsed === null || parsed === 'countryMissing') return impossible;
    return good(parsed.number, parsed.isValid() ? [] : [unassigned]);
  }
  const broken = characterFlaw(raw);
  if (broken !== null) return broken;
  if (raw.length > spellingLengthMax) return /\p{L}/u.test(raw) ? withLetters(raw) : impossible;
  const local = localNumber.exec(raw)?.groups;
  if (local !== undefined) return readLocal(local, country);
  const { base: spelled, hasExtension, hasRemark } = spellPhone(raw);
  const whole = wholeNumberOf(spelled);
  if (formulaError.test(raw.trim())) return ofFormula;
  if (whole === 'lost' || numberSigns.test(raw.trim())) {
    const hint =
      'Format the column as text in the spreadsheet, or export again without opening the file in a spreadsheet.';
    return bad('phoneDamaged', 'a spreadsheet has damaged the phone number', hint);
  }
  const parted = whole ?? spelled;
  if (/\p{L}/u.test(parted)) return withLetters(parted);
  if (/\p{Sc}/u.test(parted)) return isMoney;
  if (/\/\s*\d{0,2}$|[,;]/.test(parted) || isBehindWhole(parted, country)) return ambiguous;
  if (endsInRange(parted, country)) return ambiguousRange;
  // The numbering plans take what is behind a tilde for an extension.
  const base = parted.replaceAll(/~+/g, '-');
  if (hasDigitsBefore(base, country)) return ambiguousBefore;
  if (date.test(base)) return isADate;
  const found = parseAny(base, country);
  if (found === 'countryMissing') {
    const hint =
      'Write the number with + and its country code, or set defaultCountry in the mapping (--default-country).';
    return bad('phoneCountryMissing', 'the phone number has no country code', hint);
  }
  if (found === null) return notPossible(base, country);
  const completed = withItsCountryCode(base, found);
  const parsed = completed ?? withoutFormerPrefix(base, found) ?? found;
  if (!e164.test(parsed.number)) return notPossible(base, country);
  const isAssigned = parsed.isValid();
  if (!isAssigned && country !== null && isForeign(base, parsed)) {
    return bad(
      'phoneForeign',
      `the number begins with 0, as no number of the default country (${country}) does`,
      'If it is a number of another country, write it with + and its country code; if it is one of that country, without the 0.',
    );
  }
  // Zeros that stay before the number would be dropped when it is read again: `(0)(0)030 1234567`.
  if (!isAssigned && !isReadBackAs(parsed.number)) return impossible;
  const warnings = [
    ...(hasExtension || parsed.ext !== undefined ? [extensionDropped] : []),
    ...(hasRemark ? [remarkDropped] : []),
    ...(isAssigned ? [] : [unassigned]),
    ...(completed === null ? [] : [countryAssumed]),
  ];
  return good(parsed.number, warnings);
}

/** `tel:2222218;phone-context=+4930` (RFC 3966): the number counts within what the context names. */
const localNumber =
  /^(?<number>[^;]*)(?<before>;[\s\S]*?)?;\s*phone-context\s*=\s*(?<context>[^;>]*)(?<behind>[\s\S]*)$/i;
/** It goes in front of the number; any other context is a domain, whose numbers cannot be called from outside. */
const globalContext = /^\+[\d().-]+$/;

function readLocal(
  { number = '', before = '', context = '', behind = '' }: Readonly<Record<string, string>>,
  country: CountryCode | null,
): Reading<string> {
  const [scheme = ''] = /^[\s<]*(?:tel:)?\s*/i.exec(number) ?? [];
  const digits = number.slice(scheme.length);
  const place = context.trim();
  const rest = `${before}${behind}`;
  if (digits.startsWith('+')) return readPhone(`${digits}${rest}`, country);
  return globalContext.test(place) ? readPhone(`${place} ${digits}${rest}`, country) : ofDomain;
}

const ofDomain = bad(
  'phoneImpossible',
  'the number counts within one company or network alone, by its phone-context',
  'Write the whole number, with + and its country code.',
);

function isReadBackAs(number: string): boolean {
  const again = parseAny(number, null);
  return again !== null && again !== 'countryMissing' && again.number === number;
}

/** `#####`: in place of a number that is wider than its column. */
const numberSigns = /^#+$/;
const ofFormula = bad(
  'phoneDamaged',
  'the cell holds an error of its formula, and no phone number',
  'Correct the formula in the spreadsheet; where none is meant, format the column as text and write the number again.',
);

const impossible = bad(
  'phoneImpossible',
  'this is not a possible phone number',
  'Check the country code and the number of digits.',
);

const ambiguous = bad(
  'phoneAmbiguous',
  'the digits after the / or , or in brackets may be an extension, an alternative ending or no part of the number',
  'Write one whole number per cell.',
);

const ambiguousRange = bad(
  'phoneAmbiguous',
  'the digits behind the last dash may be the end of a range of extensions',
  'Write one whole number per cell.',
);

const ambiguousBeside = bad(
  'phoneAmbiguous',
  'beside a number with its area code, this one has none: it may be of the same area, or of another one',
  'Write each number with its area code, or with + and its country code.',
);

const ambiguousBefore = bad(
  'phoneAmbiguous',
  'the digits before the number may be its place in a list or a part of it',
  'Write the number alone, with its area code, or with + and its country code.',
);

const digitsBefore = /^[1-9]\d? \(?0/;

/** `2 030 7654321`: behind the first digits is a whole number. No number of an area begins with the 0 that is before an area code. */
function hasDigitsBefore(base: string, country: CountryCode | null): boolean {
  if (country === null || !digitsBefore.test(base)) return false;
  const [digits = ''] = base.split(' ', 1);
  const rest = parseAny(base.slice(digits.length + 1), country);
  if (rest === null || rest === 'countryMissing' || !rest.isValid()) return false;
  if (digits === rest.countryCallingCode || rest.nationalNumber.length < digitsMin) return false;
  // `8 029 491-19-11` in Belarus, where 8 is dialled first.
  const all = parseAny(base, country);
  return all === null || all === 'countryMissing' || all.number !== rest.number;
}

/** `+1 415 555 0110 / 0111` is a number, with one or more further endings. */
function notPossible(base: string, country: CountryCode | null): Reading<string> {
  const first = base.replace(otherEndings, '');
  return first !== base && parseAny(first, country) !== null ? ambiguous : impossible;
}

/** Seven digits may be a number of their own. */
const otherEndings = /(?:\s*\/\s*\d{1,6})+$/;

/** `05.03.2026` in place of a number: by the German plan, even one that is given out. */
const date = /^(?:\d{1,2}[./-]\d{1,2}[./-](?:19|20)\d\d|(?:19|20)\d\d-\d\d-\d\d)$/;
const isADate = bad('phoneImpossible', 'this is a date and no phone number', 'Check which column holds the numbers.');

/** `14155550103.00 €`, as a spreadsheet shows a number under the format of a currency. */
const isMoney = bad(
  'phoneImpossible',
  'this is written as an amount of money, with the sign of a currency',
  'If it is a phone number, give its column the format of text or of a plain number in the spreadsheet; otherwise check which column holds the numbers.',
);

/** Words in place of digits, as in `1-800-FLOWERS`, are not read: they are spelled for people, and cut off at will. */
function withLetters(text: string): ReturnType<typeof bad> {
  const message = 'the phone number contains letters';
  return /^[\d\s()+.-]*[A-Z]{3,}[\dA-Z\s-]*$/.test(text) && /\d/.test(text)
    ? bad('phoneLetters', message, 'Write digits: ABC is 2, DEF 3, GHI 4, JKL 5, MNO 6, PQRS 7, TUV 8, WXYZ 9.')
    : bad('phoneLetters', message, 'Write it in digits, or leave the cell blank.');
}

/** Where numbers keep the 0 at their beginning, in international form too. */
const leadingZeroCountries: ReadonlySet<string> = new Set(['IT', 'SM', 'VA', 'CI', 'GA', 'CG', 'BJ']);

/**
 * `01 42 68 53 00`, a number of Paris, has as many digits as one of the USA, where the first is never 0: written as
 * +10142685300 it would reach no one.
 */
function isForeign(base: string, parsed: PhoneNumber): boolean {
  return (
    /^\(?0(?!\)\()/.test(base) &&
    parsed.nationalNumber.startsWith('0') &&
    !leadingZeroCountries.has(parsed.country ?? '')
  );
}

/** Poland. Its numbers had a 0 before the area code, and are still written with it; the numbering plan knows none. */
const formerPrefixCode = '48';
/** A 0 of its own, as people in Poland wrote it: `(0-22) 555 12 34`, `0 22 555 12 34`. Other countries write `022 555 12 34`, too. */
const prefixApart = /^\(?0[ ()-]{1,3}[1-9]/;

/**
 * `0-22 555 12 34`, `+48 (0) 22 555 12 34` → +48225551234; null for any other number. Countries that gave up the 0 and their area codes with it are not
 * among these: without the 0, the rest would be another number.
 */
function withoutFormerPrefix(base: string, parsed: PhoneNumber): PhoneNumber | null {
  const { countryCallingCode, nationalNumber } = parsed;
  if (countryCallingCode !== formerPrefixCode || !nationalNumber.startsWith('0')) return null;
  if (!/^(?:\+|00)/.test(base) && !prefixApart.test(base)) return null;
  const without = parsePhoneNumberFromString(`+${countryCallingCode}${nationalNumber.slice(1)}`, { extract: false });
  return without?.isValid() === true ? without : null;
}

/**
 * `49170…` with the default country DE: by the German plan a number in the town of Leer without its 0, but most likely a
 * mobile number whose + a spreadsheet removed. Null for any other.
 */
function withItsCountryCode(base: string, parsed: PhoneNumber): PhoneNumber | null {
  const digits = base.replace(/\D/g, '');
  if (base.startsWith('+') || parsed.nationalNumber !== digits || !digits.startsWith(parsed.countryCallingCode))
    return null;
  const international = parsePhoneNumberFromString(`+${digits}`, { extract: false });
  return international?.isValid() === true ? international : null;
}

/** Why a part is left out without a value; null for any other. */
export function phoneLeftOut(part: string): Flaw<WarningCode> | null {
  return isFax(part) ? uncallableLeftOut('If it is a number to call, write it without the word fax.') : null;
}

/** Why a number is left out by its own label, which says fax or pager alone; null under any other. */
export function phoneLeftOutByLabel(label: string): Flaw<WarningCode> | null {
  if (machineIn(label) !== 'alone') return null;
  return uncallableLeftOut('If it is a number to call, give it another label in the file.');
}

function uncallableLeftOut(hint: string): Flaw<WarningCode> {
  const message = 'this is the number of a fax or pager, which cannot be called; it was left out';
  return { code: 'phoneLeftOut', message, hint };
}

/** A `;` before at most six digits is a pause in what is dialled, `;phone-context=` says where a number counts, and a line with an extension belongs to the one before. */
const alwaysSeparates = new RegExp(
  `\\||[\\r\\n](?!\\s{0,9}${extensionText}[^\\S\\r\\n]{0,9}(?:$|[|\\r\\n]))|:::|;(?!\\s*(?:ext|(?:[a-z-]{1,20}=[^;|\\r\\n]{0,40};\\s*){0,3}phone-context\\s*=|\\d{1,6}[*#]?\\s*(?:$|[;,|\\r\\n])))`,
  'iu',
);
const wordBetween = `(?<!\\s)\\s+(?:${conjunctions})\\.?\\s+`;
const spaceBetween = '(?<!\\s)(?:\\s{2,}|\\s(?=\\+\\s?\\d))';
/** May also be part of a number (`030/1234567`). Tried in this order; the first that gives plausible numbers alone is used. */
const maySeparate = [
  /,/,
  /\//,
  /[,/]/,
  new RegExp(wordBetween, 'iu'),
  new RegExp(spaceBetween),
  new RegExp(`[,/]|${wordBetween}|${spaceBetween}`, 'iu'),
] as const;

/** The numbers of a cell, each to be read on its own; blank parts are left out. */
export function splitPhones(text: string, country: CountryCode | null): readonly string[] {
  if (isPlain(text)) return [text];
  return cut(text, alwaysSeparates).flatMap((part) => splitIntoPlausible(part, country));
}

function splitIntoPlausible(text: string, country: CountryCode | null): readonly string[] {
  for (const separator of maySeparate) {
    if (!separator.test(text)) continue;
    const parts = cut(text, separator);
    const values = parts.filter((part) => !isWordForNone(part) && !isFax(part));
    if (parts.length > 1 && values.length > 0 && values.every((part) => isPlausible(part, country)))
      return isOneAtStroke(text, separator, parts, country) ? [text] : parts;
  }
  return [text];
}

/** `0049 5221/1234567`: the part behind the stroke has no area code, since this is before it. */
function isOneAtStroke(
  text: string,
  separator: RegExp,
  parts: readonly string[],
  country: CountryCode | null,
): boolean {
  if (!separator.test('/') || parts.length > 2 || readPhones(parts, country).every(({ ok }) => ok)) return false;
  const whole = readPhone(text, country);
  return whole.ok && !whole.warnings.includes(unassigned);
}

/** Reads the numbers of one cell, each as `readPhone` does, and beside the others. @param parts as `splitPhones` returns them. */
export function readPhones(parts: readonly string[], country: CountryCode | null): readonly Reading<string>[] {
  const readings = parts.map((part) => readPhone(part, country));
  if (parts.length < 2 || country === null) return readings;
  const wholes = parts.map((part) => wholeOf(part, country)).filter((whole) => whole !== null);
  if (wholes.length === 0) return readings;
  return readings.map((reading, index) =>
    reading.ok && lacksAreaCode(parts[index] ?? '', reading, country, wholes) ? ambiguousBeside : reading,
  );
}

/** Begins with a plus, with the 0 before an area code, or with an area code in brackets. */
const wholeBeginning = /^[^\d+]*?(?:\+|0|\(\d)/;

/** With as many digits, a number is none that is dialled within an area alone. */
const unlikeLocalMin = 9;

/** The digits of the national number, if the part begins as a whole one; null for any other part. */
function wholeOf(part: string, country: CountryCode): string | null {
  const { base } = spellPhone(part);
  const digits = base.replace(/\D/g, '');
  if (!wholeBeginning.test(base) || digits.length < digitsMin) return null;
  const found = parseAny(base, country);
  return found === null || found === 'countryMissing' ? digits : found.nationalNumber;
}

/**
 * Beside `030 1234567`, `7654321` is another number in Berlin, and not one of the area 07654. A 0 that a spreadsheet removed is
 * removed from a number that has its cell for itself, or from one that is too long for an area.
 *
 * @param wholes the numbers beside it that have their area codes.
 */
function lacksAreaCode(
  part: string,
  { value, warnings }: Extract<Reading<string>, { ok: true }>,
  country: CountryCode,
  wholes: readonly string[],
): boolean {
  const { base } = spellPhone(part);
  const number = parseAny(value, null);
  if (wholeBeginning.test(base) || number === null || number === 'countryMissing') return false;
  const { nationalNumber, countryCallingCode } = number;
  const digits = base.replace(/\D/g, '');
  const hasCountryCode = digits === countryCallingCode + nationalNumber;
  const hasPrefix = !hasCountryCode && digits !== nationalNumber;
  if (hasPrefix || isWholeLength(nationalNumber.length, country)) return false;
  if (warnings.includes(unassigned)) return true;
  const type = number.getType();
  if ((hasCountryCode || type === 'MOBILE' || type === 'TOLL_FREE') && digits.length >= unlikeLocalMin) return false;
  if (hasCountryCode || lacksPrefix(number)) return true;
  if (nationwideTypes.has(type)) return wholes.some((whole) => isOfOneExchange(whole, nationalNumber));
  return nationalNumber.length < Math.min(unlikeLocalMin, ...wholes.map(({ length }) => length));
}

/** False for those that are dialled so from everywhere: mobile numbers in China and Italy, `4004-1234` in Brazil. */
function lacksPrefix(number: PhoneNumber): boolean {
  return number.formatNational().replace(/\D/g, '') !== number.nationalNumber;
}

const nationwideTypes: ReadonlySet<unknown> = new Set(['UAN', 'SHARED_COST', 'TOLL_FREE']);
const exchangeDigits = 3;

/** `0212 444 1234 / 444 1235`: the second may be of the area of the first, although such numbers are nationwide, too. */
function isOfOneExchange(whole: string, digits: string): boolean {
  return whole.slice(-digits.length).startsWith(digits.slice(0, exchangeDigits));
}

function isPlausible(part: string, country: CountryCode | null): boolean {
  return part.replace(/[^\p{Nd}]/gu, '').length >= digitsMin && readPhone(part, country).ok;
}

/** Zeros may be another ending of the number before. */
function isWordForNone(part: string): boolean {
  return !/\p{Nd}/u.test(part) && isPlaceholder(part, 'item');
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
    hint:
      text.trim().toUpperCase() === 'UK'
        ? 'The United Kingdom is GB.'
        : 'Use the two letters of ISO 3166-1, e.g. DE, AT, US or GB.',
  });
}

/** A number as a spreadsheet or a program writes a long one: `3.108207129E9`, `4,15E+09`. */
const scientific = /^([+-]?)(\d+)(?:[.,](\d+))?E([+-]?)(\d{1,3})$/i;
/** A program that rounds, as spreadsheets and numbers of single precision do, keeps fewer digits than this. */
const wholeDigitsMin = 8;
/** No phone number is longer. */
const digitsMax = 15;

/**
 * A whole number in scientific notation as its digits: `3.108207129E9` → `3108207129`. Null for any other text; `lost`
 * where digits are missing, as in `4.15E+09`.
 *
 * Zeros at the end are missing in `4.1555501E9`, which a program wrote whose shortest spelling of the number this is. One
 * that writes the sign, `E+09`, has rounded to a fixed number of digits.
 */
function wholeNumberOf(text: string): string | 'lost' | null {
  const match = scientific.exec(text);
  if (match === null) return null;
  const [, sign = '', whole = '', decimals = '', exponentSign = '', exponent = ''] = match;
  const zeros = Number(exponent) - decimals.length;
  const digits = whole + decimals;
  const isExact = zeros === 0 || (zeros > 0 && exponentSign === '' && digits.length >= wholeDigitsMin);
  if (!isExact || exponentSign === '-' || sign === '-' || whole.length > 1 || decimals === '') return 'lost';
  return digits.length + zeros > digitsMax ? 'lost' : sign + digits + '0'.repeat(zeros);
}
