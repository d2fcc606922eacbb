/**
 * The plan: what to do with one contact, decided from three pictures and carried out elsewhere (`src/upsert`); with the
 * bodies that it sends and the replies that it expects.
 *
 *   base    what the feeds' files last said, what file and app agreed on, what the service last returned
 *   theirs  what the service holds now: a fresh read, null if it holds nothing under the key
 *   ours    what the file says
 *
 * Invariant: the body of a patch gives the same contact on a service that merges and on one that replaces
 * (`docs/facts.md`, "Consequence"), and there is no body if nothing differs. The same pictures give the same plan.
 *
 * A contact without an externalId is *linked*: its plan is always a patch, which gives it the key.
 */
import type {
  Contact,
  CreateContactBody,
  CustomFieldValue,
  UpdateContactBody,
  UpdateCustomField,
  UpdateItem,
} from '#src/wire/contact.ts';
import { nobodyOwns, type OwnedCustomField, type Ownership, type PlanInput } from './base.ts';
import {
  customFieldName,
  customValueOrNull,
  type DesiredContact,
  type FieldName,
  type ItemKind,
  itemFieldName,
  itemIdentity,
  type OwnedValue,
  type ScalarName,
  type Slot,
  sameCustomValue,
  scalarNames,
  scalarOf,
  textOrNull,
} from './desired.ts';
import { itemsOf as itemsIn, wantedItems } from './items.ts';
import { customKeyOf, type FieldVerdict, judgeFields, mergeItems, sentCustomFields } from './merge.ts';
import { type Change, fieldChange, type HeldField, type Note } from './outcome.ts';
import { policyOf } from './policies.ts';

/** What Patchbay owns once the plan is carried out, and what it no longer owns. Identities of items. */
export interface Written {
  readonly emails: readonly string[];
  readonly phones: readonly string[];
  readonly customFields: readonly OwnedCustomField[];
  readonly disowned: Ownership;
  /** Of all that, the values which the contact holds already, and which it takes over from people, or an undo gives back to them. */
  readonly unwritten: readonly OwnedValue[];
}

interface PlanFacts {
  /** Every difference that is written, in the order of the contact's fields. */
  readonly reasons: readonly Change[];
  /** The decision about each scalar and custom field that the file names. */
  readonly verdicts: readonly FieldVerdict[];
  readonly held: readonly HeldField[];
  /** Fields that are left to another feed's later change. */
  readonly passed: readonly FieldName[];
  readonly notes: readonly Note[];
  /** Scalars and custom fields set to null. */
  readonly clears: number;
  /** E-mails and phones removed. */
  readonly removals: number;
  readonly written: Written;
}

export type Plan = CreatePlan | PatchPlan | DeletePlan | IdlePlan;

export interface CreatePlan extends PlanFacts {
  readonly kind: 'create';
  readonly body: CreateContactBody;
  readonly expected: ExpectedContact;
}

/** A patch may hold fields, too. */
export interface PatchPlan extends PlanFacts {
  readonly kind: 'patch';
  readonly body: UpdateContactBody;
  readonly expected: ExpectedContact;
}

/** Of an undo alone: the contact that its run made is deleted. */
export interface DeletePlan extends PlanFacts {
  readonly kind: 'delete';
  readonly body: null;
  readonly expected: null;
}

/** Nothing is written. `hold`: some field waits for a person. */
export interface IdlePlan extends PlanFacts {
  readonly kind: 'noop' | 'hold';
  readonly body: null;
  readonly expected: null;
}

export function planContact(input: PlanInput): Plan {
  return input.theirs === null ? planCreate(input) : planUpdate(input, input.theirs);
}

/** There is no contact to compare with; base belongs to one that is gone, and is not used. */
export function planCreate({ ours, sourceLabel }: PlanInput): CreatePlan {
  const body = createBody(ours, sourceLabel);
  const expected = expectedAfterCreate(ours.key, body);
  const named = [
    ...scalarNames.flatMap((name) => {
      const value = ours.scalars[name];
      return value === undefined ? [] : [{ field: name, value: value === '' ? null : value }];
    }),
    ...ours.customFields.map(({ key, value }) => ({ field: customFieldName(key), value: customValueOrNull(value) })),
  ];
  const verdicts = named.map(
    ({ field, value }): FieldVerdict => ({
      field,
      decision: value === null ? 'equal' : 'write',
      why: 'created',
      ours: value,
      theirs: null,
      said: null,
      fileChanged: true,
    }),
  );
  const itemChanges = (kind: ItemKind, items: readonly { value: string }[]) =>
    items.map(({ value }) => fieldChange(itemFieldName(kind, itemIdentity(kind, value)), null, value));
  const writes = verdicts
    .filter(({ decision }) => decision === 'write')
    .map(({ field, ours: value }) => fieldChange(field, null, value));
  return {
    kind: 'create',
    body,
    expected,
    reasons: inContactOrder(writes, itemChanges('email', expected.emails), itemChanges('phone', expected.phones)),
    verdicts,
    held: [],
    passed: [],
    notes: [],
    clears: 0,
    removals: 0,
    written: {
      emails: expected.emails.map(({ value }) => itemIdentity('email', value)),
      phones: expected.phones.map(({ value }) => itemIdentity('phone', value)),
      customFields: expected.customFields.map(({ key, value }) => ({ key, value })),
      disowned: nobodyOwns,
      unwritten: [],
    },
  };
}

/** Changes as a contact shows its fields: scalars, e-mails, phones, custom fields. */
export function inContactOrder(
  fields: readonly Change[],
  emails: readonly Change[],
  phones: readonly Change[],
): readonly Change[] {
  const isCustom = ({ field }: Change): boolean => customKeyOf(field) !== null;
  return [...fields.filter((one) => !isCustom(one)), ...emails, ...phones, ...fields.filter(isCustom)];
}

export function planUpdate(input: PlanInput, theirs: Contact): PatchPlan | IdlePlan {
  const { ours } = input;
  const verdicts = judgeFields(input, theirs);
  const emails = mergeItems('email', input, theirs);
  const phones = mergeItems('phone', input, theirs);
  const writes = verdicts.filter(({ decision }) => decision === 'write');
  const changes = writes.map((one) => fieldChange(one.field, one.theirs, one.ours));
  const reasons = inContactOrder(changes, emails.changes, phones.changes);
  const held = verdicts.filter(({ decision }) => decision === 'hold');
  const fileWins = (field: FieldName): boolean => input.adopt || policyOf(input.policies, field) === 'source';
  const adopted = verdicts.flatMap(({ field, decision, ours: value }) => {
    const key = customKeyOf(field);
    const isAdopted = decision === 'equal' && fileWins(field) && !isOwned(input, key, value);
    return isAdopted && key !== null && value !== null ? [{ field, value, isOurs: true }] : [];
  });
  const facts: PlanFacts = {
    reasons,
    verdicts,
    held: held.map(({ field, said, theirs: there, ours: wanted }) => ({ field, said, theirs: there, ours: wanted })),
    passed: verdicts.filter(({ decision }) => decision === 'pass').map(({ field }) => field),
    notes: [...notesOf(verdicts, ours), ...emails.notes, ...phones.notes],
    clears: reasons.filter((change) => change.why === 'cleared').length,
    removals: reasons.filter((change) => change.why === 'removed').length,
    written: {
      emails: [...emails.added, ...emails.adopted],
      phones: [...phones.added, ...phones.adopted],
      customFields: [...writes.map(({ field, ours: value }) => ({ field, value })), ...adopted].flatMap(
        ({ field, value }) => {
          const key = customKeyOf(field);
          return key === null ? [] : [{ key, value }];
        },
      ),
      disowned: { ...nobodyOwns, emails: emails.disowned, phones: phones.disowned },
      unwritten: [
        ...adoptedItems('email', emails.adopted, theirs),
        ...adoptedItems('phone', phones.adopted, theirs),
        ...adopted,
      ],
    },
  };
  if (reasons.length === 0 && !isLinked(theirs)) {
    return { ...facts, kind: held.length === 0 ? 'noop' : 'hold', body: null, expected: null };
  }
  const lists = patchBody(theirs, writes, emails.sent, phones.sent, sentCustomFields(theirs, verdicts));
  const body = isLinked(theirs) ? { externalId: ours.key, ...lists } : lists;
  return { ...facts, kind: 'patch', body, expected: expectedAfterUpdate(ours.key, body, theirs) };
}

/** With their values as the contact holds them. */
function adoptedItems(kind: ItemKind, identities: readonly string[], theirs: Contact): readonly OwnedValue[] {
  const adopted = new Set(identities);
  return itemsIn(kind, theirs).flatMap(({ value }) => {
    const identity = itemIdentity(kind, value ?? '');
    // One that the contact holds twice is one item.
    return adopted.delete(identity) ? [{ field: itemFieldName(kind, identity), value, isOurs: true }] : [];
  });
}

function isOwned({ base }: PlanInput, key: string | null, value: CustomFieldValue): boolean {
  return base.owned.customFields.some((one) => one.key === key && sameCustomValue(null, one.value, value));
}

/** The body of a PATCH that writes these verdicts and these items, and the reply that it expects. */
export function patchOf(
  theirs: Contact,
  key: string,
  verdicts: readonly FieldVerdict[],
  emails: readonly UpdateItem[],
  phones: readonly UpdateItem[],
): Pick<PatchPlan, 'body' | 'expected'> {
  const writes = verdicts.filter(({ decision }) => decision === 'write');
  const body = patchBody(theirs, writes, emails, phones, sentCustomFields(theirs, verdicts));
  return { body, expected: expectedAfterUpdate(key, body, theirs) };
}

/** Whether the plan for this contact gives it its key: it has none. */
export function isLinked({ externalId }: Contact): boolean {
  return textOrNull(externalId) === null;
}

function notesOf(verdicts: readonly FieldVerdict[], { taken }: DesiredContact): readonly Note[] {
  return verdicts.flatMap(({ field, decision, ours, namedBy }): readonly Note[] => {
    if (decision === 'alike') {
      const message = "it differs from the app's value in case or spaces only: kept the app's";
      return [{ field, code: 'spelling', message }];
    }
    if (decision === 'pass') {
      const message = 'a later file of another feed changed it: kept that value';
      return [{ field, code: 'overtaken', message }];
    }
    // A person has decided that it goes, and reads why it does not.
    if (decision === 'keep' && taken !== undefined && ours === null) {
      const because =
        namedBy === undefined ? 'upsert.itemRemoval is none' : `the file of feed ${namedBy} names it, too`;
      return [{ field, code: 'notCleared', message: `it stays, since ${because}` }];
    }
    return [];
  });
}

/** The body that creates a contact (`docs/interface.md`, 4.1): what is null or not wanted is left out. */
function createBody(ours: DesiredContact, sourceLabel: string | null): CreateContactBody {
  const source = ours.source ?? sourceLabel;
  const sourceUrl = ours.scalars.sourceUrl ?? null;
  const others: { [Name in 'lastName' | 'company' | 'role']?: string } = {};
  for (const name of ['lastName', 'company', 'role'] as const) {
    const value = ours.scalars[name] ?? null;
    if (value !== null) others[name] = value;
  }
  const emails = itemsOf('email', ours.emails);
  const phoneNumbers = itemsOf('phone', ours.phones);
  const customFields = ours.customFields.filter((field) => customValueOrNull(field.value) !== null);
  return {
    externalId: ours.key,
    ...(source === null ? {} : { source }),
    ...(sourceUrl === null ? {} : { sourceUrl }),
    defaultFields: {
      // The one member that is required, even if it is null (`docs/facts.md`, "required on create").
      firstName: ours.scalars.firstName ?? null,
      ...others,
      ...(emails.length === 0 ? {} : { emails }),
      ...(phoneNumbers.length === 0 ? {} : { phoneNumbers }),
    },
    ...(customFields.length === 0 ? {} : { customFields }),
  };
}

function itemsOf(kind: ItemKind, slots: readonly Slot[]): { name: string; value: string }[] {
  return [...wantedItems(kind, slots).values()].map(({ label, value }) => ({ name: label, value }));
}

/**
 * The body of an update. It gives the same contact on a service that merges and on one that replaces (`docs/facts.md`,
 * "Consequence"), since it holds all that the contact is to hold. A scalar that is null and stays null is left out: a
 * service that merges keeps it null, one that replaces makes it null.
 */
function patchBody(
  theirs: Contact,
  written: readonly FieldVerdict[],
  emails: readonly UpdateItem[],
  phones: readonly UpdateItem[],
  customFields: readonly UpdateCustomField[],
): UpdateContactBody {
  // Undefined if the scalar is not written. A scalar's value is text or null.
  const newValue = (name: ScalarName): string | null | undefined => {
    const verdict = written.find(({ field }) => field === name);
    if (verdict === undefined) return undefined;
    return typeof verdict.ours === 'string' ? verdict.ours : null;
  };
  const named: { [Name in 'firstName' | 'lastName' | 'company' | 'role']?: string | null } = {};
  for (const name of ['firstName', 'lastName', 'company', 'role'] as const) {
    const there = scalarOf(theirs, name);
    const wanted = newValue(name);
    const value = wanted === undefined ? there : wanted;
    if (value !== null || there !== null) named[name] = value;
  }
  // No service touches a sourceUrl that is left out, so it is sent only if it is written.
  const sourceUrl = newValue('sourceUrl');
  return {
    ...(sourceUrl === undefined ? {} : { sourceUrl }),
    defaultFields: { ...named, emails, phoneNumbers: phones },
    customFields,
  };
}

export interface ExpectedItem {
  readonly label: string;
  readonly value: string;
}

export interface ExpectedCustomField {
  readonly key: string;
  /** The type as the service names it; null if it has not. */
  readonly type: string | null;
  /** Never null: a field without a value is not listed. */
  readonly value: CustomFieldValue;
}

/** What the reply to a write must hold (`reply.ts`), derived from the body so that the two cannot disagree. */
export interface ExpectedContact {
  readonly externalId: string;
  /** Null: not written by this plan, and not compared. */
  readonly source: string | null;
  readonly scalars: Readonly<Record<ScalarName, string | null>>;
  readonly emails: readonly ExpectedItem[];
  readonly phones: readonly ExpectedItem[];
  readonly customFields: readonly ExpectedCustomField[];
}

function expectedAfterCreate(key: string, body: CreateContactBody): ExpectedContact {
  const { firstName, lastName, company, role, emails, phoneNumbers } = body.defaultFields;
  return {
    externalId: key,
    source: body.source ?? null,
    scalars: {
      firstName,
      lastName: lastName ?? null,
      company: company ?? null,
      role: role ?? null,
      sourceUrl: body.sourceUrl ?? null,
    },
    emails: expectedItems(emails ?? []),
    phones: expectedItems(phoneNumbers ?? []),
    customFields: (body.customFields ?? []).map(({ key: field, value }) => ({ key: field, type: null, value })),
  };
}

/** A `sourceUrl` that the body leaves out must stay as it was. */
function expectedAfterUpdate(key: string, body: UpdateContactBody, theirs: Contact): ExpectedContact {
  const { firstName, lastName, company, role, emails, phoneNumbers } = body.defaultFields;
  return {
    externalId: key,
    source: null,
    scalars: {
      firstName: firstName ?? null,
      lastName: lastName ?? null,
      company: company ?? null,
      role: role ?? null,
      sourceUrl: body.sourceUrl === undefined ? scalarOf(theirs, 'sourceUrl') : body.sourceUrl,
    },
    emails: expectedItems(emails),
    phones: expectedItems(phoneNumbers),
    customFields: body.customFields
      .filter(({ value }) => value !== null)
      .map(({ key: field, value }) => ({ key: field, type: typeOf(theirs, field), value })),
  };
}

function expectedItems(items: readonly { name: string; value: string | null }[]): ExpectedItem[] {
  return items.flatMap(({ name, value }) => (value === null ? [] : [{ label: name, value }]));
}

function typeOf(contact: Contact, key: string): string | null {
  return contact.customFields.find((field) => field.key === key)?.type ?? null;
}
