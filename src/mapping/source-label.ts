/**
 * Source labels: `source` of a contact, written on create only.
 *
 * 1 to 72 characters, no reserved word, no reserved prefix (`interface.md`, section 8; the words: `facts.md`,
 * "Create, read, update, delete"), compared without regard to case.
 */
import { PatchbayError } from '#src/errors.ts';
import { bad, type Reading } from './flaw.ts';
import { readText } from './text-cell.ts';

export const sourceLengthMax = 72;
export const reservedSourceWords = ['openphone', 'device', 'csv', 'zapier', 'google-people', 'other'] as const;
export const reservedSourcePrefixes = ['openphone', 'csv'] as const;

/** Reads the text of a `source` column. A refused label kills the row. */
export function readSource(text: string): Reading<string> {
  const reading = readText(text);
  if (!reading.ok) return reading;
  const label = reading.value;
  const hint = 'Choose another label, such as the name of the system that the file comes from.';
  if (label === '') return bad('sourceRefused', 'the source label is empty', hint);
  if ([...label].length > sourceLengthMax) {
    return bad('sourceRefused', `the source label is longer than ${sourceLengthMax} characters`, 'Shorten it.');
  }
  const folded = label.toLowerCase();
  const word = reservedSourceWords.find((reserved) => reserved === folded);
  if (word !== undefined) return bad('sourceRefused', `the service reserves the source label "${word}"`, hint);
  const prefix = reservedSourcePrefixes.find((reserved) => folded.startsWith(reserved));
  if (prefix === undefined) return reading;
  return bad('sourceRefused', `the service reserves source labels that begin with "${prefix}"`, hint);
}

/**
 * Checks a label that stands in the configuration or is the name of a feed's folder; returns it trimmed and in NFC.
 *
 * @throws PatchbayError `usage`, `sourceRefused`.
 */
export function checkSourceLabel(label: string): string {
  const reading = readSource(label);
  if (reading.ok) return reading.value;
  const { code, message, hint } = reading.flaw;
  throw new PatchbayError('usage', code, `source label "${label}": ${message}`, { facts: { label }, hint });
}
