/**
 * The fingerprint of a desired contact. A record whose fingerprint equals the last settled one is `unchanged` and
 * costs no request (`rules.md`, "Three pictures, one plan").
 *
 * Invariant: the order of columns, members, items and choices does not show in it; absent and null do. Lists only, so
 * that no name from a file can play a trick with member names.
 */
import { createHash } from 'node:crypto';
import { type DesiredContact, type Slot, scalarNames } from '#src/contacts/desired.ts';
import type { CustomFieldValue } from '#src/wire/contact.ts';

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
