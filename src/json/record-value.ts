/**
 * The bytes of one value to what it holds, by `JSON.parse`.
 *
 * Invariants: no object has a prototype, so a member called `__proto__` is a member like any other. A number that
 * JavaScript cannot hold exactly is given to the caller as the text writes it, digit by digit. What is not JSON is refused
 * with the place of the first character that JSON does not allow.
 */
import { isUtf8 } from 'node:buffer';
import { JsonError, type Place, placeIn, syntaxError } from './place.ts';
import type { ScannedValue } from './value-scanner.ts';
import { walkJson } from './walk-json.ts';

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** `Array.isArray` does not narrow to a readonly list. */
export function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** @throws JsonError `notUtf8`. */
export function textOf({ bytes, place }: Pick<ScannedValue, 'bytes' | 'place'>): string {
  if (!isUtf8(bytes)) throw new JsonError('notUtf8', 'not UTF-8', place);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** `start` is the place of the text's first character. @throws JsonError `syntax`. */
export function parseText(text: string, start: Place): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // `JSON.parse` names the place of some errors only.
    throw firstFlaw(text, start) ?? error;
  }
}

function firstFlaw(text: string, start: Place): JsonError | null {
  const flaw = walkJson(text, {});
  if (flaw === null) return null;
  const codePoint = text.codePointAt(flaw.index);
  const word = /^(?:NaN|Infinity)\b/.exec(text.slice(flaw.index, flaw.index + 9))?.[0];
  const found = word ?? (codePoint === undefined ? null : String.fromCodePoint(codePoint));
  return syntaxError(found, flaw.expected, placeIn(text, flaw.index, start));
}

/** What stands for a number beyond ±(2^53 − 1), which a JavaScript number may not hold exactly. */
type LargeNumber = (source: string, value: number) => JsonValue;

interface RecordValue {
  readonly value: JsonValue;
  /** An object of the text has two members of the same name; the last one counts. `walkJson` finds them. */
  readonly hasRepeatedNames: boolean;
}

/** `memberCount` is what the scanner counted in the text. @throws JsonError `syntax`. */
export function recordValue(text: string, memberCount: number, start: Place, largeNumber: LargeNumber): RecordValue {
  const found: LookedThrough = { memberCount: 0, hasLargeNumber: false };
  let value = parseText(text, start);
  lookThrough(value, found);
  if (found.hasLargeNumber) {
    const reviver = (_name: string, inner: unknown, context?: { readonly source?: string }): unknown =>
      typeof inner === 'number' && isLarge(inner) ? largeNumber(context?.source ?? String(inner), inner) : inner;
    value = JSON.parse(text, reviver);
    lookThrough(value, { memberCount: 0, hasLargeNumber: false });
  }
  return { value: value as JsonValue, hasRepeatedNames: found.memberCount !== memberCount };
}

function isLarge(value: number): boolean {
  return Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

interface LookedThrough {
  memberCount: number;
  hasLargeNumber: boolean;
}

/** Takes the prototypes of all objects away and counts their members. The depth of the recursion is bounded by the scanner. */
function lookThrough(value: unknown, found: LookedThrough): void {
  if (typeof value === 'number') found.hasLargeNumber ||= isLarge(value);
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const inner of value) lookThrough(inner, found);
    return;
  }
  // Before the prototype goes: `Object.keys` of an ordinary object is faster.
  const names = Object.keys(value);
  found.memberCount += names.length;
  for (const name of names) lookThrough((value as Record<string, unknown>)[name], found);
  Object.setPrototypeOf(value, null);
}
