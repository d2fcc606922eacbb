/**
 * Values that an export of MongoDB wraps, so that JSON keeps their type: `{"$numberLong": "4930901801"}`, `{"$oid": "…"}`,
 * `{"$date": "…"}`. They are read as what they hold. Pure.
 */
import { normaliseHeader } from '#src/sources/column-name.ts';
import type { JsonValue } from '#src/sources/row.ts';

const ofIds = '$oid';
const wrappers: ReadonlySet<string> = new Set([
  '$numberLong',
  '$numberInt',
  '$numberDouble',
  '$numberDecimal',
  ofIds,
  '$date',
]);

/** As a reader of names, numbers and labels takes it: an id there is that of another document, and stays an object. */
export function unwrappedValue(raw: JsonValue): JsonValue {
  return holdsId(raw) ? raw : unwrapped(raw);
}

/** The id of a key or a custom field as text; any other value as it is. */
export function withOpenId(raw: JsonValue): JsonValue {
  return holdsId(raw) ? unwrapped(raw) : raw;
}

function holdsId(raw: JsonValue): boolean {
  return typeof raw === 'object' && raw !== null && Object.hasOwn(raw, ofIds);
}

/** For facts, ids too. Any other value as it is. A date that is given in milliseconds is an ISO date. */
export function unwrapped(raw: JsonValue): JsonValue {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw;
  const [entry, ...others] = Object.entries(raw);
  if (entry === undefined || others.length > 0 || !wrappers.has(entry[0])) return raw;
  const [name, held] = entry;
  const inner = name === '$date' ? dateOf(unwrapped(held)) : held;
  return typeof inner === 'string' || typeof inner === 'number' ? inner : raw;
}

/**
 * The names that a file may have for a mapping's column, in the form in which names are compared: as it is written, since a column or a
 * member may be called `_id.$oid`, and `_id`, since that path leads to what a wrapped value there holds.
 */
export function spellingsOf(path: string): readonly string[] {
  return [path, withoutWrapper(path)].map(normaliseHeader);
}

function withoutWrapper(path: string): string {
  const at = path.lastIndexOf('.');
  return at > 0 && wrappers.has(path.slice(at + 1)) ? path.slice(0, at) : path;
}

function dateOf(held: JsonValue): JsonValue {
  const isCount = typeof held === 'number' || (typeof held === 'string' && /^-?\d{1,16}$/.test(held));
  const date = new Date(isCount ? Number(held) : Number.NaN);
  return Number.isNaN(date.getTime()) ? held : date.toISOString();
}
