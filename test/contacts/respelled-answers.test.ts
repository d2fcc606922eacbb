/** Services that spell what they are sent in another way: an undo, and a write whose answer was lost, go by what the service holds (`docs/rules.md`, "The journal"). */
import { expect, test } from 'vitest';
import type { Base } from '#src/contacts/base.ts';
import { claimOf, journalOfClaim, journalOfReply, resolveClaim } from '#src/contacts/claim.ts';
import { driftOf } from '#src/contacts/drift.ts';
import type { JournalEntry } from '#src/contacts/outcome.ts';
import { planContact } from '#src/contacts/plan.ts';
import { usualPolicies } from '#src/contacts/policies.ts';
import { settle } from '#src/contacts/settle.ts';
import { planUndo, settleUndo } from '#src/contacts/undo.ts';
import { writtenContact } from '#src/journal/undo-records.ts';
import type { Contact } from '#src/wire/contact.ts';
import { contact, desired, input, slot } from './support/build.ts';

const phone = '+4915112345671';
const respelled = '+49 151 12345671';

type Pictures = Parameters<typeof planContact>[0];

/** The undo of what the entry says, of a contact as the service holds it. */
function undoOf(
  entry: JournalEntry | null,
  theirs: Contact,
  { base, deletes = false }: { base?: Base; deletes?: boolean } = {},
) {
  const row = { number: 1, key: 'K-1', runId: 'r1', feed: 'crm', runSequence: 1, atMs: 0 };
  const { contactId, changes, source } = writtenContact(entry === null ? [] : [{ ...entry, ...row }]);
  const order = { contactId, changes, deletes, ...(source === undefined ? {} : { source }) };
  const ours = { ...desired(), undo: order };
  const pictures = input({ ...(base === undefined ? {} : { base }), theirs, ours });
  return { pictures, plan: planUndo(pictures, order, theirs) };
}

function claimed(pictures: Pictures, plan: ReturnType<typeof planContact>, createdAs: string | null = null) {
  const claim = claimOf(pictures, plan, createdAs);
  if (claim === null) throw new Error('the plan writes something');
  return claim;
}

const settled = (given: Parameters<typeof settle>[0]): Base => ({ ...settle(given), others: [] });

test('a number that an undo took back is no drift, however the service spelled it', () => {
  const before = contact({ scalars: { role: 'Boss' } });
  const pictures = input({ theirs: before, ours: desired({ phones: [slot('phone', ['work', phone])] }) });
  const plan = planContact(pictures);
  const reply = contact({ scalars: { role: 'Boss' }, phones: [['work', respelled]] });
  if (plan.kind !== 'patch') throw new Error('the phone is added');
  const base = settled({ ...pictures, plan, reply });
  const undone = undoOf(journalOfReply(pictures, plan, reply), reply, { base });
  expect(undone.plan.kind).toBe('patch');
  const after = { ...settleUndo({ ...undone.pictures, plan: undone.plan, reply: before }), others: [] };
  expect(driftOf(input({ base: after }), before)).toEqual([]);
});

test('a contact whose create had no answer is deleted by its undo, and nothing of it is held', () => {
  const emails = [slot('email', ['work', 'McNeil@example.com'])];
  const phones = [slot('phone', ['work', phone])];
  const pictures = input({ theirs: null, ours: desired({ scalars: { firstName: 'Ann' }, emails, phones }) });
  const claim = claimed(pictures, planContact(pictures), 'CRM export');
  const found = contact({
    scalars: { firstName: 'Ann' },
    emails: [['work', 'mcneil@example.com']],
    phones: [['work', respelled]],
  });
  const entry = journalOfClaim({ ...claim, source: found.source }, found);
  expect(undoOf(entry, found, { deletes: true }).plan.kind).toBe('delete');
  expect(undoOf(entry, found).plan).toMatchObject({ held: [] });
});

test("a label whose change had no answer is the feed's, also as the service spells it", () => {
  const start = input({ theirs: null, ours: desired({ phones: [slot('m', ['mobile', phone])] }) });
  const stored = contact({ phones: [['Mobile', phone]] });
  const base = settled({ ...start, plan: planContact(start), reply: stored });
  const pictures = input({ base, theirs: stored, ours: desired({ phones: [slot('m', ['work', phone])] }) });
  const found = contact({ phones: [['Work', phone]] });
  const landed = resolveClaim(base, claimed(pictures, planContact(pictures)), 'crm', found);
  const next = planContact(
    input({ base: landed, theirs: found, ours: desired({ phones: [slot('m', ['cell', phone])] }) }),
  );
  expect(next).toMatchObject({ kind: 'patch', notes: [] });
});

test('the label of an item that had none is given back by an undo, and its number stays', () => {
  const theirs = contact({ phones: [[null, phone]] });
  const ours = desired({ phones: [slot('phone', ['work', phone])] });
  const pictures = input({ theirs, ours, policies: { ...usualPolicies, phones: 'all' } });
  const plan = planContact(pictures);
  if (plan.kind !== 'patch') throw new Error('the label is written');
  const reply = contact({ phones: [['work', phone]] });
  for (const entry of [journalOfReply(pictures, plan, reply), journalOfClaim(claimed(pictures, plan), reply)])
    expect(undoOf(entry, reply).plan).toMatchObject({ kind: 'patch', reasons: [{ from: 'work', to: '' }], held: [] });
});
