/**
 * What is behind a phone number that is whole without it: another ending, the end of a range of extensions, or no part of the
 * number at all. Such a cell is refused: with these digits the number would be that of a stranger. Pure.
 */
import type { CountryCode, PhoneNumber } from 'libphonenumber-js/max';
import { parseAny } from './numbering-plans.ts';

/** What is before the first stroke, or before digits in brackets at the end. */
const beforeOthers = /^([^/]*?\d)\s*(?:\/|\((?=[\s.:/-]*\d[\d\s.:/-]*\)$))/;

/** A shorter number is an area code, or another ending of the same number. */
export const digitsMin = 7;

/** `030 12345 / 67890`, `030 1234567 (9-17)`: what is before is more than an area code, so that the rest is no part of it. */
export function isBehindWhole(base: string, country: CountryCode | null): boolean {
  const before = beforeOthers.exec(base)?.[1];
  const found = before === undefined ? null : wholeNumber(before, country);
  return found !== null && !isPartedByStroke(base, found, country);
}

/** Null for what is none, or no more than an area code. */
function wholeNumber(text: string, country: CountryCode | null): PhoneNumber | null {
  const found = parseAny(text, country);
  if (found === null || found === 'countryMissing') return null;
  return found.nationalNumber.length >= digitsMin ? found : null;
}

/** One stroke without spaces, and behind it digits alone: a dash there may be that of a range, as in `0711 1234/10-19`. */
const closeStroke = /^[^/]*\d\/\d[\d .]*$/;
/** Fewer digits are rarely a number that is dialled within an area. */
const localDigitsMin = 5;
/** Two numbers of an area, written as one, have more. */
const partedDigitsMax = 11;

/**
 * `0711 1234/567`: all digits are a number that is given out. Those before the stroke are none, or too few for one, and the rest is
 * no other ending.
 */
function isPartedByStroke(base: string, before: PhoneNumber, country: CountryCode | null): boolean {
  const whole = closeStroke.test(base) ? parseAny(base, country) : null;
  if (whole === null || whole === 'countryMissing' || !whole.isValid()) return false;
  if (!before.isValid()) return true;
  if (whole.nationalNumber.length > partedDigitsMax) return false;
  const first = before.nationalNumber.slice(areaDigits(whole));
  const second = whole.nationalNumber.slice(before.nationalNumber.length);
  return first.length < localDigitsMin && !isNext(first, second);
}

/** `45-46`, `100-109`: all but the last digits are the same. */
function isNext(first: string, second: string): boolean {
  return first.length === second.length && first.slice(0, -1) === second.slice(0, -1);
}

/** How many digits the area code has. */
function areaDigits(number: PhoneNumber): number {
  const [, , areaCode = ''] = number.formatInternational().split(/\D+/);
  return areaCode.length;
}

/** The last groups: `stem`, what parts it from `first`, the dash, `second`. */
const dashed = /^(.*\d)(\D+)(\d+)( ?-[ -]*)(\d+)$/;
/** A whole number without its extension; fewer digits are the first group of a number that is parted by dashes, `0711 123-45-67`. */
const stemDigitsMin = 4;
/** Groups of a number are shorter: what follows is an extension. */
const stemGroupMin = 5;
const evenGroupMax = 3;

/**
 * `030 23125-100 - 102`, `0221 4710-100-109`, `030 23125-0 - 9`: the last two groups are the first and the last extension of a
 * number that is whole without the second. Mobile numbers have none, nor do countries whose numbers have one length.
 */
export function endsInRange(base: string, country: CountryCode | null): boolean {
  const [start = '', ...others] = base.split(rangeSign);
  // Two dots may be one too many.
  const isSlip = base.match(rangeSign)?.[0].trim() === '..';
  if (others.length === 1 && !isSlip && wholeNumber(start, country) !== null) return true;
  const text = base.replaceAll(rangeSign, '-').replace(/\(([\d -]+)\)$/, '$1');
  if (!mayEndInRange(text)) return false;
  const [, stem = '', parting = '', first = '', dash = '', second = ''] = dashed.exec(text) ?? [];
  const before = parseAny(stem + parting + first, country);
  if (before === null || before === 'countryMissing' || before.getType() !== 'FIXED_LINE') return false;
  const stemDigits = before.nationalNumber.length - areaDigits(before) - first.length;
  if (isOtherDash(parting, dash)) return stemDigits >= otherDashStemDigitsMin;
  if (first.length !== second.length || stemDigits < stemDigitsMin) return false;
  const group = Math.min(stemDigits, /\d+$/.exec(stem)?.[0].length ?? 0);
  // Pairs, or groups of three: `06-12-34-45-46` is parted by dashes throughout, `07242 12 34 56-78` ends in its only extension.
  const isEven = group === first.length && group <= evenGroupMax;
  if (isNext(first, second)) return !isEven || parting !== dash;
  const isLong = before.nationalNumber.length + second.length > partedDigitsMax;
  return group >= stemGroupMin || (isLong && !isEven);
}

/** `23125-10...19`, `23125-10~19`: hardly anything but a range is written so. Once; several part the groups of a number. */
const rangeSign = /(?<=\d) ?(?:\.{2,}|…|~+) ?(?=\d)/g;

/** Quick, and false for most numbers. @param text with `-` for each dash. */
export function mayEndInRange(text: string): boolean {
  const [, , parting = '', first = '', dash = '', second = ''] = dashed.exec(text) ?? [];
  if (Number(second) <= Number(first)) return false;
  return first.length === second.length || isOtherDash(parting, dash);
}

const otherDashStemDigitsMin = 3;

/** `23125-98 - 102`: one dash has spaces around it, the other has none, so that they part different things. */
function isOtherDash(parting: string, dash: string): boolean {
  return /^ ?-+ ?$/.test(parting) && parting.includes(' ') !== dash.includes(' ');
}
