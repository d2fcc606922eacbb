/**
 * Merging what the file says with what the service holds, field by field and item by item. Who decides about a field or a list is
 * its policy (`policies.ts`, which has the table of cases).
 *
 * E-mails and phones are merged item by item, here by the policy `owned`:
 *
 *   wanted, on the service                            kept under its id; relabelled if the label is Patchbay's to change (`labels.ts`)
 *   wanted, not on the service, in no feed's said     added
 *   wanted, not on the service, said by some feed     people removed it: not put back
 *   said before by this feed and no longer, owned,
 *     and named by no other existing feed             removed
 *   any other item on the service                     kept as it is
 *
 * Invariant: what Patchbay never wrote is never removed, nor what another feed's file still names. Items of one
 * identity are one item; if a service holds it twice, both are kept, or both are removed, unless their ids tell which one people added.
 */
import type { Contact, ContactItem, CustomFieldValue, UpdateCustomField, UpdateItem } from '#src/wire/contact.ts';
import {
  agreedValue,
  emptySaid,
  fieldTypeOf,
  fieldValueOf,
  isOvertaken,
  isTakenBack,
  type PlanInput,
  type SlotNames,
  saidValue,
} from './base.ts';
import {
  alikeValue,
  customFieldName,
  customValueOrNull,
  type DesiredItem,
  type FieldName,
  type ItemKind,
  itemFieldName,
  itemIdentity,
  type Slot,
  sameCustomValue,
  sameText,
  scalarNames,
  type WantedSlot,
} from './desired.ts';
import { identitiesOf, itemsOf, listOf, wantedItems } from './items.ts';
import { isLabelOurs, peoplesItems } from './labels.ts';
import type { Change, Note } from './outcome.ts';
import { decideField, type FieldRuling, itemRules, policyOf } from './policies.ts';

/** What becomes of one field that the file names. */
export interface FieldVerdict extends FieldRuling {
  readonly field: FieldName;
  readonly ours: CustomFieldValue;
  readonly theirs: CustomFieldValue;
  /** Null, too, if the file never named the field. */
  readonly said: CustomFieldValue;
  /** Whether the file says something other than before. */
  readonly fileChanged: boolean;
  /** Of the entry of a custom field that the file clears: the other feed whose file names it, so that it stays. */
  readonly namedBy?: string;
  /** Of an e-mail or phone that has another label in the app than in the file. */
  readonly labels?: { readonly ours: string; readonly theirs: string | null };
}

/** In the order of the contact's scalars, then custom fields by name: a stable order, since holds are listed in every run. */
export function judgeFields(input: PlanInput, theirs: Contact): readonly FieldVerdict[] {
  const { ours, base } = input;
  const scalars = scalarNames.flatMap((name) => {
    const wanted = ours.scalars[name];
    return wanted === undefined ? [] : [judge(input, theirs, name, wanted, base.said?.scalars[name])];
  });
  const customFields = ours.customFields.map(({ key, value }) => {
    const said = base.said?.customFields.find((field) => field.key === key)?.value;
    const verdict = judge(input, theirs, customFieldName(key), value, said);
    return value === null ? judgeClear(input, key, verdict) : verdict;
  });
  return [...scalars, ...customFields.sort((left, right) => (left.field < right.field ? -1 : 1))];
}

function judge(
  { base, feed, sequence, adopt, isLinked, restores, policies }: PlanInput,
  contact: Contact,
  field: FieldName,
  ours: CustomFieldValue,
  said: CustomFieldValue | undefined,
): FieldVerdict {
  const isScalar = scalarNames.some((name) => name === field);
  const type = fieldTypeOf(contact, field);
  const same = (left: CustomFieldValue, right: CustomFieldValue): boolean =>
    isScalar && typeof left === 'string' && typeof right === 'string'
      ? sameText(left, right)
      : sameCustomValue(type, left, right);
  const theirs = customValueOrNull(fieldValueOf(contact, field));
  const last = base.stamps.find((one) => one.feed !== feed && one.fields.includes(field))?.feed;
  const lastSays = saidValue(base.others.find((one) => one.feed === last)?.said ?? emptySaid, field);
  const ruling = decideField(policyOf(policies, field), {
    ours,
    said,
    agreed: agreedValue(base.agreed, feed, field),
    theirs,
    isHeld: base.said?.held.includes(field) ?? false,
    isOvertaken: isOvertaken(base.stamps, { feed, sequence }, field),
    isOthers: last !== undefined,
    isAsOthers: lastSays !== undefined && alikeValue(type, lastSays, ours),
    adopt,
    isLinked,
    restores,
    isTakenBack: isTakenBack(base.agreed, field, ours),
    same,
    alike: (left, right) => alikeValue(type, left, right),
  });
  return { field, ...ruling, ours, theirs, said: said ?? null, fileChanged: said === undefined || !same(ours, said) };
}

/**
 * `#CLEAR` of a custom field removes what Patchbay wrote and no other feed still names, as for items; any other value on
 * the service stays. A value that people changed since is held, like every change on both sides.
 */
function judgeClear(
  { base, feed, adopt, itemRemoval, policies }: PlanInput,
  key: string,
  verdict: FieldVerdict,
): FieldVerdict {
  const { decision, theirs, field } = verdict;
  const fileWins = adopt || policyOf(policies, field) === 'source';
  const agreed = agreedValue(base.agreed, feed, field);
  const neverSaid = base.said?.customFields.some((one) => one.key === key) !== true;
  // What this feed did not put there is nothing that it could take away, also where people changed it since. Where the last that was agreed on
  // is that the field is empty, it would be drift from then on: that is held.
  const isOfOthers = agreed === undefined || (neverSaid && customValueOrNull(agreed) !== null);
  if (decision === 'hold' && isOfOthers && !base.said?.held.includes(field))
    return { ...verdict, decision: 'keep', why: 'notOurs' };
  if (decision !== 'write' || (fileWins && itemRemoval === 'owned')) return verdict;
  const isEntry = (one: { readonly key: string; readonly value: CustomFieldValue }) =>
    one.key === key && sameCustomValue(null, one.value, theirs);
  const isOurs = base.owned.customFields.some(isEntry);
  if (!isOurs || itemRemoval !== 'owned') return { ...verdict, decision: 'keep', why: 'notOurs' };
  const naming = base.others.find(({ owns, said }) => owns && said.customFields.some(isEntry));
  if (naming === undefined) return verdict;
  return { ...verdict, decision: 'keep', why: 'otherFeedNames', namedBy: naming.feed };
}

/**
 * The complete list for the body: each custom field that holds a value, so that a service that replaces lists loses none.
 * One that is null and stays null is left out. A key that a service lists twice is written at its first place.
 */
export function sentCustomFields(theirs: Contact, verdicts: readonly FieldVerdict[]): readonly UpdateCustomField[] {
  const written = new Map(
    verdicts.filter(({ decision }) => decision === 'write').map(({ field, ours }) => [field, ours]),
  );
  const sent = theirs.customFields.flatMap(({ id, key, value }): UpdateCustomField[] => {
    const field = customFieldName(key);
    const wanted = written.get(field);
    written.delete(field);
    const place = id === null ? { key } : { id, key };
    if (wanted !== undefined) return [{ ...place, value: wanted }];
    return customValueOrNull(value) === null ? [] : [{ ...place, value }];
  });
  const added = [...written].flatMap(([field, value]) => {
    const key = customKeyOf(field);
    return key === null ? [] : [{ key, value }];
  });
  return [...sent, ...added];
}

/** The key in a custom field's name; null for any other field. */
export function customKeyOf(field: FieldName): string | null {
  return field.startsWith('custom.') ? field.slice('custom.'.length) : null;
}

interface MergedItems {
  /** The complete list for the body: kept and removed items in the service's order, then the added ones. */
  readonly sent: readonly UpdateItem[];
  readonly changes: readonly Change[];
  readonly notes: readonly Note[];
  /** Identities of the added items. */
  readonly added: readonly string[];
  /** Identities that Patchbay owns from now on without a write, since the file wins (adopt). */
  readonly adopted: readonly string[];
  /**
   * Identities without an owner from now on: only a column that the mapping no longer names had said them, or people had added the value once
   * more, and what was Patchbay's has left.
   */
  readonly disowned: readonly string[];
}

export function mergeItems(kind: ItemKind, input: PlanInput, contact: Contact): MergedItems {
  const { base } = input;
  const list = listOf[kind];
  const { removes, fileWins } = itemRules(input.policies[list], input.itemRemoval, input.ours[list]);
  const takesOver = input.adopt || fileWins;
  const everSaid = base.said?.[list] ?? [];
  const said = mappedSlots(everSaid, input.slotNames?.[list] ?? null);
  const wanted = wantedItems(kind, input.ours[list]);
  const owned = new Set(base.owned[list]);
  const named = new Set(wantedItems(kind, nextSlots(kind, said, input.ours[list])).keys());
  const saidByOthers = namedBy(kind, input, () => true);
  const namedByOthers = namedBy(kind, input, ({ owns }) => owns);
  const isNamed = (identity: string) => named.has(identity) || namedByOthers.has(identity);
  const mayDrop = {
    owned: new Set([...wantedItems(kind, said).keys()].filter((identity) => owned.has(identity))),
    all: identitiesOf(kind, contact),
    none: new Set<string>(),
  }[removes];
  const dropped = new Set([...mayDrop].filter((identity) => !isNamed(identity)));
  const peoples = removes === 'owned' && dropped.size > 0 ? peoplesItems(input, kind, contact) : new Set<string>();
  const leftToPeople = new Set<string>();

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
    if (dropped.has(identity) && item.id !== null && peoples.has(item.id)) {
      leftToPeople.add(identity);
      sent.push(kept);
      continue;
    }
    if (dropped.has(identity) && item.id !== null) {
      sent.push({ id: item.id, name: kept.name, value: null });
      changes.push({ field, from: item.value, to: null, why: 'removed', label: item.name });
      continue;
    }
    if (dropped.has(identity)) notes.push(withoutId(field));
    const label = isFirst
      ? newLabel(kind, input, { said, fileWins, isOwned: owned.has(identity) }, item, wanted.get(identity))
      : null;
    if (label?.kind === 'write') {
      sent.push({ ...kept, name: label.to });
      // An item without a label is there all the same.
      changes.push({ field, from: item.name ?? '', to: label.to, why: 'relabelled' });
      continue;
    }
    if (label?.kind === 'keep') notes.push(relabelledByPeople(field));
    sent.push(kept);
  }
  const saidByUs = wantedItems(kind, everSaid);
  const isRestored = (identity: string, value: string): boolean =>
    input.restores && !isTakenBack(base.agreed, itemFieldName(kind, identity), value);
  const added = [...wanted].filter(
    ([identity, { value }]) =>
      !there.has(identity) &&
      (fileWins || isRestored(identity, value) || (!saidByUs.has(identity) && !saidByOthers.has(identity))),
  );
  for (const [identity, item] of added) {
    sent.push({ name: item.label, value: item.value });
    changes.push({ field: itemFieldName(kind, identity), from: null, to: item.value, why: 'added' });
  }
  const isNobodys = (identity: string) => owned.has(identity) && !dropped.has(identity) && !isNamed(identity);
  const unmapped = wantedItems(
    kind,
    everSaid.filter((slot) => !said.includes(slot)),
  );
  return {
    sent,
    changes,
    notes,
    added: added.map(([identity]) => identity),
    adopted: takesOver ? [...wanted.keys()].filter((identity) => there.has(identity) && !owned.has(identity)) : [],
    disowned: [...[...unmapped.keys()].filter(isNobodys), ...leftToPeople],
  };
}

/**
 * What becomes of the items that `mergeItems` neither writes nor notes, for people who ask why: those that the file names, and those that it
 * named before and that are there. What people put there by themselves is not asked about.
 */
export function judgeItems(kind: ItemKind, input: PlanInput, contact: Contact): readonly FieldVerdict[] {
  const list = listOf[kind];
  const { changes, notes } = mergeItems(kind, input, contact);
  const told = new Set([...changes, ...notes].map(({ field }) => field));
  const saidSlots = input.base.said?.[list] ?? [];
  const said = wantedItems(kind, saidSlots);
  const wanted = wantedItems(kind, input.ours[list]);
  const mapped = mappedSlots(saidSlots, input.slotNames?.[list] ?? null);
  const kept = wantedItems(kind, nextSlots(kind, mapped, input.ours[list]));
  const namedByOthers = namedBy(kind, input, ({ owns }) => owns);
  const there = new Map(
    itemsOf(kind, contact).flatMap(({ value }) =>
      value === null ? [] : [[itemIdentity(kind, value), value] as const],
    ),
  );
  const labelsOf = (identity: string): Pick<FieldVerdict, 'labels'> => {
    const ours = wanted.get(identity)?.label;
    const labels = itemsOf(kind, contact).flatMap(({ name, value }) =>
      value !== null && itemIdentity(kind, value) === identity ? [name] : [],
    );
    const [theirs] = labels;
    const isSame = ours === undefined || theirs === undefined || labels.some((label) => sameText(label, ours));
    return isSame ? {} : { labels: { ours, theirs } };
  };
  const why = (identity: string): FieldRuling => {
    if (wanted.has(identity)) {
      if (there.has(identity)) return { decision: 'equal', why: 'equal' };
      return { decision: 'keep', why: said.has(identity) ? 'peopleRemoved' : 'otherFeedRemoved' };
    }
    if (kept.has(identity)) return { decision: 'keep', why: 'notSaidNow' };
    return { decision: 'keep', why: namedByOthers.has(identity) ? 'otherFeedNames' : 'notOurs' };
  };
  return [...new Set([...wanted.keys(), ...said.keys()])]
    .filter((identity) => wanted.has(identity) || there.has(identity))
    .map((identity): FieldVerdict => {
      const values = { ours: wanted.get(identity)?.value ?? null, said: said.get(identity)?.value ?? null };
      const fileChanged = wanted.has(identity) !== said.has(identity);
      const field = itemFieldName(kind, identity);
      return {
        field,
        ...why(identity),
        ...values,
        theirs: there.get(identity) ?? null,
        fileChanged,
        ...labelsOf(identity),
      };
    })
    .filter(({ field }) => !told.has(field));
}

function namedBy(kind: ItemKind, { base }: PlanInput, counts: (other: (typeof base.others)[number]) => boolean) {
  return new Set(base.others.filter(counts).flatMap(({ said }) => [...wantedItems(kind, said[listOf[kind]]).keys()]));
}

/**
 * The decision about the label of an item: null if it is already as wanted, and, unless the file wins, if it is not Patchbay's or
 * the file did not change it.
 */
function newLabel(
  kind: ItemKind,
  input: PlanInput,
  {
    said,
    fileWins,
    isOwned,
  }: { readonly said: readonly Slot[]; readonly fileWins: boolean; readonly isOwned: boolean },
  item: ContactItem,
  wanted: DesiredItem | undefined,
): { kind: 'write'; to: string } | { kind: 'keep' } | null {
  if (wanted === undefined || sameText(wanted.label, item.name)) return null;
  const identity = itemIdentity(kind, wanted.value);
  const isSame = (value: string | null) => value !== null && itemIdentity(kind, value) === identity;
  if (fileWins) {
    const slots = input.base.others.filter(({ owns }) => owns).flatMap((other) => other.said[listOf[kind]]);
    // Two feeds that label an item differently would otherwise take turns without end.
    const isOthers = slots.some(({ items }) =>
      items.some((one) => isSame(one.value) && sameText(one.label, item.name)),
    );
    return isOthers ? null : { kind: 'write', to: wanted.label };
  }
  if (!isOwned) return null;
  // One number may be in two columns: any label that the file had for it is an old one.
  const saidLabels = said.flatMap((slot) => slot.items.filter((one) => isSame(one.value)).map((one) => one.label));
  if (saidLabels.length === 0) return null;
  const isOldLabel = saidLabels.some((label) => sameText(label, wanted.label));
  if (
    isOldLabel &&
    !hasMovedOn(said, input.ours[listOf[kind]], ({ label, value }) => isSame(value) && sameText(label, item.name))
  )
    return null;
  return isLabelOurs(input, { kind, identity }, item.name) ? { kind: 'write', to: wanted.label } : { kind: 'keep' };
}

/** Whether columns had said the item with its label, and each of them says another one today. */
function hasMovedOn(
  said: readonly Slot[],
  ours: readonly WantedSlot[],
  isItem: (item: DesiredItem) => boolean,
): boolean {
  const before = said.filter(({ items }) => items.some(isItem));
  const saysAnother = ({ slot }: Slot): boolean => ours.some((one) => one.slot === slot && one.partial !== true);
  return before.length > 0 && before.every(saysAnother) && !ours.some(({ items }) => items.some(isItem));
}

function withoutId(field: FieldName): Note {
  const message = 'the service gave this item no id, so it cannot be removed: it stays';
  return { field, code: 'itemWithoutId', message };
}

function relabelledByPeople(field: FieldName): Note {
  const message = "the file has another label now, and the app has one that no file gave: kept the app's label";
  return { field, code: 'labelChangedByPeople', message };
}

/**
 * A slot that is present today replaces what it said before; an absent one keeps it, and so protects its items. One with a value that
 * could not be read says both.
 */
export function nextSlots(kind: ItemKind, said: readonly Slot[], ours: readonly WantedSlot[]): readonly Slot[] {
  const speaking = new Set(ours.map((slot) => slot.slot));
  const next = ours.flatMap((one) => {
    if (one.partial !== true) return [one];
    const before = said.filter(({ slot }) => slot === one.slot);
    const items = [...wantedItems(kind, [one, ...before]).values()];
    return items.length + before.length === 0 ? [] : [{ slot: one.slot, items }];
  });
  if (ours.some((slot) => slot.whole)) return next;
  return [...said.filter((slot) => !speaking.has(slot.slot)), ...next];
}

/** Without the columns that the mapping no longer names. @param names null if any column may be a slot. */
export function mappedSlots(said: readonly Slot[], names: SlotNames | null): readonly Slot[] {
  return names === null ? said : said.filter(({ slot }) => names.has(slot));
}

/** Without these items: another feed's file names them, and this feed owns them no longer. */
export function slotsWithout(kind: ItemKind, slots: readonly Slot[], identities: ReadonlySet<string>): readonly Slot[] {
  const isKept = ({ value }: DesiredItem) => !identities.has(itemIdentity(kind, value));
  return slots.every(({ items }) => items.every(isKept))
    ? slots
    : slots.map((slot) => ({ ...slot, items: slot.items.filter(isKept) }));
}
