/** Values and texts of files for people: on one line, and short. */
import type { HeldRecord } from '#src/ledger/contacts.ts';
import { printable } from './output.ts';

const valueCharsMax = 40;

/** Cut after `charsMax` characters. */
export function shorten(text: string, charsMax = valueCharsMax): string {
  const one = printable(text);
  return one.length > charsMax ? `${one.slice(0, charsMax - 1)}…` : one;
}

/** A value as one short line; a field without one is a dash. */
export function valueText(value: HeldRecord['ours']): string {
  if (value === null) return '–';
  const text = Array.isArray(value) ? value.join('; ') : String(value);
  return text.length > valueCharsMax ? `${text.slice(0, valueCharsMax - 1)}…` : text;
}

/** An instant as people read it: `2026-11-22 23:35:07Z`. */
export function instantText(iso: string): string {
  return iso.replace('T', ' ').replace(/\.\d+Z$/, 'Z');
}
