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

const clearToken = '#CLEAR';

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

// A flaw: what is wrong with one value, before it is known on which line and in which column it stood.
//
// Messages never repeat the value, so that `--no-values` can leave values out of everything that is printed
// (`rules.md`, "Secrets and personal data"); the value itself travels in `Problem.value`.

/** Codes that kill a row. Stable: scripts may compare them. */
export type DeadCode =
  | 'keyMissing'
  | 'keyTooLong'
  | 'keyDamaged'
  | 'phoneLetters'
  | 'phoneDamaged'
  | 'phoneCountryMissing'
  | 'phoneImpossible'
  | 'phoneAmbiguous'
  | 'emailInvalid'
  | 'controlCharacter'
  | 'brokenCharacter'
  | 'notText'
  | 'precisionLost'
  | 'sourceRefused'
  | 'sourceUrlInvalid'
  | 'customFieldUnknown'
  | 'customFieldType'
  | 'memberTwice'
  | 'shapeWrong'
  | 'tooManyItems';

/** Codes of warnings: the row goes on. */
export type WarningCode =
  | 'phoneUnassigned'
  | 'phoneExtensionDropped'
  | 'phoneCountryAssumed'
  | 'placeholderText'
  | 'lineBreakReplaced'
  | 'clearIgnored'
  | 'keyUnguarded'
  | 'keyDecimalsDropped';

export interface Flaw<Code extends string = string> {
  readonly code: Code;
  /** What happened, in one sentence, without the value. */
  readonly message: string;
  /** What to do next, in one sentence. */
  readonly hint: string;
}

/** What became of one value: normalised, perhaps with warnings, or refused. */
export type Reading<Value> =
  | { readonly ok: true; readonly value: Value; readonly warnings: readonly Flaw<WarningCode>[] }
  | { readonly ok: false; readonly flaw: Flaw<DeadCode> };

export function good<Value>(value: Value, warnings: readonly Flaw<WarningCode>[] = []): Reading<Value> {
  return { ok: true, value, warnings };
}

export function bad(
  code: DeadCode,
  message: string,
  hint: string,
): { readonly ok: false; readonly flaw: Flaw<DeadCode> } {
  return { ok: false, flaw: { code, message, hint } };
}

/** Words that programs write where they have no value (`rules.md`, "What a cell means"). */
const placeholders: ReadonlySet<string> = new Set(['null', 'n/a', '#n/a', 'undefined']);

/** True for `null`, `N/A`, `undefined` and the `#N/A` of spreadsheets, without regard to case. */
export function isPlaceholder(text: string): boolean {
  return placeholders.has(text.trim().toLowerCase());
}

export const placeholderWarning: Flaw<WarningCode> = {
  code: 'placeholderText',
  message: 'the cell holds a word that stands for "nothing"; it was read as blank',
  hint: 'Leave the cell blank, or write #CLEAR to remove the value.',
};

/** JSON objects are read by their own members only, so that `__proto__` and `toString` are names like any other. */
export type JsonObject = { readonly [name: string]: JsonValue };

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member, or undefined where the object has none of its own. */
export function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
