/**
 * The desired contact: what one row of a file says about one contact (`design.md`, "Words").
 *
 * A member that is present with a value is wanted, present with null is wanted gone, absent is not touched. The same
 * holds for slots: a slot that is present says all that its column (or JSON array) wants; with no items it wants
 * its items gone; a slot that is absent is not touched, and protects what it wrote before.
 *
 * Lists, not objects, hold what is named by the user's file: a column called `__proto__` is then a name like any other.
 */

import { createHash } from 'node:crypto';
import type { CustomFieldValue } from '#src/wire/contact.ts';

export const scalarNames = ['firstName', 'lastName', 'company', 'role', 'sourceUrl'] as const;
/** The single-valued fields of a contact that a file may set. */
export type ScalarName = (typeof scalarNames)[number];

export type DesiredScalars = { readonly [Name in ScalarName]?: string | null };

/** One e-mail address or phone number. `value` is normalised: E.164, or an address with its domain in lower case. */
export interface DesiredItem {
  readonly label: string;
  readonly value: string;
}

/** What one column, or one JSON array, says about a list of items. */
export interface Slot {
  /** The column's name in lower case, or `emails` and `phones` for a JSON array. Stable from file to file. */
  readonly slot: string;
  readonly items: readonly DesiredItem[];
  /** A JSON array that says the whole list: every other slot of the feed speaks through it. */
  readonly whole?: true;
}

export interface DesiredCustomField {
  readonly key: string;
  /** Of the field's type; null wants it gone. */
  readonly value: CustomFieldValue;
}

export interface DesiredContact {
  /** The `externalId`: trimmed, NFC, 1 to 75 code points. */
  readonly key: string;
  readonly scalars: DesiredScalars;
  /** Written on create only. Null leaves it to the feed's label. */
  readonly source: string | null;
  readonly emails: readonly Slot[];
  readonly phones: readonly Slot[];
  readonly customFields: readonly DesiredCustomField[];
}

// Whether a desired contact is worth a contact: a key alone, or a key with a source label, is nobody.

/** True where something would stand in a contact that is made from it; what is to be cleared is nothing. */
export function hasContent({ scalars, emails, phones, customFields }: DesiredContact): boolean {
  return (
    Object.values(scalars).some((value) => value !== null && value !== undefined) ||
    [...emails, ...phones].some(({ items }) => items.length > 0) ||
    customFields.some(({ value }) => value !== null)
  );
}

// The fingerprint of a desired contact. A record whose fingerprint equals the last settled one is `unchanged` and
// costs no request (`rules.md`, "Three pictures, one plan").
//
// Invariant: the order of columns, members, items and choices does not show in it; absent and null do. Lists only, so
// that no name from a file can play a trick with member names.

/** Written first, so that a later canonical form never equals an earlier one by chance. */
const canonicalForm = 1;

/** SHA-256 in hex. */
export function fingerprint(desired: DesiredContact): string {
  const scalars = scalarNames.flatMap((name) => {
    const value = desired.scalars[name];
    return value === undefined ? [] : [[name, value]];
  });
  const canonical = [
    canonicalForm,
    desired.key,
    desired.source,
    scalars,
    canonicalSlots(desired.emails),
    canonicalSlots(desired.phones),
    sorted(desired.customFields.map((field) => [field.key, canonicalValue(field.value)])),
  ];
  return createHash('sha256').update(JSON.stringify(canonical).normalize('NFC')).digest('hex');
}

function canonicalSlots(slots: readonly Slot[]): unknown[] {
  return sorted(slots.map(({ slot, items }) => [slot, sorted(items.map(({ label, value }) => [value, label]))]));
}

function canonicalValue(value: CustomFieldValue): CustomFieldValue {
  return Array.isArray(value) ? [...value].sort() : value;
}

/** By the code units of each entry's JSON: the same on every machine, whatever its language. */
function sorted(entries: readonly unknown[]): unknown[] {
  const text = (entry: unknown) => JSON.stringify(entry).normalize('NFC');
  return entries.toSorted((left, right) => (text(left) < text(right) ? -1 : text(left) > text(right) ? 1 : 0));
}
