/**
 * The plan: what to do with one contact, decided from three pictures and acted upon elsewhere.
 *
 *   base    what the feeds' files last said, what file and app agreed on, what the service last returned
 *   theirs  what the service holds now: a fresh read, null where it holds nothing under the key
 *   ours    what the file says
 *
 * Invariant: the body of a patch gives the same contact on a service that merges and on one that replaces
 * (`facts.md`, "Consequence"); and where nothing differs there is no body. The same pictures give the same plan.
 */

import type { OwnedCustomField, PlanInput } from '#src/contacts/base.ts';
import { type Change, fieldChange, type HeldField, type Note } from '#src/contacts/change.ts';
import { createBody } from '#src/contacts/create-body.ts';
import { scalarNames } from '#src/contacts/desired.ts';
import { type ExpectedContact, expectedAfterCreate, expectedAfterUpdate } from '#src/contacts/expected-contact.ts';
import { customFieldName, type FieldName, itemFieldName } from '#src/contacts/field-name.ts';
import { type ItemKind, itemIdentity } from '#src/contacts/item-identity.ts';
import { customKeyOf, type FieldVerdict, judgeFields, sentCustomFields } from '#src/contacts/merge-fields.ts';
import { mergeItems } from '#src/contacts/merge-items.ts';
import { patchBody } from '#src/contacts/patch-body.ts';
import { customValueOrNull } from '#src/contacts/same-value.ts';
import type { Contact, CreateContactBody, UpdateContactBody } from '#src/wire/contact.ts';

/** What is Patchbay's own once the plan is carried out, and what is no longer. Identities of items. */
export interface Written {
  readonly emails: readonly string[];
  readonly phones: readonly string[];
  readonly customFields: readonly OwnedCustomField[];
  readonly disowned: { readonly emails: readonly string[]; readonly phones: readonly string[] };
}

interface PlanFacts {
  /** Every difference that is written, in the order of the contact's fields. */
  readonly reasons: readonly Change[];
  /** What becomes of each scalar and custom field that the file names. */
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
    reasons: [
      ...writes.filter(({ field }) => customKeyOf(field) === null),
      ...itemChanges('email', expected.emails),
      ...itemChanges('phone', expected.phones),
      ...writes.filter(({ field }) => customKeyOf(field) !== null),
    ],
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
      disowned: { emails: [], phones: [] },
    },
  };
}

function planUpdate(input: PlanInput, theirs: Contact): Plan {
  const { ours } = input;
  const verdicts = judgeFields(input, theirs);
  const emails = mergeItems('email', input, theirs);
  const phones = mergeItems('phone', input, theirs);
  const writes = verdicts.filter(({ decision }) => decision === 'write');
  const changes = writes.map((one) => fieldChange(one.field, one.theirs, one.ours));
  const reasons = [
    ...changes.filter(({ field }) => customKeyOf(field) === null),
    ...emails.changes,
    ...phones.changes,
    ...changes.filter(({ field }) => customKeyOf(field) !== null),
  ];
  const held = verdicts.filter(({ decision }) => decision === 'hold');
  const facts: PlanFacts = {
    reasons,
    verdicts,
    held: held.map(({ field, said, theirs: there, ours: wanted }) => ({ field, said, theirs: there, ours: wanted })),
    passed: verdicts.filter(({ decision }) => decision === 'pass').map(({ field }) => field),
    notes: [...notesOf(verdicts), ...emails.notes, ...phones.notes],
    clears: reasons.filter((change) => change.why === 'cleared').length,
    removals: reasons.filter((change) => change.why === 'removed').length,
    written: {
      emails: [...emails.added, ...emails.adopted],
      phones: [...phones.added, ...phones.adopted],
      customFields: verdicts.flatMap(({ field, decision, ours: value }) => {
        const key = customKeyOf(field);
        const becomesOurs = decision === 'write' || (input.adopt && decision === 'equal');
        return key === null || !becomesOurs ? [] : [{ key, value }];
      }),
      disowned: { emails: emails.disowned, phones: phones.disowned },
    },
  };
  if (reasons.length === 0) {
    return { ...facts, kind: held.length === 0 ? 'noop' : 'hold', body: null, expected: null };
  }
  const body = patchBody({
    theirs,
    written: writes,
    emails: emails.sent,
    phones: phones.sent,
    customFields: sentCustomFields(theirs, verdicts),
  });
  return { ...facts, kind: 'patch', body, expected: expectedAfterUpdate(ours.key, body, theirs) };
}

function notesOf(verdicts: readonly FieldVerdict[]): readonly Note[] {
  return verdicts.flatMap(({ field, decision }): readonly Note[] => {
    if (decision === 'alike') {
      const message = `${field} differs from the app's value in case or spaces only: kept the app's.`;
      return [{ field, code: 'spelling', message }];
    }
    if (decision === 'pass') {
      const message = `${field} was changed by a later file of another feed: that value stands.`;
      return [{ field, code: 'overtaken', message }];
    }
    return [];
  });
}
