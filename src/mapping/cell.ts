/**
 * What a cell, or a JSON member, is before its column is considered (`rules.md`, "What a cell means").
 *
 * - *blank*: nothing but spaces; the column's `onBlank` decides.
 * - *clear*: the token `#CLEAR` alone in the cell, or JSON null.
 * - *text*: trimmed. A number of a JSON file is its digits.
 * - *list*: a JSON array.
 * - *wrong*: anything that cannot be text.
 */
import type { JsonValue } from '#src/sources/row.ts';
import { bad, type DeadCode, type Flaw } from './flaw.ts';

export const clearToken = '#CLEAR';

export type Cell =
  | { readonly kind: 'blank' }
  | { readonly kind: 'clear' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly JsonValue[] }
  | { readonly kind: 'wrong'; readonly flaw: Flaw<DeadCode> };

/** Reads a raw value. In CSV what only guards against formulas is taken off; JSON needs no such guard. */
export function readCell(raw: JsonValue, from: 'csv' | 'json'): Cell {
  if (raw === null) return { kind: 'clear' };
  if (typeof raw === 'string') return readString(from === 'csv' ? unguard(raw) : raw);
  if (typeof raw === 'number') return readNumber(raw);
  if (Array.isArray(raw)) return { kind: 'list', items: raw };
  const found = typeof raw === 'boolean' ? `the value ${raw}` : 'an object';
  return {
    kind: 'wrong',
    flaw: bad('notText', `${found} stands where text is expected`, 'Write it as a string.').flaw,
  };
}

function readString(raw: string): Cell {
  const text = raw.trim();
  if (text === '') return { kind: 'blank' };
  return text === clearToken ? { kind: 'clear' } : { kind: 'text', text };
}

/** Above 2^53 a number has lost digits before we see it (`bad-inputs.md`, "JSON"). */
function readNumber(raw: number): Cell {
  if (Number.isSafeInteger(raw)) return { kind: 'text', text: String(raw) };
  if (Number.isFinite(raw) && !Number.isInteger(raw)) return { kind: 'text', text: String(raw) };
  return {
    kind: 'wrong',
    flaw: bad('precisionLost', 'the number is too large to keep all its digits', 'Write it as a string, in quotes.')
      .flaw,
  };
}

/**
 * Formula-safe exports, ours among them, put `'` before a leading `+ - = @`; others write `="…"` (`exports.md`). One of each
 * is taken off. `="a"&"b"` is no guard but a formula, and stays.
 */
function unguard(text: string): string {
  const bare = (/^\s*'[+\-=@]/.test(text) ? text.replace("'", '') : text).trim();
  if (!bare.startsWith('="') || !bare.endsWith('"') || bare.length < 3) return bare;
  const inner = bare.slice(2, -1);
  return inner.replaceAll('""', '').includes('"') ? bare : inner.replaceAll('""', '"');
}
