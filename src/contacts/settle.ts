/**
 * Settling: how base changes once a plan has been carried out and its reply verified, or a no-op was confirmed.
 *
 * Invariant: *said* moves only for what was written, kept on purpose or found equal; a held field keeps its old said.
 * *agreed* moves only if the reply holds what was written, or theirs was found equal: an edit that was kept never
 * becomes agreed. Never call it after a write that failed or whose reply did not match: what is not settled is still to
 * be done.
 */
import {
  type Base,
  emptyBase,
  emptySaid,
  type OtherSaid,
  type OwnedCustomField,
  type Ownership,
  type PlanInput,
  type Said,
  type Seen,
} from '#src/contacts/base.ts';
import { type DesiredContact, type DesiredScalars, type Slot, scalarNames } from '#src/contacts/desired.ts';
import type { Plan, Written } from '#src/contacts/plan.ts';
import type { Contact, ContactCustomField } from '#src/wire/contact.ts';
import { agreeFor, agreeForAll, type FieldValue, fieldTypeOf, fieldValueOf, stamp, withoutHeldAgain } from './base.ts';
import {
  alikeValue,
  customFieldName,
  type DesiredCustomField,
  type FieldName,
  type ItemKind,
  itemFieldName,
  sameCustomValue,
} from './desired.ts';
import { identitiesOf, itemOf, listOf, wantedItems } from './items.ts';
import { agreeLabels } from './labels.ts';
import { mappedSlots, nextSlots, slotsWithout } from './merge.ts';
import { unsaidOf } from './missing.ts';
import type { Change } from './outcome.ts';

export interface SettleInput extends PlanInput {
  readonly plan: Plan;
  /** The reply's body. For a no-op or a hold: the read from which the plan was made. */
  readonly reply: Contact;
}

/** The whole base from now on; `others` are only the feeds whose said has moved. */
export type Settled = Omit<Base, 'said' | 'seen'> & { readonly said: Said; readonly seen: Seen };

export function settle(input: SettleInput): Settled {
  const { plan, reply, theirs, feed } = input;
  // A create starts anew: what was remembered belonged to a contact that is gone, so that each feed writes its fields again.
  const isNew = plan.kind === 'create';
  const base = isNew ? emptyBase : input.base;
  const said = saidIfSettled(input);
  const others = isNew
    ? input.base.others.map((other) => ({ ...other, said: emptySaid }))
    : givenUp(base.others, said, plan.reasons, reply);
  const fieldsOf = (...decisions: readonly string[]): readonly FieldName[] =>
    plan.verdicts.filter(({ decision }) => decisions.includes(decision)).map(({ field }) => field);
  const valuesOf = (fields: readonly FieldName[]): readonly FieldValue[] =>
    fields.map((field) => ({ field, value: fieldValueOf(reply, field) }));
  const written = agreeForAll(base.agreed, valuesOf(fieldsOf('write')));
  const changed = plan.verdicts
    .filter(
      ({ decision, fileChanged }) => decision === 'write' || (fileChanged && ['equal', 'alike'].includes(decision)),
    )
    .map(({ field }) => field);
  const owned = nextOwnership(base.owned, plan.written, reply);
  const fields = agreeFor(written, feed, valuesOf(fieldsOf('equal', 'alike')));
  const agreed = agreeLabels(fields, { ...input, base }, { said, others, owned });
  return {
    said,
    others,
    agreed: withoutHeldAgain(agreed, isHeldBy(reply)),
    stamps: stamp(base.stamps, input, changed),
    seen: { ...reply, customFields: withIds(reply, theirs) },
    owned,
  };
}

/** Whether the contact holds the value: an item by its identity, any other as a service may store it. */
export function isHeldBy(contact: Contact): (one: FieldValue) => boolean {
  return ({ field, value }) => {
    const item = itemOf(field);
    if (item !== null) return identitiesOf(item.kind, contact).has(item.identity);
    return alikeValue(fieldTypeOf(contact, field), value, fieldValueOf(contact, field));
  };
}

/** What the feed will have said once the plan is carried out. `reply` is null if it is not known yet. */
export function saidIfSettled(input: Omit<SettleInput, 'reply'> & { readonly reply: Contact | null }): Said {
  const { base, ours, plan, reply, slotNames, yieldsItems } = input;
  const old = plan.kind === 'create' ? null : base.said;
  const heldNow = plan.held.map((field) => field.field);
  const isHeld = new Set<FieldName>(heldNow);
  // Today's file did not settle a field that it does not name: the field stays held until a file names it.
  const heldBefore = (old?.held ?? []).filter((field) => !plan.verdicts.some((verdict) => verdict.field === field));
  const settledFields = ours.customFields.filter((field) => !isHeld.has(customFieldName(field.key)));
  const settledKeys = new Set(settledFields.map((field) => field.key));
  const slots = (kind: ItemKind) => {
    const list = listOf[kind];
    const next = nextSlots(kind, mappedSlots(old?.[list] ?? [], slotNames?.[list] ?? null), ours[list]);
    if (!yieldsItems || reply === null) return next;
    const others = base.others.filter(({ owns }) => owns).flatMap(({ said }) => said[list]);
    return slotsWithout(kind, next, presentItems(kind, others, reply));
  };
  const said: Said = {
    scalars: nextSaidScalars(old?.scalars ?? {}, ours, isHeld),
    emails: slots('email'),
    phones: slots('phone'),
    customFields: [...(old?.customFields ?? []).filter((field) => !settledKeys.has(field.key)), ...settledFields],
    held: [...heldBefore, ...heldNow],
  };
  return unsaidOf(said, ours);
}

function nextSaidScalars(old: DesiredScalars, ours: DesiredContact, held: ReadonlySet<FieldName>): DesiredScalars {
  const said: { -readonly [Name in keyof DesiredScalars]: DesiredScalars[Name] } = { ...old };
  for (const name of scalarNames) {
    const value = ours.scalars[name];
    if (value !== undefined && !held.has(name)) said[name] = value;
  }
  return said;
}

type WrittenValue = Pick<Change, 'field' | 'from' | 'to'>;

/**
 * What feeds that own nothing say from now on: those of which something moves. `main` gives up what this feed names. A feed that is gone may
 * come back, and keeps what it said; it gives up what this feed's write has removed, so that a file that names it adds it again.
 * @param now what this feed says, `changes` what its write was to do.
 */
export function givenUp(
  others: readonly OtherSaid[],
  now: Said,
  changes: readonly WrittenValue[],
  contact: Contact,
): readonly OtherSaid[] {
  return others.flatMap((other): readonly OtherSaid[] => {
    if (other.owns) return [];
    const slots = (kind: ItemKind): readonly Slot[] => {
      const list = listOf[kind];
      const leaves = other.exists ? presentItems(kind, now[list], contact) : removedItems(kind, changes, contact);
      return slotsWithout(kind, other.said[list], leaves);
    };
    const before = other.said;
    const [emails, phones] = [slots('email'), slots('phone')];
    const isLeft = (one: DesiredCustomField): boolean => other.exists || !isCleared(one, changes, contact);
    const customFields = before.customFields.filter(isLeft);
    const hasAllFields = customFields.length === before.customFields.length;
    if (emails === before.emails && phones === before.phones && hasAllFields) return [];
    return [{ ...other, said: { ...before, emails, phones, customFields } }];
  });
}

/** Whether this entry of a custom field was to be removed, and the field is empty. */
function isCleared({ key, value }: DesiredCustomField, changes: readonly WrittenValue[], contact: Contact): boolean {
  const name = customFieldName(key);
  return (
    sameCustomValue(null, fieldValueOf(contact, name), null) &&
    changes.some(({ field, from, to }) => field === name && to === null && sameCustomValue(null, from, value))
  );
}

/** What was to be removed and is not there. What people removed is in no write. */
function removedItems(kind: ItemKind, changes: readonly WrittenValue[], contact: Contact): ReadonlySet<string> {
  const there = identitiesOf(kind, contact);
  const removed = changes.flatMap(({ field, to }) => {
    const item = to === null ? itemOf(field) : null;
    return item === null || item.kind !== kind ? [] : [item.identity];
  });
  return new Set(removed.filter((identity) => !there.has(identity)));
}

/** What the slots name and the contact holds. No feed gives up what people removed: it must not be added again. */
function presentItems(kind: ItemKind, slots: readonly Slot[], contact: Contact): ReadonlySet<string> {
  const there = identitiesOf(kind, contact);
  return new Set([...wantedItems(kind, slots).keys()].filter((identity) => there.has(identity)));
}

/** The reply to a PATCH carries custom fields without their ids (`docs/facts.md`, "Custom fields"): the read had them. */
export function withIds(reply: Contact, theirs: Contact | null): ContactCustomField[] {
  const known = new Map(theirs?.customFields.map((field) => [field.key, field]));
  return reply.customFields.map((field) => ({ ...field, id: field.id ?? known.get(field.key)?.id ?? null }));
}

/** What is no longer on the service leaves the list: if a person adds it again one day, it has no owner. */
export function nextOwnership(old: Ownership, written: Written, reply: Contact): Ownership {
  const items = (kind: ItemKind): readonly string[] => {
    const list = listOf[kind];
    const present = identitiesOf(kind, reply);
    const disowned = new Set(written.disowned[list]);
    return [...new Set([...old[list], ...written[list]])].filter((one) => present.has(one) && !disowned.has(one));
  };
  const isDisowned = (one: OwnedCustomField): boolean =>
    written.disowned.customFields.some(({ key, value }) => one.key === key && sameCustomValue(null, one.value, value));
  const isPresent = ({ key, value }: OwnedCustomField) =>
    value !== null &&
    reply.customFields.some((field) => field.key === key && sameCustomValue(field.type, field.value, value));
  return {
    emails: items('email'),
    phones: items('phone'),
    customFields: withEntries(old.customFields, written.customFields).filter(
      (one) => isPresent(one) && !isDisowned(one),
    ),
  };
}

/** A key has one value: what is written replaces what was there. */
function withEntries(
  old: readonly OwnedCustomField[],
  written: readonly OwnedCustomField[],
): readonly OwnedCustomField[] {
  const keys = new Set(written.map(({ key }) => key));
  return [...old.filter(({ key }) => !keys.has(key)), ...written];
}

/**
 * Ownership if a write lands whose reply may never arrive. It is entered before the write is sent: otherwise a lost reply
 * would leave the written items without an owner, and they would never be removed again. Entries for what did not land
 * leave the list with the next settled read. What is taken over without a write is no part of it: a later read shows it as it was.
 */
export function ownedIfLanded(owned: Ownership, written: Written): Ownership {
  const unwritten = new Set(written.unwritten.map(({ field }) => field));
  const items = (kind: ItemKind) => {
    const list = listOf[kind];
    const added = written[list].filter((identity) => !unwritten.has(itemFieldName(kind, identity)));
    return [...new Set([...owned[list], ...added])];
  };
  const isNew = ({ key, value }: OwnedCustomField) =>
    !unwritten.has(customFieldName(key)) &&
    !owned.customFields.some((one) => one.key === key && sameCustomValue(null, one.value, value));
  return {
    emails: items('email'),
    phones: items('phone'),
    customFields: [...owned.customFields, ...written.customFields.filter(isNew)],
  };
}
