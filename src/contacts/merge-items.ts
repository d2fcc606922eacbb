/**
 * E-mails or phones of one contact, merged item by item (`rules.md`, "Three pictures, one plan").
 *
 *   wanted, on the service                            kept under its id; relabelled if the label is Patchbay's to change
 *   wanted, not on the service, in no feed's said     added
 *   wanted, not on the service, said by some feed     people removed it: not put back
 *   said before by this feed and no longer, owned,
 *     and named by no other existing feed             removed
 *   any other item on the service                     kept as it is
 *
 * Invariant: what Patchbay never wrote is never removed, nor what another feed's file still names. Items of one
 * identity are one item; if a service holds it twice, both are kept, or both are removed.
 */

import type { Contact, ContactItem, UpdateItem } from '#src/wire/contact.ts';
import type { PlanInput } from './base.ts';
import type { DesiredItem, Slot } from './desired.ts';
import { type FieldName, type ItemKind, itemFieldName, itemIdentity, sameText } from './field.ts';
import type { Change, Note } from './outcome.ts';

interface MergedItems {
  /** The complete list for the body: kept and removed items in the service's order, then the added ones. */
  readonly sent: readonly UpdateItem[];
  readonly changes: readonly Change[];
  readonly notes: readonly Note[];
  /** Identities of the added items. */
  readonly added: readonly string[];
  /** Identities that Patchbay owns from now on without a write, since the file wins (adopt). */
  readonly adopted: readonly string[];
  /** Identities that nobody owns from now on: only a column that the mapping no longer names had said them. */
  readonly disowned: readonly string[];
}

/** The list's name in said, ours and owned; the interface has another for phones. */
export const listOf = { email: 'emails', phone: 'phones' } as const;

function itemsOf(kind: ItemKind, contact: Contact): readonly ContactItem[] {
  return kind === 'email' ? contact.defaultFields.emails : contact.defaultFields.phoneNumbers;
}

/** The identities of all items that have a value. */
export function identitiesOf(kind: ItemKind, contact: Contact): ReadonlySet<string> {
  return new Set(itemsOf(kind, contact).flatMap(({ value }) => (value === null ? [] : [itemIdentity(kind, value)])));
}

export function mergeItems(kind: ItemKind, input: PlanInput, contact: Contact): MergedItems {
  const { base, adopt } = input;
  const list = listOf[kind];
  const everSaid = base.said?.[list] ?? [];
  const said = mappedSlots(everSaid, input.slotNames?.[list] ?? null);
  const wanted = wantedItems(kind, input.ours[list]);
  const owned = new Set(base.owned[list]);
  const named = new Set(wantedItems(kind, nextSlots(said, input.ours[list])).keys());
  const saidByOthers = namedBy(kind, input, () => true);
  const namedByOthers = namedBy(kind, input, ({ owns }) => owns);
  const isDroppable = (identity: string) =>
    input.itemRemoval === 'owned' && owned.has(identity) && !named.has(identity) && !namedByOthers.has(identity);
  const dropped = new Set([...wantedItems(kind, said).keys()].filter(isDroppable));

  const sent: UpdateItem[] = [];
  const changes: Change[] = [];
  const notes: Note[] = [];
  const there = new Set<string>();
  for (const item of itemsOf(kind, contact)) {
    // Null under an id means removal: an item without a value cannot be sent, and holds nothing to keep.
    if (item.value === null) continue;
    const identity = itemIdentity(kind, item.value);
    const field = itemFieldName(kind, identity);
    const isFirst = !there.has(identity);
    there.add(identity);
    const kept = { ...(item.id === null ? {} : { id: item.id }), name: item.name ?? '', value: item.value };
    if (dropped.has(identity) && item.id !== null) {
      sent.push({ id: item.id, name: kept.name, value: null });
      changes.push({ field, from: item.value, to: null, why: 'removed' });
      continue;
    }
    if (dropped.has(identity)) notes.push(withoutId(field));
    const label = isFirst && owned.has(identity) ? newLabel(kind, input, said, item, wanted.get(identity)) : null;
    if (label?.kind === 'write') {
      sent.push({ ...kept, name: label.to });
      changes.push({ field, from: item.name, to: label.to, why: 'relabelled' });
      continue;
    }
    if (label?.kind === 'keep') notes.push(relabelledByPeople(field));
    sent.push(kept);
  }
  const saidByUs = wantedItems(kind, everSaid);
  const added = [...wanted].filter(
    ([identity]) => !there.has(identity) && !saidByUs.has(identity) && !saidByOthers.has(identity),
  );
  for (const [identity, item] of added) {
    sent.push({ name: item.label, value: item.value });
    changes.push({ field: itemFieldName(kind, identity), from: null, to: item.value, why: 'added' });
  }
  const isNobodys = (identity: string) =>
    owned.has(identity) && !dropped.has(identity) && !named.has(identity) && !namedByOthers.has(identity);
  const unmapped = wantedItems(
    kind,
    everSaid.filter((slot) => !said.includes(slot)),
  );
  return {
    sent,
    changes,
    notes,
    added: added.map(([identity]) => identity),
    adopted: adopt ? [...wanted.keys()].filter((identity) => there.has(identity) && !owned.has(identity)) : [],
    disowned: [...unmapped.keys()].filter(isNobodys),
  };
}

function namedBy(kind: ItemKind, { base }: PlanInput, counts: (other: (typeof base.others)[number]) => boolean) {
  return new Set(base.others.filter(counts).flatMap(({ said }) => [...wantedItems(kind, said[listOf[kind]]).keys()]));
}

/** The decision about the label of an owned item: null if the file did not change it or it is already as wanted. */
function newLabel(
  kind: ItemKind,
  { base }: PlanInput,
  said: readonly Slot[],
  item: ContactItem,
  wanted: DesiredItem | undefined,
): { kind: 'write'; to: string } | { kind: 'keep' } | null {
  if (wanted === undefined || sameText(wanted.label, item.name)) return null;
  const identity = itemIdentity(kind, wanted.value);
  const isSame = (value: string | null) => value !== null && itemIdentity(kind, value) === identity;
  // One number may be in two columns: any label that the file had for it is an old one.
  const saidLabels = said.flatMap((slot) => slot.items.filter((one) => isSame(one.value)).map((one) => one.label));
  if (saidLabels.length === 0 || saidLabels.some((label) => sameText(label, wanted.label))) return null;
  const seenItems = base.seen === null ? [] : itemsOf(kind, base.seen).filter((one) => isSame(one.value));
  const peopleChanged = seenItems.length > 0 && !seenItems.some((one) => sameText(one.name, item.name));
  return peopleChanged ? { kind: 'keep' } : { kind: 'write', to: wanted.label };
}

function withoutId(field: FieldName): Note {
  const message = 'The service gave this item no id, so it cannot be removed: it stays.';
  return { field, code: 'itemWithoutId', message };
}

function relabelledByPeople(field: FieldName): Note {
  const message = "The file has another label now, and the label was changed in the app: kept the app's label.";
  return { field, code: 'labelChangedByPeople', message };
}

/** By identity, in the slots' order: a value in several slots is one item, as named first. */
export function wantedItems(kind: ItemKind, slots: readonly Slot[]): ReadonlyMap<string, DesiredItem> {
  const wanted = new Map<string, DesiredItem>();
  for (const item of slots.flatMap((slot) => slot.items)) {
    const identity = itemIdentity(kind, item.value);
    if (!wanted.has(identity)) wanted.set(identity, item);
  }
  return wanted;
}

/** A slot that is present today replaces what it said before; an absent one keeps it, and so protects its items. */
export function nextSlots(said: readonly Slot[], ours: readonly Slot[]): readonly Slot[] {
  if (ours.some((slot) => slot.whole)) return ours;
  const speaking = new Set(ours.map((slot) => slot.slot));
  return [...said.filter((slot) => !speaking.has(slot.slot)), ...ours];
}

/** Without the columns that the mapping no longer names. @param names null if any column may be a slot. */
export function mappedSlots(said: readonly Slot[], names: readonly string[] | null): readonly Slot[] {
  return names === null ? said : said.filter(({ slot }) => names.includes(slot));
}

/** Without these items: another feed's file names them, and this feed owns them no longer. */
export function slotsWithout(kind: ItemKind, slots: readonly Slot[], identities: ReadonlySet<string>): readonly Slot[] {
  const isKept = ({ value }: DesiredItem) => !identities.has(itemIdentity(kind, value));
  return slots.every(({ items }) => items.every(isKept))
    ? slots
    : slots.map((slot) => ({ ...slot, items: slot.items.filter(isKept) }));
}
