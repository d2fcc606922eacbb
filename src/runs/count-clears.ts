/**
 * A row against what its file said before, for the guards: whether it is a change, and how many values it takes away.
 * Pure.
 */
import type { Said } from '#src/contacts/base.ts';
import { type DesiredContact, type Slot, scalarNames } from '#src/contacts/desired.ts';
import { customFieldName, type FieldName, sameCustomValue, sameText } from '#src/contacts/field.ts';
import type { SaidRecord } from '#src/ledger/contacts.ts';

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
