/** How many values a row takes away that its file said before. A replaced value is no removal. Pure. */
import type { Said } from '#src/contacts/base.ts';
import { type DesiredContact, type Slot, scalarNames } from '#src/contacts/desired.ts';

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
