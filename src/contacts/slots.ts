/** Slots: what the columns of a feed say about its e-mails or phones, today and before (`desired.ts`). */
import type { DesiredItem, Slot } from '#src/contacts/desired.ts';
import { type ItemKind, itemIdentity } from '#src/contacts/item-identity.ts';

/** By identity, in the slots' order: a value that stands in several slots is one item, as first named. */
export function wantedItems(kind: ItemKind, slots: readonly Slot[]): ReadonlyMap<string, DesiredItem> {
  const wanted = new Map<string, DesiredItem>();
  for (const item of slots.flatMap((slot) => slot.items)) {
    const identity = itemIdentity(kind, item.value);
    if (!wanted.has(identity)) wanted.set(identity, item);
  }
  return wanted;
}

/** A slot that speaks today replaces what it said; a silent one keeps it, and so protects its items. */
export function nextSlots(said: readonly Slot[], ours: readonly Slot[]): readonly Slot[] {
  if (ours.some((slot) => slot.whole)) return ours;
  const speaking = new Set(ours.map((slot) => slot.slot));
  return [...said.filter((slot) => !speaking.has(slot.slot)), ...ours];
}

/** A column that the mapping no longer names says nothing. `names` is null where any column may speak. */
export function mappedSlots(said: readonly Slot[], names: readonly string[] | null): readonly Slot[] {
  return names === null ? said : said.filter(({ slot }) => names.includes(slot));
}

/** Without these items: another feed's file names them, and they are no longer this one's. */
export function slotsWithout(kind: ItemKind, slots: readonly Slot[], identities: ReadonlySet<string>): readonly Slot[] {
  const isKept = ({ value }: DesiredItem) => !identities.has(itemIdentity(kind, value));
  return slots.every(({ items }) => items.every(isKept))
    ? slots
    : slots.map((slot) => ({ ...slot, items: slot.items.filter(isKept) }));
}
