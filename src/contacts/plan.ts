/**
 * The plan: what to do with one contact, decided from three pictures and acted upon elsewhere.
 *
 *   base    what the file last said and what the service last returned
 *   theirs  what the service holds now: a fresh read, null where it holds nothing under the key
 *   ours    what the file says
 *
 * Invariant: the body of a patch gives the same contact on a service that merges and on one that replaces
 * (`facts.md`, "Consequence"); and where nothing differs there is no body. The same pictures give the same plan.
 */

import type { Base } from '#src/contacts/base.ts';
import { type Change, fieldChange, type HeldField, type Note } from '#src/contacts/change.ts';
import { createBody } from '#src/contacts/create-body.ts';
import { type DesiredContact, scalarNames } from '#src/contacts/desired.ts';
import { type ExpectedContact, expectedAfterCreate, expectedAfterUpdate } from '#src/contacts/expected-contact.ts';
import { customFieldName, itemFieldName } from '#src/contacts/field-name.ts';
import { type ItemKind, itemIdentity } from '#src/contacts/item-identity.ts';
import { mergeCustomFields } from '#src/contacts/merge-custom-fields.ts';
import { type MergedItems, mergeItems } from '#src/contacts/merge-items.ts';
import { mergeScalars } from '#src/contacts/merge-scalars.ts';
import { patchBody } from '#src/contacts/patch-body.ts';
import type { Contact, CreateContactBody, UpdateContactBody } from '#src/wire/contact.ts';

export interface PlanInput {
  readonly feed: string;
  /** The feed's source label, written on create; null leaves it to the service. */
  readonly sourceLabel: string | null;
  readonly base: Base;
  readonly theirs: Contact | null;
  readonly ours: DesiredContact;
  /** `owned`: items that this feed wrote leave with the file. `none`: no item is ever removed. */
  readonly itemRemoval: 'owned' | 'none';
}

/** What the plan writes that the feed will own: identities of items, keys of custom fields. */
export interface Written {
  readonly emails: readonly string[];
  readonly phones: readonly string[];
  readonly customFieldKeys: readonly string[];
}

interface PlanFacts {
  /** Every difference that is written, in the order of the contact's fields. */
  readonly reasons: readonly Change[];
  readonly held: readonly HeldField[];
  readonly notes: readonly Note[];
  /** Scalars and custom fields set to null. */
  readonly clears: number;
  /** E-mails and phones removed. */
  readonly removals: number;
  readonly written: Written;
}

/** `hold`: nothing is written, and some field waits for a person. A patch may hold fields besides. */
export type Plan =
  | (PlanFacts & { readonly kind: 'create'; readonly body: CreateContactBody; readonly expected: ExpectedContact })
  | (PlanFacts & { readonly kind: 'patch'; readonly body: UpdateContactBody; readonly expected: ExpectedContact })
  | (PlanFacts & { readonly kind: 'noop' | 'hold'; readonly body: null; readonly expected: null });

export function planContact(input: PlanInput): Plan {
  return input.theirs === null ? planCreate(input) : planUpdate(input, input.theirs);
}

/** Nothing is there, so there is nothing to compare with: base belongs to a contact that is gone and is not read. */
function planCreate({ ours, sourceLabel }: PlanInput): Plan {
  const body = createBody(ours, sourceLabel);
  const expected = expectedAfterCreate(ours.key, body);
  const scalars = scalarNames.flatMap((name) => {
    const value = expected.scalars[name];
    return value === null ? [] : [fieldChange(name, null, value)];
  });
  const itemChanges = (kind: ItemKind, items: readonly { value: string }[]) =>
    items.map(({ value }) => fieldChange(itemFieldName(kind, itemIdentity(kind, value)), null, value));
  const customFields = expected.customFields.map(({ key, value }) => fieldChange(customFieldName(key), null, value));
  return {
    kind: 'create',
    body,
    expected,
    reasons: [
      ...scalars,
      ...itemChanges('email', expected.emails),
      ...itemChanges('phone', expected.phones),
      ...customFields,
    ],
    held: [],
    notes: [],
    clears: 0,
    removals: 0,
    written: {
      emails: expected.emails.map(({ value }) => itemIdentity('email', value)),
      phones: expected.phones.map(({ value }) => itemIdentity('phone', value)),
      customFieldKeys: expected.customFields.map(({ key }) => key),
    },
  };
}

function planUpdate(input: PlanInput, theirs: Contact): Plan {
  const { base, ours } = input;
  const scalars = mergeScalars(base, theirs, ours.scalars);
  const emails = mergeContactItems('email', input, theirs);
  const phones = mergeContactItems('phone', input, theirs);
  const customFields = mergeCustomFields(base, theirs, ours.customFields);
  const reasons = [...scalars.changes, ...emails.changes, ...phones.changes, ...customFields.changes];
  const facts: PlanFacts = {
    reasons,
    held: [...scalars.held, ...customFields.held],
    notes: [...emails.notes, ...phones.notes],
    clears: reasons.filter((change) => change.why === 'cleared').length,
    removals: reasons.filter((change) => change.why === 'removed').length,
    written: { emails: emails.added, phones: phones.added, customFieldKeys: customFields.writtenKeys },
  };
  if (reasons.length === 0) {
    return { ...facts, kind: facts.held.length === 0 ? 'noop' : 'hold', body: null, expected: null };
  }
  const body = patchBody({
    theirs,
    scalars,
    emails: emails.sent,
    phones: phones.sent,
    customFields: customFields.sent,
  });
  return { ...facts, kind: 'patch', body, expected: expectedAfterUpdate(ours.key, body, theirs) };
}

function mergeContactItems(kind: ItemKind, input: PlanInput, theirs: Contact): MergedItems {
  const { base, feed, itemRemoval, ours } = input;
  const list = kind === 'email' ? 'emails' : 'phones';
  const wireList = kind === 'email' ? 'emails' : 'phoneNumbers';
  return mergeItems({
    kind,
    feed,
    itemRemoval,
    said: base.said?.[list] ?? [],
    seen: base.seen?.defaultFields[wireList] ?? null,
    theirs: theirs.defaultFields[wireList],
    ours: ours[list],
    owned: base.owned[list],
  });
}
