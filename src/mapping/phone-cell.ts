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
import { conjunctions, machineBeside, machineIn } from '#src/sources/number-words.ts';
import {
  bad,
  characterFlaw,
  type Flaw,
  good,
  isPlaceholder,
  plainCharacters,
  type Reading,
  type WarningCode,
} from './cell.ts';
import { assignedNumber } from './numbering-plans.ts';

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
  message: 'a word beside a phone number, such as mobile, was left out',
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

/** Null where more has to be looked at: `12345678.0`, which a program wrote with decimals, and dates have that form, too. */
function plainValueOf(text: string, country: CountryCode | null): string | null {
  if (!isPlain(text) || decimals.test(text) || date.test(text)) return null;
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
  const { base: spelled, hasExtension, hasRemark } = spellPhone(raw);
  const whole = wholeNumberOf(spelled);
  if (whole === 'lost' || spreadsheetError.test(raw.trim())) {
    const hint =
      'Format the column as text in the spreadsheet, or export again without opening the file in a spreadsheet.';
    return bad('phoneDamaged', 'a spreadsheet has damaged the phone number', hint);
  }
  const base = whole ?? spelled;
  if (/\p{L}/u.test(base)) return withLetters(base);
  if (/\p{Sc}/u.test(base)) return isMoney;
  if (/\/\s*\d{0,2}$|[,;]/.test(base)) return ambiguous;
  if (date.test(base)) return isADate;
  const found = parseAny(base, country);
  if (found === 'countryMissing') {
    const hint =
      'Write the number with + and its country code, or set defaultCountry in the mapping (--default-country).';
    return bad('phoneCountryMissing', 'the phone number has no country code', hint);
  }
  if (found === null) return notPossible(base, country);
  const completed = withItsCountryCode(base, found);
  const parsed = completed ?? found;
  if (!e164.test(parsed.number)) return notPossible(base, country);
  const isAssigned = parsed.isValid();
  if (!isAssigned && country !== null && isForeign(base, parsed)) {
    return bad(
      'phoneForeign',
      `the number begins with 0, as no number of the default country (${country}) does`,
      'If it is a number of another country, write it with + and its country code.',
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

function isReadBackAs(number: string): boolean {
  const again = parseAny(number, null);
  return again !== null && again !== 'countryMissing' && again.number === number;
}

/** `#REF!`, `#WERT!`, `#####`: what a spreadsheet shows in place of a value. */
const spreadsheetError = /^#(?:#*|[\p{L}\d¡/]*[!?])$/u;

const impossible = bad(
  'phoneImpossible',
  'this is not a possible phone number',
  'Check the country code and the number of digits.',
);

const ambiguous = bad(
  'phoneAmbiguous',
  'the digits after the / or , may be an extension or an alternative ending',
  'Write one whole number per cell.',
);

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
    base.startsWith('0') && parsed.nationalNumber.startsWith('0') && !leadingZeroCountries.has(parsed.country ?? '')
  );
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

const extensionWords = 'extension|extn|ext|x|durchwahl|dw|nebenstelle|apparat|app|poste|interno|int|anexo|доб|内線|#';
/** `;ext=5`, `ext. 5`, `(x123)`, `#5`, `DW 5`. Bounded: it is looked for behind every line break of a long text. */
const extensionText = `\\(?(?:${extensionWords})[\\s.:=#-]{0,9}\\d{1,7}\\)?`;
/** A `;` before at most six digits is a pause in what is dialled, and a line with an extension belongs to the one before. */
const alwaysSeparates = new RegExp(
  `\\||[\\r\\n](?!\\s{0,9}${extensionText}[^\\S\\r\\n]{0,9}(?:$|[|\\r\\n]))|:::|;(?!\\s*(?:ext|\\d{1,6}[*#]?\\s*(?:$|[;,|\\r\\n])))`,
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
/** A shorter part is an area code, or another ending of the same number. */
const digitsMin = 7;

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
    if (parts.length > 1 && values.length > 0 && values.every((part) => isPlausible(part, country))) return parts;
  }
  return [text];
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
    hint: 'Use the two letters of ISO 3166-1, e.g. DE, AT, US or GB.',
  });
}

// How people and programs write phone numbers (`docs/exports.md`, "Phones"), reduced to one spelling, which is
// then read by the numbering plans. Closed lists of words in English, German, French and Spanish; other letters stay, and
// reject the number there.

interface SpelledPhone {
  /** Digits, perhaps letters, and the punctuation of numbers. */
  readonly base: string;
  readonly hasExtension: boolean;
  /** A word beside the number was left out: `Mobile: …`, `… (work)`. */
  readonly hasRemark: boolean;
}

const words = `tel telephone telefon telefono telefone teléfono téléphone phone ph fon fone mobile mobil mob movil móvil
  portable gsm cell cellular cel handy celular work home office main direct private personal business other privat
  geschäftlich geschaeftlich dienstlich büro buero arbeit zentrale fixe festnetz bureau domicile travail casa trabajo
  oficina whatsapp no nr num number nummer numero número`
  .split(/\s+/)
  .join('|');
/** A single letter only with a colon or a dot: `M: 0170…`. */
const labelBefore = new RegExp(
  `^(?:(?:(?:${words})(?:\\s(?:${words}))?\\s?(?:[.:]{1,2}|-)?|[tpmcwhd][.:]{1,2})\\s?(?=[+(\\d]))`,
  'iu',
);
const labelBehind = new RegExp(`(?<=\\d)\\s?\\((?:${words})(?:\\s(?:${words}))?\\)$`, 'iu');

/** At the end, after a digit. */
const extension = new RegExp(`(?<=[\\d)])[\\s,;]*${extensionText}$`, 'iu');
/** What a telephone dials after a pause: `,,5`, `;5`, `p5#`. Seven digits may be a number of their own. */
const dialledAfter = /(?<=[\d)])\s?(?:[,;]\s?)*[,;pw]\s?[\d*#]{1,6}$/i;

/** `555-0101 ext.`: what is left of an empty field for the extension. */
const emptyExtension = /(?<=[\d)])[\s,;]*\(?(?:extension|ext|x)[\s.:]*\)?$/i;

function spellPhone(raw: string): SpelledPhone {
  const plain = plainCharacters(raw)
    .replace(/\p{So}|\uFE0F/gu, '')
    .replace(/[\p{Pd}\u2212]/gu, '-')
    .replace(/(?<!\p{L})[·•‧∙・]|[·•‧∙・](?!\p{L})/gu, '.')
    .replace(/[^\S\r\n]+/gu, ' ')
    .trim();
  const bare = unwrapped(plain)
    .replace(/^["'’‘`´“”\s.,:;/-]+/u, '')
    .replace(/[\s"'’“”.,:;*/-]+$/u, '')
    .replace(/[[{]/g, '(')
    .replace(/[\]}]/g, ')')
    .replace(/^=\s?(?=[+(\d])/, '')
    .replace(/^(?:tel|callto|phone|sms):(?:\/\/)?\s?/i, '');
  const hasLetters = /\p{L}/u.test(bare);
  const unlabelled = hasLetters
    ? withoutBoth(bare).replace(labelBefore, '').replace(labelBehind, '').replace(emptyExtension, '')
    : bare;
  const number = unlabelled
    .replace(/^(\+?\d{5,})[.,]0+$/, '$1')
    .replace(extension, '')
    .replace(dialledAfter, '')
    .trim();
  return {
    base: number.replace(/^\(\s?(\+|00)\s?(\d{1,3})\s?\)/, '$1$2 '),
    hasExtension: /\d/.test(unlabelled.slice(number.length)) && !/^\+?\d{5,}[.,]0+$/.test(unlabelled),
    hasRemark: hasLetters && unlabelled !== bare && !emptyExtension.test(bare),
  };
}

const pairs: Readonly<Record<string, string>> = { '[': ']', '<': '>', '{': '}', '(': ')' };

/** Without a bracket around all of it, or one that has lost its other half: `["+1…"` of a list, `<+1…>`, `(+1…)`. */
function unwrapped(text: string): string {
  const closing = pairs[text[0] ?? ''];
  const closedAt = closing === undefined ? null : text.indexOf(closing);
  const start = closedAt === -1 || closedAt === text.length - 1 ? 1 : 0;
  const opening = Object.keys(pairs).find((one) => pairs[one] === text.at(-1));
  const openedAt = opening === undefined ? null : text.indexOf(opening);
  const isOpen = openedAt === -1 || (openedAt === 0 && start === 1);
  return text.slice(start, isOpen ? -1 : undefined);
}

/** What is written before and behind a number with all of its digits. */
const textBefore = /^\D*?(?=[+(\s]*\d)/;
const textBehind = /(?<=\d)\D*$/;

function machineBesideNumber(text: string): ReturnType<typeof machineIn> {
  return machineBeside(textBefore.exec(text)?.[0] ?? '', textBehind.exec(text)?.[0] ?? '');
}

/** Without the words that name a fax beside a telephone, or in doubt: `Tel/Fax: 030…`, `Tel. 030… und Fax`, `Büro/Fax 030…`. */
function withoutBoth(text: string): string {
  const machine = machineBesideNumber(text);
  if (machine !== 'besidePhone' && machine !== 'inDoubt') return text;
  const withoutIt = (words: string): string => (/\p{L}/u.test(words) ? '' : words);
  return text.replace(textBefore, withoutIt).replace(textBehind, withoutIt).trim();
}

/** `Fax: 030…`, `030… (fax)`: such a number cannot be called. That of `Fax / Tel: 030…` can. */
function isFax(text: string): boolean {
  if (text.length >= 100 || !/\p{L}/u.test(text) || !/\d/.test(text)) return false;
  return machineBesideNumber(text) === 'alone';
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
