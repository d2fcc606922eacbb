/**
 * Several phone numbers in one cell (`exports.md`, "Phones").
 *
 * Line breaks, ` ::: `, `;` and `|` never stand inside a number: they always separate. `,` and `/` may belong to a
 * number (`030/1234567`): they separate only where each part is a plausible number by itself.
 */
import type { CountryCode } from 'libphonenumber-js/max';
import { readPhone } from './phone-cell.ts';

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
