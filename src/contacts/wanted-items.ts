/** The items that slots want, in the slots' order: a value that stands in several slots is one item, as first named. */
import type { DesiredItem, Slot } from '#src/contacts/desired.ts';
import { type ItemKind, itemIdentity } from '#src/contacts/item-identity.ts';

/** By identity. */
export function wantedItems(kind: ItemKind, slots: readonly Slot[]): ReadonlyMap<string, DesiredItem> {
  const wanted = new Map<string, DesiredItem>();
  for (const item of slots.flatMap((slot) => slot.items)) {
    const identity = itemIdentity(kind, item.value);
    if (!wanted.has(identity)) wanted.set(identity, item);
  }
  return wanted;
}
