/**
 * Whether an element of a JSON list that lacks the member of the mapping may hold an e-mail address or a phone number under another name.
 * Each text and number in it is judged by itself, at any depth, and by its name. In doubt it may: what is passed over here is lost in silence.
 * Pure.
 */
import { wordsOf } from '#src/sources/number-words.ts';
import type { JsonValue } from '#src/sources/row.ts';
import { isJsonObject, type JsonObject } from './cell.ts';
import { readPhones, splitPhones } from './phone-cell.ts';

/** @param list as a mapping names it. */
export function mayHoldValue(element: JsonObject, list: 'emails' | 'phones'): boolean {
  return holds(element, '', list === 'emails' ? mayBeEmail : mayBePhone);
}

/** @param name of the member that is nearest to the value. */
function holds(value: JsonValue, name: string, test: (value: string | number, name: string) => boolean): boolean {
  if (Array.isArray(value)) return value.some((one: JsonValue) => holds(one, name, test));
  if (isJsonObject(value)) return Object.entries(value).some(([inner, one]) => holds(one, inner, test));
  return (typeof value === 'string' || typeof value === 'number') && test(value, name);
}

/** A link, or an address with an `@`; what is longer is the text of an image or a key. */
const isOther = (word: string): boolean => word.includes('@') || word.includes('://') || word.length > wordLengthMax;
const wordLengthMax = 200;
/** An account, such as `@ada`, has nothing before the sign. */
const address = /[^\s@]@[^\s@]/;

function mayBeEmail(value: string | number): boolean {
  return wordsIn(value).some((word) => address.test(word) && !word.includes('://'));
}

function wordsIn(value: string | number): readonly string[] {
  return String(value).split(/\s+/);
}

const dates =
  /(?<![\d./-])(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)\d{2})(?:[T ,]{1,2}\d{1,2}:\d{2}[\d:.]*(?:Z| ?[+-]\d{2}:?\d{2})?)?(?![./-]?\d)/gi;
const times = /(?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?!\d)/g;
/** Within a text, written as nothing else is: with a plus, or with the 0 before an area code. */
const dialled = /(?<![\p{L}\p{N}_-])(?:\+|\(?0)[\d ()./-]{0,30}\d(?![\p{L}\p{N}]|-[\p{L}\p{N}])/gu;
/** A phone number that is kept as a number has no 0 before its area code, or the code of its country. */
const numberMin = 10_000_000;
const numberMax = 999_999_999_999_999;

function mayBePhone(value: string | number, name: string): boolean {
  if (typeof value === 'number') {
    const isInRange = Number.isInteger(value) && value >= numberMin && value <= numberMax;
    return isInRange && !timeWords.has(wordsOf(name).at(-1) ?? '') && !isNumberOfOther(name);
  }
  const words = wordsIn(value).filter((word) => !isOther(word));
  const text = words.join(' ').replace(dates, ' ').replace(times, ' ').trim();
  const found = [...text.matchAll(dialled)].map(([number]) => number).filter(hasDigitsOfPhone);
  if (isNumberOfOther(name)) return found.some((number) => number.startsWith('+'));
  return found.length > 0 || isReadAsPhone(text);
}

/** As a number without the code of its country is, or one that a spreadsheet has damaged. */
function isReadAsPhone(text: string): boolean {
  const parts = text === '' ? [] : splitPhones(text, null);
  return readPhones(parts, null).some((reading, index) => {
    const code = reading.ok ? null : reading.flaw.code;
    if (code === 'phoneDamaged') return true;
    const isRead = code === null || code === 'phoneCountryMissing' || code === 'phoneAmbiguous';
    return isRead && hasDigitsOfPhone(parts[index] ?? '');
  });
}

/** Seven at least; of one number 17 at most, with `00` before it. */
function hasDigitsOfPhone(text: string): boolean {
  return text.replace(/\P{Nd}/gu, '').length >= 7 && !/\d{18}/.test(text);
}

/** `contactId`, `uuid`, `zip`, `postalCode`: ids and places. In `callerId`, `wa_id` it is a number that is called. */
function isNumberOfOther(name: string): boolean {
  const words = wordsOf(name);
  const isId =
    ['id', 'ids', 'uuid', 'guid'].includes(words.at(-1) ?? '') && !words.some((word) => calledWords.has(word));
  return isId || /(?:zip|zipcode|plz|postcode|postalcode)$/.test(words.join(''));
}

/** Words beside `id` that make it a number that is called. */
const calledWords: ReadonlySet<string> = new Set(
  'caller wa whatsapp viber signal telegram sms phone mobile cell tel telephone line dial'.split(' '),
);

/** Last words of names of points in time, which programs count in seconds. */
const timeWords: ReadonlySet<string> = new Set(
  'at on date time timestamp since created updated modified changed seen'.split(' '),
);
