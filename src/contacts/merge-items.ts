/**
 * E-mails or phones of one contact, merged item by item (`rules.md`, "Three pictures, one plan").
 *
 *   wanted, on the service                        kept under its id; relabelled if the label is ours to change
 *   wanted, not on the service, never said        added
 *   wanted, not on the service, said before       people removed it: not put back
 *   not wanted, on the service, said before       removed, if its slot speaks today and this feed wrote it
 *   anything else on the service                  kept as it is
 *
 * Invariant: what this feed never wrote is never removed. Items of one identity are one item; where a service holds
 * it twice, both are kept, or both are removed.
 */

import type { OwnedItem } from '#src/contacts/base.ts';
import type { Change, Note } from '#src/contacts/change.ts';
import type { DesiredItem, Slot } from '#src/contacts/desired.ts';
import { type FieldName, itemFieldName } from '#src/contacts/field-name.ts';
import { type ItemKind, itemIdentity } from '#src/contacts/item-identity.ts';
import { sameText } from '#src/contacts/same-value.ts';
import { wantedItems } from '#src/contacts/wanted-items.ts';
import type { ContactItem, UpdateItem } from '#src/wire/contact.ts';

export interface ItemPictures {
  readonly kind: ItemKind;
  readonly feed: string;
  readonly itemRemoval: 'owned' | 'none';
  readonly said: readonly Slot[];
  /** Null where we never saw the contact. */
  readonly seen: readonly ContactItem[] | null;
  readonly theirs: readonly ContactItem[];
  readonly ours: readonly Slot[];
  readonly owned: readonly OwnedItem[];
}

export interface MergedItems {
  /** The complete list for the body: kept and removed items in the service's order, then the added ones. */
  readonly sent: readonly UpdateItem[];
  readonly changes: readonly Change[];
  readonly notes: readonly Note[];
  /** Identities of the added items. */
  readonly added: readonly string[];
}

export function mergeItems(pictures: ItemPictures): MergedItems {
  const { kind, theirs } = pictures;
  const wanted = wantedItems(kind, pictures.ours);
  const said = wantedItems(kind, pictures.said);
  const mine = new Set(pictures.owned.filter((one) => one.feed === pictures.feed).map((one) => one.value));
  const dropped = pictures.itemRemoval === 'none' ? new Set<string>() : droppedItems(pictures, wanted);
  const sent: UpdateItem[] = [];
  const changes: Change[] = [];
  const notes: Note[] = [];
  const there = new Set<string>();
  for (const item of theirs) {
    // Null under an id means removal: an item that has no value cannot be sent, and there is nothing in it to keep.
    if (item.value === null) continue;
    const identity = itemIdentity(kind, item.value);
    const field = itemFieldName(kind, identity);
    const first = !there.has(identity);
    there.add(identity);
    const kept = { ...(item.id === null ? {} : { id: item.id }), name: item.name ?? '', value: item.value };
    const isDropped = dropped.has(identity) && mine.has(identity);
    if (isDropped && item.id !== null) {
      sent.push({ id: item.id, name: kept.name, value: null });
      changes.push({ field, from: item.value, to: null, why: 'removed' });
      continue;
    }
    if (isDropped) notes.push(withoutId(field));
    const label = first && mine.has(identity) ? newLabel(pictures, item, wanted.get(identity)) : null;
    if (label?.kind === 'write') {
      sent.push({ ...kept, name: label.to });
      changes.push({ field, from: item.name, to: label.to, why: 'relabelled' });
      continue;
    }
    if (label?.kind === 'keep') notes.push(relabelledByPeople(field));
    sent.push(kept);
  }
  const added = [...wanted].filter(([identity]) => !there.has(identity) && !said.has(identity));
  for (const [identity, item] of added) {
    sent.push({ name: item.label, value: item.value });
    changes.push({ field: itemFieldName(kind, identity), from: null, to: item.value, why: 'added' });
  }
  return { sent, changes, notes, added: added.map(([identity]) => identity) };
}

/**
 * Identities that a slot said before, speaks today and says no more. What another slot wants is not dropped, nor what
 * a slot wrote that is silent today: a blank cell protects it.
 */
function droppedItems({ kind, said, ours }: ItemPictures, wanted: ReadonlyMap<string, DesiredItem>): Set<string> {
  const speaking = new Set(ours.map((slot) => slot.slot));
  const silent = wantedItems(
    kind,
    said.filter((slot) => !speaking.has(slot.slot)),
  );
  const spoken = wantedItems(
    kind,
    said.filter((slot) => speaking.has(slot.slot)),
  );
  return new Set([...spoken.keys()].filter((identity) => !wanted.has(identity) && !silent.has(identity)));
}

/** What becomes of an own item's label: null where the file did not change it or it is already as wanted. */
function newLabel(
  { kind, said, seen }: ItemPictures,
  item: ContactItem,
  wanted: DesiredItem | undefined,
): { kind: 'write'; to: string } | { kind: 'keep' } | null {
  if (wanted === undefined || sameText(wanted.label, item.name)) return null;
  const identity = itemIdentity(kind, wanted.value);
  const isSame = (value: string | null) => value !== null && itemIdentity(kind, value) === identity;
  // One number may stand in two columns: any label that the file had for it is an old one.
  const saidLabels = said.flatMap((slot) => slot.items.filter((one) => isSame(one.value)).map((one) => one.label));
  if (saidLabels.length === 0 || saidLabels.some((label) => sameText(label, wanted.label))) return null;
  const seenItems = (seen ?? []).filter((one) => isSame(one.value));
  const peopleChanged = seenItems.length > 0 && !seenItems.some((one) => sameText(one.name, item.name));
  return peopleChanged ? { kind: 'keep' } : { kind: 'write', to: wanted.label };
}

function withoutId(field: FieldName): Note {
  const message = 'The service gave this item no id, so it cannot be removed: it stays.';
  return { field, code: 'itemWithoutId', message };
}

function relabelledByPeople(field: FieldName): Note {
  const message = 'The file has another label now, but somebody changed the label in the app: theirs stays.';
  return { field, code: 'labelChangedByPeople', message };
}
