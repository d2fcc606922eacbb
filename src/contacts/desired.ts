/**
 * The desired contact: what one row of a file says about one contact (`design.md`, "Words").
 *
 * A member with a value is wanted, one that is null is to be removed, an absent one is not touched. The same holds for
 * slots: a slot lists all items of its column (or JSON array); with no items, its former items are to be removed; an absent
 * slot is not touched, and protects what it wrote before.
 *
 * Names from the user's file are kept in lists rather than as members of objects: a column called `__proto__` is then a name
 * like any other.
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

/** Whether a contact made from it would hold anything but its key and its source label. */
export function hasContent({ scalars, emails, phones, customFields }: DesiredContact): boolean {
  return (
    Object.values(scalars).some((value) => value !== null && value !== undefined) ||
    [...emails, ...phones].some(({ items }) => items.length > 0) ||
    customFields.some(({ value }) => value !== null)
  );
}

/** Part of the fingerprint, so that a later canonical form never equals an earlier one by chance. */
const canonicalForm = 1;

/**
 * SHA-256 in hex. A record whose fingerprint equals the last settled one is `unchanged` and costs no request (`rules.md`,
 * "Three pictures, one plan"). The order of columns, members, items and choices does not change it; absent and null differ.
 */
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

/** By the code units of each entry's JSON: the same on every machine, in every locale. */
function sorted(entries: readonly unknown[]): unknown[] {
  const text = (entry: unknown) => JSON.stringify(entry).normalize('NFC');
  return entries.toSorted((left, right) => (text(left) < text(right) ? -1 : text(left) > text(right) ? 1 : 0));
}
