/** Source labels of contacts (`docs/interface.md`, section 8): those of cells, and those of the configuration. */
import { PatchbayError } from '#src/errors.ts';
import { reservedSource, sourceLengthMax } from '#src/reserved-sources.ts';
import { bad, type Reading, readText } from './cell.ts';

/** A `source`: 1 to 72 characters, no reserved word, no reserved prefix, compared without regard to case. */
export function readSource(text: string): Reading<string> {
  const reading = readText(text);
  if (!reading.ok) return reading;
  const label = reading.value;
  const hint = 'Choose another label, such as the name of the system that the file comes from.';
  if (label === '') return bad('sourceRefused', 'the source label is empty', hint);
  if ([...label].length > sourceLengthMax) {
    return bad('sourceRefused', `the source label is longer than ${sourceLengthMax} characters`, 'Shorten it.');
  }
  const { word, prefix } = reservedSource(label);
  if (word !== undefined) return bad('sourceRefused', `the service reserves the word "${word}"`, hint);
  if (prefix === undefined) return reading;
  return bad('sourceRefused', `the service reserves source labels that begin with "${prefix}"`, hint);
}

/** Whether the service alone writes the label. */
export function isReservedSource(text: string): boolean {
  const { word, prefix } = reservedSource(text.trim());
  return word !== undefined || prefix !== undefined;
}

/**
 * Checks a label of the configuration, or one that is the name of a feed's folder.
 *
 * @returns the label, trimmed and in NFC.
 * @throws PatchbayError `usage`, `sourceRefused`.
 */
export function checkSourceLabel(label: string): string {
  const reading = readSource(label);
  if (reading.ok) return reading.value;
  const { code, message, hint } = reading.flaw;
  throw new PatchbayError('usage', code, `source label "${label}": ${message}`, { facts: { label }, hint });
}
