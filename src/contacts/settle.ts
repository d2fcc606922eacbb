/**
 * Settling: how base moves once a plan has been carried out and its reply verified, or a no-op found true.
 *
 * Invariant: *said* moves only for what was written, kept on purpose or found equal; a held field keeps its old said
 * value and its old seen value, so that the next plan sees the same two changes. Never call it after a write that
 * failed or whose reply did not match: what is not settled stays to be done.
 */

import { type Base, emptyBase, type OwnedItem, type Ownership, type Said, type Seen } from '#src/contacts/base.ts';
import { type DesiredContact, type DesiredScalars, type Slot, scalarNames } from '#src/contacts/desired.ts';
import { customFieldName, type FieldName } from '#src/contacts/field-name.ts';
import { type ItemKind, itemIdentity } from '#src/contacts/item-identity.ts';
import type { Plan, PlanInput } from '#src/contacts/plan.ts';
import { customValueOrNull } from '#src/contacts/same-value.ts';
import type { Contact, ContactCustomField } from '#src/wire/contact.ts';

export interface SettleInput extends PlanInput {
  readonly plan: Plan;
  /** The reply's body. For a no-op or a hold: the read that the plan was made from. */
  readonly reply: Contact;
}

export interface Settled {
  readonly said: Said;
  readonly seen: Seen;
  readonly owned: Ownership;
}

export function settle({ feed, base: remembered, theirs, ours, plan, reply }: SettleInput): Settled {
  // A create starts anew: what was remembered belonged to a contact that is gone.
  const base = plan.kind === 'create' ? emptyBase : remembered;
  const said = nextSaid(base.said, ours, plan);
  return {
    said,
    seen: nextSeen(base, said.held, theirs, reply),
    owned: nextOwnership(base.owned, feed, plan, reply),
  };
}

function nextSaid(old: Said | null, ours: DesiredContact, plan: Plan): Said {
  const heldNow = plan.held.map((field) => field.field);
  const isHeld = new Set<FieldName>(heldNow);
  // A field that today's file is silent about was not settled by it either: it stays held for when the file speaks.
  const named = new Set<FieldName>([
    ...scalarNames.filter((name) => ours.scalars[name] !== undefined),
    ...ours.customFields.map((field) => customFieldName(field.key)),
  ]);
  const heldBefore = (old?.held ?? []).filter((field) => !named.has(field));
  const settledFields = ours.customFields.filter((field) => !isHeld.has(customFieldName(field.key)));
  const settledKeys = new Set(settledFields.map((field) => field.key));
  return {
    scalars: nextSaidScalars(old?.scalars ?? {}, ours.scalars, isHeld),
    emails: nextSlots(old?.emails ?? [], ours.emails),
    phones: nextSlots(old?.phones ?? [], ours.phones),
    customFields: [...(old?.customFields ?? []).filter((field) => !settledKeys.has(field.key)), ...settledFields],
    held: [...heldBefore, ...heldNow],
  };
}

function nextSaidScalars(old: DesiredScalars, ours: DesiredScalars, held: ReadonlySet<FieldName>): DesiredScalars {
  const said: { -readonly [Name in keyof DesiredScalars]: DesiredScalars[Name] } = { ...old };
  for (const name of scalarNames) {
    const value = ours[name];
    if (value !== undefined && !held.has(name)) said[name] = value;
  }
  return said;
}

/** A slot that speaks today replaces what it said; a silent one keeps it, and so protects its items. */
function nextSlots(old: readonly Slot[], ours: readonly Slot[]): Slot[] {
  const speaking = new Set(ours.map((slot) => slot.slot));
  return [...old.filter((slot) => !speaking.has(slot.slot)), ...ours];
}

function nextSeen(base: Base, held: readonly FieldName[], theirs: Contact | null, reply: Contact): Seen {
  const seen = { ...reply, defaultFields: { ...reply.defaultFields }, customFields: withIds(reply, theirs) };
  const before = base.seen;
  if (before === null) return seen;
  if (held.includes('sourceUrl')) seen.sourceUrl = before.sourceUrl;
  for (const name of ['firstName', 'lastName', 'company', 'role'] as const) {
    if (held.includes(name)) seen.defaultFields[name] = before.defaultFields[name];
  }
  const isHeld = (field: ContactCustomField) => held.includes(customFieldName(field.key));
  return {
    ...seen,
    customFields: [
      ...seen.customFields.filter((field) => !isHeld(field)),
      ...before.customFields.filter((field) => isHeld(field)),
    ],
  };
}

/** The reply to a PATCH carries custom fields without their ids (`facts.md`, "Custom fields"): the read knew them. */
function withIds(reply: Contact, theirs: Contact | null): ContactCustomField[] {
  const known = new Map(theirs?.customFields.map((field) => [field.key, field]));
  return reply.customFields.map((field) => ({ ...field, id: field.id ?? known.get(field.key)?.id ?? null }));
}

function nextOwnership(old: Ownership, feed: string, plan: Plan, reply: Contact): Ownership {
  const { emails, phoneNumbers } = reply.defaultFields;
  const present = reply.customFields.filter((field) => customValueOrNull(field.value) !== null);
  const presentKeys = new Set(present.map((field) => field.key));
  const writtenKeys = new Set(plan.written.customFieldKeys);
  return {
    emails: nextOwned(old.emails, feed, plan.written.emails, identities('email', emails)),
    phones: nextOwned(old.phones, feed, plan.written.phones, identities('phone', phoneNumbers)),
    customFields: [
      ...old.customFields.filter((field) => !writtenKeys.has(field.key)),
      ...[...writtenKeys].map((key) => ({ key, feed })),
    ].filter((field) => presentKeys.has(field.key)),
  };
}

/** What is no longer on the service leaves the list: put back by hand one day, it is nobody's. */
function nextOwned(
  old: readonly OwnedItem[],
  feed: string,
  written: readonly string[],
  present: ReadonlySet<string>,
): OwnedItem[] {
  const others = old.filter((item) => !written.includes(item.value));
  return [...others, ...written.map((value) => ({ value, feed }))].filter((item) => present.has(item.value));
}

function identities(kind: ItemKind, items: readonly { value: string | null }[]): Set<string> {
  return new Set(items.flatMap(({ value }) => (value === null ? [] : [itemIdentity(kind, value)])));
}
