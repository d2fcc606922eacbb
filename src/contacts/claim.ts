/**
 * A claim: what a write is about to change, entered before it is sent; what of it has landed, if no answer came (`docs/rules.md`,
 * "One contact per key", step 6); and what the journal keeps of each write that landed.
 *
 * A doubt is resolved field by field and exactly, by a read after the horizon:
 *
 *   theirs as before the write              it did not land, and is written again
 *   theirs as it was sent, or alike         it landed: file and app agree
 *   any other value                         people's
 *
 * Nothing is inferred from one field about another: people may have edited the contact meanwhile.
 */
import { type Base, emptySaid, type PlanInput, type Said } from '#src/contacts/base.ts';
import { type DesiredCustomField, type Slot, scalarNames } from '#src/contacts/desired.ts';
import type { CreatePlan, PatchPlan, Plan, Written } from '#src/contacts/plan.ts';
import { givenUp, isHeldBy, saidIfSettled } from '#src/contacts/settle.ts';
import type { Contact, ContactItem, CustomFieldValue } from '#src/wire/contact.ts';
import {
  agreeAgain,
  agreedWith,
  agreeForAll,
  type FieldValue,
  fieldTypeOf,
  fieldValueOf,
  isExactly,
  stamp,
} from './base.ts';
import {
  alikeValue,
  customFieldName,
  type FieldName,
  type ItemKind,
  itemFieldName,
  itemIdentity,
  sameText,
} from './desired.ts';
import { identitiesOf, itemOf, itemsOf, listOf, wantedItems } from './items.ts';
import { agreeLabels, isLabelOurs, textOf } from './labels.ts';
import type { Change, JournalChange, JournalEntry } from './outcome.ts';

interface ClaimedField {
  readonly field: FieldName;
  /** What the service held when the write was planned. */
  readonly from: CustomFieldValue;
  readonly to: CustomFieldValue;
  /** Whose value `from` is, for the journal. */
  readonly agreedWith?: readonly string[];
  /** Of an undo: those who had agreed on `to`. Absent if all had, or the value is a file's. */
  readonly agreeAgain?: readonly string[];
}

type ClaimedItem = Change & Pick<JournalChange, 'agreedWith'> & Pick<ClaimedField, 'agreeAgain'>;

export interface Claim {
  readonly kind: 'create' | 'patch';
  readonly feed: string;
  /** Of the run whose file is applied. */
  readonly sequence: number;
  /** The source that a create in doubt gave, which identifies the contact that it made. Null if it gave none. */
  readonly source: string | null;
  /** The write gives a contact its key that had none. */
  readonly links?: true;
  readonly fields: readonly ClaimedField[];
  /** The e-mails and phones that it adds, removes or relabels; absent in claims of an older ledger. */
  readonly items?: readonly ClaimedItem[];
  /** What the feed will have said. */
  readonly said: Said;
  /** The run whose write it is; absent in claims of an older ledger. */
  readonly runId?: string;
  /** Of an undo: the contact that it makes or links is the one that files spoke of, and no feed forgets what it has said. */
  readonly isOfUndo?: true;
  /** What has landed of it is in the journal. */
  readonly isTold?: true;
}

/**
 * What to remember before a write is sent; null if the plan writes nothing. `createdAs`: the source of a create whose
 * contact was found after a doubt and is not bound yet; the claim of its patch replaces that of the create.
 * @param plan that of the input.
 */
export function claimOf(input: PlanInput, plan: Plan, createdAs: string | null = null): Claim | null {
  if (plan.body === null) return null;
  return {
    kind: plan.kind,
    feed: input.feed,
    sequence: input.sequence,
    source: plan.kind === 'create' ? (plan.body.source ?? null) : createdAs,
    ...(input.ours.undo === undefined ? {} : { isOfUndo: true }),
    ...(plan.kind === 'patch' && plan.body.externalId !== undefined ? { links: true } : {}),
    fields: plan.verdicts
      .filter(({ decision }) => decision === 'write')
      .map(({ field, theirs, ours }) => ({
        ...ofWhom(input, plan.kind, { field, from: theirs, to: ours }),
        ...restoredFor(input, field),
      })),
    items: plan.reasons
      .filter(({ field }) => itemOf(field) !== null)
      .map((change) => ({
        ...withLabel(ofWhom(input, plan.kind, change), labelSent(plan, change.field)),
        ...(change.why === 'relabelled' ? restoredFor(input, change.field, true) : {}),
      })),
    // An undo never moves what a file has said.
    said:
      input.ours.undo === undefined
        ? saidIfSettled({ ...input, plan, reply: input.theirs ?? null })
        : (input.base.said ?? emptySaid),
  };
}

/** The change with whose value, or label, it takes away. A contact that is made has none to take. */
function ofWhom<One extends Pick<Change, 'field' | 'from' | 'to'> & Partial<Pick<Change, 'why'>>>(
  { base, feed }: Pick<PlanInput, 'base' | 'feed'>,
  kind: Plan['kind'],
  change: One,
): One & Pick<JournalChange, 'agreedWith'> {
  if (kind === 'create') return change;
  const item = itemOf(change.field);
  if (item === null) {
    const feeds = agreedWith(base, feed, change.field, change.from);
    return feeds === undefined ? change : { ...change, agreedWith: feeds };
  }
  const isPeoples =
    change.why === 'relabelled'
      ? !isLabelOurs({ base, feed }, item, textOf(change.from))
      : change.to === null && !base.owned[listOf[item.kind]].includes(item.identity);
  return isPeoples ? { ...change, agreedWith: [] } : change;
}

function restoredFor({ ours }: PlanInput, field: FieldName, isLabel = false): Pick<ClaimedField, 'agreeAgain'> {
  const feeds = ours.undo?.changes.find((one) => one.field === field && (one.isLabel ?? false) === isLabel)?.agreedWith;
  return feeds === undefined ? {} : { agreeAgain: feeds };
}

/** Whether the contact is the one that the create made: no other tool gives that source. */
export function isMadeBy({ source }: Claim, found: Contact): boolean {
  return source !== null && source === found.source;
}

/**
 * The base with what has landed of the claim. `feed` is the feed of the base: another feed's said moves among `others`.
 * @returns the same base if nothing landed.
 */
export function resolveClaim(before: Base, claim: Claim, feed: string, found: Contact): Base {
  const peoples = addedAgain(before, claim, found);
  if (peoples.length === 0) return resolved(before, claim, feed, found);
  const isOurs = (kind: ItemKind) => (identity: string) =>
    !peoples.some((one) => one.kind === kind && one.identity === identity);
  const { emails, phones, customFields } = before.owned;
  const owned = { emails: emails.filter(isOurs('email')), phones: phones.filter(isOurs('phone')), customFields };
  const items = (kind: ItemKind) =>
    itemsOf(kind, found).filter(({ value }) => value === null || isOurs(kind)(itemIdentity(kind, value)));
  const defaultFields = { ...found.defaultFields, emails: items('email'), phoneNumbers: items('phone') };
  return resolved({ ...before, owned }, claim, feed, { ...found, defaultFields });
}

/**
 * The e-mails and phones that the write has removed and people have added again since: under another id than they had, with another label, or
 * beside items that still have their ids. Where a service gives all items other ids, the write did not land.
 */
function addedAgain({ seen }: Base, claim: Claim, found: Contact): readonly Exclude<ReturnType<typeof itemOf>, null>[] {
  if (seen === null) return [];
  const idsOf = (kind: ItemKind, contact: Contact) => itemsOf(kind, contact).flatMap(({ id }) => id ?? []);
  const known = new Set([...idsOf('email', seen), ...idsOf('phone', seen)]);
  const isStable = [...idsOf('email', found), ...idsOf('phone', found)].some((id) => known.has(id));
  return (claim.items ?? []).flatMap(({ field, to, label }) => {
    const item = to === null ? itemOf(field) : null;
    if (item === null) return [];
    const isNamed = ({ value }: ContactItem) => value !== null && itemIdentity(item.kind, value) === item.identity;
    const [was, is] = [seen, found].map((one) => itemsOf(item.kind, one).filter(isNamed));
    const isAnother = ({ id, name }: ContactItem): boolean =>
      id !== null && !known.has(id) && (isStable || !sameText(name, label ?? null));
    return was?.some(({ id }) => id !== null) === true && is !== undefined && is.length > 0 && is.every(isAnother)
      ? [item]
      : [];
  });
}

function resolved(base: Base, claim: Claim, feed: string, found: Contact): Base {
  const landed = claim.fields.filter(({ field, from, to }) => {
    const theirs = fieldValueOf(found, field);
    return !isExactly(theirs, from) && alikeValue(fieldTypeOf(found, field), theirs, to);
  });
  const fields = landed.map(({ field }) => field);
  const before = claim.feed === feed ? base.said : (base.others.find((one) => one.feed === claim.feed)?.said ?? null);
  const said = landedSaid(before ?? emptySaid, claim, new Set(fields), found);
  const labels = (claim.items ?? []).filter(
    ({ why, field, to }) => why === 'relabelled' && alikeValue(null, labelIn(found, field), textOf(to)),
  );
  if (landed.length + labels.length === 0 && said === (before ?? emptySaid)) return base;
  const changes = claim.isOfUndo ? [] : [...landed, ...(claim.items ?? [])];
  const moved = new Map(givenUp(base.others, said, changes, found).map((one) => [one.feed, one]));
  const next = {
    ...base,
    others: base.others.map((one) => moved.get(one.feed) ?? one),
    agreed: landed.reduce(
      (before, one) => agreeAgain(before, one.agreeAgain, { field: one.field, value: fieldValueOf(found, one.field) }),
      agreeForAll(
        base.agreed,
        labels.map((one) => labelLanded(one, labelIn(found, one.field))),
      ),
    ),
    stamps: stamp(base.stamps, claim, fields),
  };
  const other = base.others.find((one) => one.feed === claim.feed) ?? { feed: claim.feed, exists: true, owns: true };
  const saids =
    claim.feed === feed
      ? { said }
      : { others: [...next.others.filter((one) => one.feed !== claim.feed), { ...other, said }] };
  return withLabelsLeft(base, claim, found, { ...next, ...saids });
}

/** With what is agreed about labels that the claim leaves as they were, also where no feed says them any more. */
function withLabelsLeft(base: Base, { feed, items = [] }: Claim, found: Contact, after: Base): Base {
  const isLeft = (kind: ItemKind) => (one: ContactItem) => {
    const field = itemFieldName(kind, itemIdentity(kind, one.value ?? ''));
    return !items.some((claimed) => claimed.field === field);
  };
  const left = (kind: ItemKind) => itemsOf(kind, found).filter(isLeft(kind));
  const defaultFields = { ...found.defaultFields, emails: left('email'), phoneNumbers: left('phone') };
  const reply = { ...found, defaultFields };
  const input = { base, feed, ours: { emails: [], phones: [] }, plan: { reasons: [] }, reply };
  return { ...after, agreed: agreeLabels(after.agreed, input, after) };
}

/** The label that is Patchbay's own from then on. One that an undo has given back may be people's: then it is the one before, which is gone. */
function labelLanded({ field, from, agreeAgain: whose }: ClaimedItem, label: string | null): FieldValue {
  return { field, value: whose === undefined ? label : from };
}

/** Of a field that has landed the feed says what the claim says, also where that is nothing. */
function landedSaid(before: Said, claim: Claim, fields: ReadonlySet<FieldName>, found: Contact): Said {
  const emails = landedSlots('email', before.emails, claim.said.emails, found);
  const phones = landedSlots('phone', before.phones, claim.said.phones, found);
  if (fields.size === 0 && emails === before.emails && phones === before.phones) return before;
  const hasLanded = ({ key }: DesiredCustomField) => fields.has(customFieldName(key));
  return {
    ...before,
    scalars: Object.fromEntries(
      scalarNames.flatMap((name) => {
        const { [name]: value } = fields.has(name) ? claim.said.scalars : before.scalars;
        return value === undefined ? [] : [[name, value]];
      }),
    ),
    emails,
    phones,
    customFields: [
      ...before.customFields.filter((one) => !hasLanded(one)),
      ...claim.said.customFields.filter(hasLanded),
    ],
  };
}

/**
 * A slot has landed if all that it wants is there, and nothing that it alone had said before. With it goes a slot that now says what it
 * said before and people have removed: else no slot would say it any more, and it would be put back.
 */
function landedSlots(kind: ItemKind, before: readonly Slot[], after: readonly Slot[], found: Contact): readonly Slot[] {
  const there = identitiesOf(kind, found);
  const identities = (slots: readonly Slot[]): ReadonlySet<string> => new Set(wantedItems(kind, slots).keys());
  const [said, wanted] = [identities(before), identities(after)];
  const ofSlot = ({ slot }: Slot, slots: readonly Slot[]) => slots.filter((one) => one.slot === slot);
  const isNews = (slot: Slot): boolean => {
    const [old, now] = [ofSlot(slot, before), [slot]].map((slots) => JSON.stringify([...identities(slots)]));
    return ofSlot(slot, before).length === 0 || old !== now;
  };
  /** Nothing that the slot had said, and no slot says any more, is left. */
  const isGone = (slot: Slot): boolean =>
    [...identities(ofSlot(slot, before))].every((identity) => wanted.has(identity) || !there.has(identity));
  const landed = after.filter(
    (slot) => isNews(slot) && isGone(slot) && [...identities([slot])].every((identity) => there.has(identity)),
  );
  const saidWith = (slots: readonly Slot[]): readonly Slot[] => [
    ...before.filter((slot) => ofSlot(slot, slots).length === 0),
    ...slots,
  ];
  const unsaid = (slots: readonly Slot[]): readonly string[] => {
    const still = identities(saidWith(slots));
    return [...said].filter((identity) => wanted.has(identity) && !still.has(identity));
  };
  const lost = unsaid(landed);
  const others = after.filter((slot) => {
    const now = [...identities([slot])];
    const isOld = now.every((identity) => there.has(identity) || said.has(identity));
    return !landed.includes(slot) && isGone(slot) && isOld && now.some((identity) => lost.includes(identity));
  });
  const next = [...landed, ...others];
  return next.length === 0 || unsaid(next).length > 0 ? before : saidWith(next);
}

/**
 * What the journal keeps of a write that was answered: `reply` shows what came of it.
 * @param input what the plan was made from.
 */
export function journalOfReply(
  input: Pick<PlanInput, 'base' | 'feed'>,
  { kind, body, reasons, written }: CreatePlan | PatchPlan,
  reply: Contact,
): JournalEntry {
  const isLink = kind === 'patch' && body.externalId !== undefined;
  const changes = reasons
    .filter((change) => hasLanded(change, reply))
    .map((change) => ({ ...change, to: valueLeft(change, reply) }))
    .map((change) => withLabel(ofWhom(input, kind, change), labelIn(reply, change.field)));
  const all = [...changes, ...ownerChanges(written, reply)];
  return { runId: null, contactId: reply.id, kind: isLink ? 'link' : kind, changes: all, ...sourceOf(kind, reply) };
}

/** What the journal keeps where nothing is written; null where no value has another owner. */
export function journalOfOwners({ written }: Plan, theirs: Contact): JournalEntry | null {
  const changes = ownerChanges(written, theirs);
  return changes.length === 0 ? null : { runId: null, contactId: theirs.id, kind: 'adopt', changes };
}

/** Of those values that the contact still holds. */
function ownerChanges({ unwritten }: Written, contact: Contact): readonly JournalChange[] {
  return unwritten
    .filter(isHeldBy(contact))
    .map(({ field, value, isOurs }) => ({ field, from: value, to: value, why: isOurs ? 'adopted' : 'givenBack' }));
}

/** What the journal keeps of a write without an answer; null where nothing of it has landed, or the journal has it. */
export function journalOfClaim(claim: Claim, found: Contact): JournalEntry | null {
  const { kind, fields, items = [], links, source, isTold, runId = null } = claim;
  // Another tool's contact is no create of ours, whatever it holds.
  if (isTold || (kind === 'create' && source !== null && !isMadeBy(claim, found))) return null;
  const landed = fields.filter((one) => {
    const theirs = fieldValueOf(found, one.field);
    return hasLanded(one, found) && alikeValue(fieldTypeOf(found, one.field), theirs, one.to);
  });
  const changes = [
    ...landed.map(({ agreeAgain: _, ...one }) => ({
      ...one,
      to: fieldValueOf(found, one.field),
      why: 'landed' as const,
    })),
    ...items
      .filter((one) => hasLanded(one, found))
      .map(({ agreeAgain: _, ...one }) => ({
        ...withLabel(one, labelIn(found, one.field)),
        to: valueLeft(one, found),
        why: 'landed' as const,
      })),
  ];
  const isKnown = kind === 'create' ? isMadeBy(claim, found) : links === true && found.externalId !== null;
  if (changes.length === 0 && !isKnown) return null;
  return { runId, contactId: found.id, kind: links ? 'link' : kind, changes, ...sourceOf(kind, found) };
}

/** No write but a create gives a source. */
function sourceOf(kind: Claim['kind'], { source }: Contact): Pick<JournalEntry, 'source'> {
  return kind === 'create' ? { source } : {};
}

/** An item that was added, with the label that it got, where none is known yet: an undo takes it back where that is still its label. */
function withLabel<One extends Pick<Change, 'field' | 'from' | 'to' | 'label'>>(
  change: One,
  label: string | null,
): One & Pick<Change, 'label'> {
  if (change.from !== null || itemOf(change.field) === null || change.label !== undefined) return change;
  return { ...change, label };
}

/** As the service answered it. A change of a label or a removal is as it was planned. */
function valueLeft({ field, from, to }: Pick<Change, 'field' | 'from' | 'to'>, reply: Contact): CustomFieldValue {
  if (itemOf(field) === null) return fieldValueOf(reply, field);
  return from === null ? (itemIn(reply, field)?.value ?? to) : to;
}

/** What a write in doubt has left an item with, whatever people make of that before its contact is read. */
function labelSent({ expected }: CreatePlan | PatchPlan, field: FieldName): string | null {
  const item = itemOf(field);
  if (item === null) return null;
  const { kind, identity } = item;
  return expected[listOf[kind]].find(({ value }) => itemIdentity(kind, value) === identity)?.label ?? null;
}

/** The label of the first item of that name; null where there is none. */
export function labelIn(contact: Contact | null, field: FieldName): string | null {
  return contact === null ? null : (itemIn(contact, field)?.name ?? null);
}

function itemIn(contact: Contact, field: FieldName): ContactItem | undefined {
  const item = itemOf(field);
  if (item === null) return undefined;
  const isNamed = ({ value }: ContactItem) => value !== null && itemIdentity(item.kind, value) === item.identity;
  return itemsOf(item.kind, contact).find(isNamed);
}

/** Whether the contact shows the change of an item, or another value of a field than before. */
function hasLanded({ field, from, to }: Pick<Change, 'field' | 'from' | 'to'>, contact: Contact): boolean {
  const item = itemOf(field);
  if (item === null) return !isExactly(fieldValueOf(contact, field), from);
  const there = itemsOf(item.kind, contact).filter(
    ({ value }) => value !== null && itemIdentity(item.kind, value) === item.identity,
  );
  if (from === null) return there.length > 0;
  if (to === null) return there.length === 0;
  return there.some(({ name }) => typeof to === 'string' && sameText(name, to));
}
