/** An undo takes back what is as its run left it, in the spelling in which the service answered it (`docs/plans.md`, "Undo"). */
import { expect, test } from 'vitest';
import { journalOfReply } from '#src/contacts/claim.ts';
import { planContact } from '#src/contacts/plan.ts';
import { planUndo } from '#src/contacts/undo.ts';
import { writtenContact } from '#src/journal/undo-records.ts';
import type { Contact } from '#src/wire/contact.ts';
import { type ContactText, contact, desired, input, slot } from './support/build.ts';

const held: ContactText = { scalars: { firstName: 'Ann' }, emails: [['work', 'mcneil@example.com']] };
const choices: ContactText = { ...held, customFields: [['topics', ['tea', 'maps'], 'multi-select']] };

/** What the run of a create left, as the service answered it. */
function leftBy(answer: Contact) {
  const ours = desired({
    scalars: { firstName: 'Ann' },
    emails: [slot('email', ['work', 'mcneil@example.com'])],
    customFields: answer.customFields.map(({ key, value }) => ({ key, value })),
  });
  const pictures = input({ theirs: null, ours });
  const plan = planContact(pictures);
  if (plan.kind !== 'create') throw new Error('the plan is to create');
  const entry = journalOfReply(pictures, plan, answer);
  const row = { ...entry, number: 1, key: 'K-1', runId: 'r1', feed: 'crm', runSequence: 1, atMs: 0 };
  return writtenContact([row]);
}

function undone(answer: Contact, theirs: Contact, deletes: boolean) {
  const { contactId, changes, source } = leftBy(answer);
  const order = { contactId, changes, deletes, ...(source === undefined ? {} : { source }) };
  return planUndo(input({ theirs, ours: { ...desired(), undo: order } }), order, theirs);
}

test('a contact is deleted as the service answered it, also where that spells an address in its own way', () => {
  const answer = contact({ ...held, emails: [['work', 'McNeil@example.com']] });
  expect(undone(answer, answer, true).kind).toBe('delete');
  expect(undone(answer, answer, false)).toMatchObject({ held: [], removals: 1 });
});

test('a contact is not deleted of which people corrected the case of an address: it is listed', () => {
  const theirs = contact({ ...held, emails: [['work', 'McNeil@example.com']] });
  const field = 'email.mcneil@example.com';
  const listed = { field, said: 'mcneil@example.com', theirs: 'McNeil@example.com' };
  expect(undone(contact(held), theirs, true)).toMatchObject({ kind: 'hold', held: [listed] });
});

test('a contact is not deleted whose choices people put in another order', () => {
  const theirs = contact({ ...choices, customFields: [['topics', ['maps', 'tea'], 'multi-select']] });
  expect(undone(contact(choices), theirs, true)).toMatchObject({ kind: 'hold', held: [{ field: 'custom.topics' }] });
  expect(undone(contact(choices), contact(choices), true).kind).toBe('delete');
});

test('an address whose case people corrected stays when its run is undone, and is listed', () => {
  const theirs = contact({ ...held, emails: [['work', 'McNeil@example.com']] });
  expect(undone(contact(held), theirs, false)).toMatchObject({
    removals: 0,
    held: [{ field: 'email.mcneil@example.com', said: 'mcneil@example.com', theirs: 'McNeil@example.com', ours: null }],
  });
  expect(undone(contact(held), contact(held), false).removals).toBe(1);
});
