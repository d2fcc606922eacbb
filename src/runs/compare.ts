/**
 * A row against what its file said before, for the guards: whether it is a change, and how many values it takes away.
 * Pure.
 */
import { createHash } from 'node:crypto';
import type { Said } from '#src/contacts/base.ts';
import { type DesiredContact, type Slot, scalarNames } from '#src/contacts/desired.ts';
import { customFieldName, type FieldName, sameCustomValue, sameText } from '#src/contacts/field.ts';
import type { Problem } from '#src/contacts/outcome.ts';
import type { SaidRecord } from '#src/ledger/contacts.ts';
import type { Row } from '#src/sources/row.ts';

/**
 * Whether the row wants something else than its file had settled. What waits for a person, or for a row that was given
 * up, is no new change (`rules.md`, "Guards").
 */
export function isChange({ said, triedFingerprint }: SaidRecord, ours: DesiredContact, fingerprint: string): boolean {
  if (fingerprint === triedFingerprint) return false;
  const isHeld = (field: FieldName) => said.held.includes(field);
  const scalar = scalarNames.some((name) => {
    const value = ours.scalars[name];
    return value !== undefined && !isHeld(name) && !sameText(value, said.scalars[name] ?? null);
  });
  const customField = ours.customFields.some(({ key, value }) => {
    const before = said.customFields.find((one) => one.key === key)?.value ?? null;
    return !isHeld(customFieldName(key)) && !sameCustomValue(null, value, before);
  });
  return scalar || customField || hasNews(said.emails, ours.emails) || hasNews(said.phones, ours.phones);
}

function hasNews(before: readonly Slot[], now: readonly Slot[]): boolean {
  const text = (slot: Slot | undefined) => JSON.stringify(slot?.items.map(({ label, value }) => [label, value]) ?? []);
  return now.some((slot) => text(slot) !== text(before.find((one) => one.slot === slot.slot)));
}

/** Values that its file said before and now wants gone. A replaced value is no removal. */
export function countClears(said: Said, ours: DesiredContact): number {
  const scalars = scalarNames.filter((name) => ours.scalars[name] === null && (said.scalars[name] ?? null) !== null);
  const customFields = ours.customFields.filter(
    (field) =>
      field.value === null && said.customFields.some((before) => before.key === field.key && before.value !== null),
  );
  return (
    scalars.length + customFields.length + countGone(said.emails, ours.emails) + countGone(said.phones, ours.phones)
  );
}

function countGone(before: readonly Slot[], now: readonly Slot[]): number {
  return now.reduce((gone, slot) => {
    const had = before.find((one) => one.slot === slot.slot)?.items.length ?? 0;
    return gone + Math.max(0, had - slot.items.length);
  }, 0);
}

// A row as it stands in the file, with the mapping's version: equal hashes need no second look.

/** @returns a function from rows to 22 characters of base64url (132 bits). */
export function rowHasher(mappingVersion: string): (row: Row) => string {
  return (row) => {
    const content = row.kind === 'cells' ? [row.columns, row.cells] : row.object;
    return createHash('sha256')
      .update(mappingVersion)
      .update('\0')
      .update(JSON.stringify(content))
      .digest('base64url')
      .slice(0, 22);
  };
}

interface Tried {
  /** The dead letter that is tried again: a redrive's, or the one that a row of a fix-file names in `_id`. */
  readonly letterId?: string;
}

export type StageItem = Tried &
  (
    | { readonly kind: 'row'; readonly row: Row; readonly sequence: number }
    /** The row cannot even be read. */
    | { readonly kind: 'broken'; readonly row: Row; readonly problem: Problem }
    /** Mapped before: taken verbatim. */
    | { readonly kind: 'desired'; readonly row: Row; readonly desired: DesiredContact; readonly sequence: number }
  );
