/**
 * A mapping's version: rows whose cells and mapping version equal the last settled ones need no mapping
 * (`rules.md`, "Three pictures, one plan"). Everything that can change what a cell means is in it.
 */
import { createHash } from 'node:crypto';
import type { Mapping } from './mapping-schema.ts';

/** To be raised whenever the code maps the same cell differently than before. */
export const mappingCodeVersion = 2;

const versionDigits = 16;

/** Sixteen hex digits. Null is the generic layout. */
export function mappingVersion(mapping: Mapping | null): string {
  return versionOf({ mapping });
}

/** The version of any plain value: two values that are equal as JSON, whatever the order of their keys, have one. */
export function versionOf(value: unknown): string {
  const text = canonicalJson({ codeVersion: mappingCodeVersion, value });
  return createHash('sha256').update(text).digest('hex').slice(0, versionDigits);
}

/** JSON with the keys of every object in order; members that are undefined are left out. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  );
}
