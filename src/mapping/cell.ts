/**
 * One value of a file, before the meaning of its column is considered (`rules.md`, "What a cell means"), and what
 * reading it can give:
 *
 *   raw value ── readCell ──▶ Cell      blank, clear, text, list or wrong
 *   text ── readEmail, … ──▶ Reading    a normalised value, perhaps with warnings; or a flaw
 *
 * A flaw says what is wrong with one value; `row.ts` adds the line and the column. Messages never repeat the value, so
 * that `--no-values` can leave values out of everything that is printed (`rules.md`, "Secrets and personal data"); the
 * value itself travels in `Problem.value`.
 */
import type { JsonValue } from '#src/sources/row.ts';

/** A raw value and where it was found. */
export interface Place {
  /** As the file names it: a column, or `defaultFields.emails[1].value`. */
  readonly field: string;
  readonly raw: JsonValue;
  /** Only CSV protects values against being read as formulas. */
  readonly from: 'csv' | 'json';
}

/**
 * - *blank*: empty, or spaces alone; the column's `onBlank` decides.
 * - *clear*: the token `#CLEAR` alone in the cell, or JSON null.
 * - *text*: trimmed. A number of a JSON file is its digits.
 * - *list*: a JSON array.
 * - *wrong*: anything that cannot be text.
 */
export type Cell =
  | { readonly kind: 'blank' }
  | { readonly kind: 'clear' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly JsonValue[] }
  | { readonly kind: 'wrong'; readonly flaw: Flaw<RejectionCode> };

const clearToken = '#CLEAR';

/** Reads a raw value. In CSV a guard against formulas is removed; JSON has none. */
export function readCell(raw: JsonValue, from: 'csv' | 'json'): Cell {
  if (raw === null) return { kind: 'clear' };
  if (typeof raw === 'string') return readString(from === 'csv' ? unguard(raw) : raw);
  if (typeof raw === 'number') return readNumber(raw);
  if (Array.isArray(raw)) return { kind: 'list', items: raw };
  const found = typeof raw === 'boolean' ? `the value ${raw}` : 'an object';
  return { kind: 'wrong', flaw: bad('notText', `expected text, found ${found}`, 'Write it as a string.').flaw };
}

function readString(raw: string): Cell {
  const text = raw.trim();
  if (text === '') return { kind: 'blank' };
  return text === clearToken ? { kind: 'clear' } : { kind: 'text', text };
}

/** Above 2^53 a number has lost digits before this code sees it (`bad-inputs.md`, "JSON"). */
function readNumber(raw: number): Cell {
  if (Number.isSafeInteger(raw)) return { kind: 'text', text: String(raw) };
  if (Number.isFinite(raw) && !Number.isInteger(raw)) return { kind: 'text', text: String(raw) };
  const message = 'the number is too large to keep all its digits';
  return { kind: 'wrong', flaw: bad('precisionLost', message, 'Write it as a string, in quotes.').flaw };
}

/**
 * Formula-safe exports, Patchbay's among them, put `'` before a leading `+ - = @`; others write `="…"` (`exports.md`).
 * One of each is removed. `="a"&"b"` is a formula rather than a guard, and stays.
 */
function unguard(text: string): string {
  const bare = (/^\s*'[+\-=@]/.test(text) ? text.replace("'", '') : text).trim();
  if (!bare.startsWith('="') || !bare.endsWith('"') || bare.length < 3) return bare;
  const inner = bare.slice(2, -1);
  return inner.replaceAll('""', '').includes('"') ? bare : inner.replaceAll('""', '"');
}

const placeholders: ReadonlySet<string> = new Set(['null', 'n/a', '#n/a', 'undefined']);

/** True for what programs write where they have no value: `null`, `N/A`, `undefined`, `#N/A`, in any case. */
export function isPlaceholder(text: string): boolean {
  return placeholders.has(text.trim().toLowerCase());
}

/** Codes that reject a row. Stable: scripts may compare them. */
export type RejectionCode =
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

/** Codes of warnings: the row goes on. Stable, too. */
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

/** The result of reading one value: normalised, perhaps with warnings, or refused. */
export type Reading<Value> =
  | { readonly ok: true; readonly value: Value; readonly warnings: readonly Flaw<WarningCode>[] }
  | Refused;

interface Refused {
  readonly ok: false;
  readonly flaw: Flaw<RejectionCode>;
}

export function good<Value>(value: Value, warnings: readonly Flaw<WarningCode>[] = []): Reading<Value> {
  return { ok: true, value, warnings };
}

export function bad(code: RejectionCode, message: string, hint: string): Refused {
  return { ok: false, flaw: { code, message, hint } };
}

/** JSON objects are read by their own members only, so that `__proto__` and `toString` are names like any other. */
export type JsonObject = { readonly [name: string]: JsonValue };

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member, or undefined if the object has no own member of this name. */
export function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
