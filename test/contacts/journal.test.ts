/** What the journal keeps of a write (`docs/rules.md`, "The journal"): that of a reply, and that of a write without an answer. */
import { expect, test } from 'vitest';
import { type Claim, claimOf, journalOfClaim, journalOfReply } from '#src/contacts/claim.ts';
import { planContact } from '#src/contacts/plan.ts';
import { base, contact, desired, input, owned, said, slot } from './support/build.ts';

const ours = desired({
  scalars: { firstName: 'Ann', role: 'Seller', company: null },
  emails: [slot('email', ['email', 'ann@example.com'])],
  phones: [slot('phone mobile', ['mobile', '+14155550103'])],
  customFields: [{ key: 'tier', value: 'gold' }],
});

const before = contact({
  scalars: { firstName: 'Ann', role: 'Buyer', company: 'Example Ltd' },
  emails: [['private', 'ann@example.com']],
  phones: [['mobile', '+14155550101']],
});
const update = input({
  theirs: before,
  ours,
  base: base({
    seen: before,
    owned: { ...owned('phones', '+14155550101'), emails: ['ann@example.com'] },
    said: said({
      scalars: { firstName: 'Ann', role: 'Buyer', company: 'Example Ltd' },
      emails: [slot('email', ['private', 'ann@example.com'])],
      phones: [slot('phone mobile', ['mobile', '+14155550101'])],
    }),
  }),
});
const applied = contact({
  scalars: { firstName: 'Ann', role: 'Seller', company: null },
  emails: [['email', 'ann@example.com']],
  phones: [['mobile', '+14155550103']],
  customFields: [['tier', 'gold']],
});

function written(given: Parameters<typeof planContact>[0], reply: typeof applied) {
  const plan = planContact(given);
  if (plan.body === null) throw new Error('the plan writes nothing');
  return journalOfReply(given, plan, reply);
}

function claimed(given: Parameters<typeof planContact>[0], more: Partial<Claim> = {}): Claim {
  const claim = claimOf(given, planContact(given));
  if (claim === null) throw new Error('the plan writes nothing');
  return { ...claim, ...more };
}

test('a create is entered with each value that it gave, from nothing', () => {
  const entry = written(input({ theirs: null, ours }), applied);
  expect(entry).toEqual({
    runId: null,
    contactId: 'c1',
    kind: 'create',
    changes: [
      { field: 'firstName', from: null, to: 'Ann', why: 'added' },
      { field: 'role', from: null, to: 'Seller', why: 'added' },
      { field: 'email.ann@example.com', from: null, to: 'ann@example.com', why: 'added', label: 'email' },
      { field: 'phone.+14155550103', from: null, to: '+14155550103', why: 'added', label: 'mobile' },
      { field: 'custom.tier', from: null, to: 'gold', why: 'added' },
    ],
    source: applied.source,
  });
});

test.each(['create', 'update'] as const)(
  '%s without an answer is entered with the labels that it gave, whatever people made of them',
  (kind) => {
    const given = kind === 'create' ? input({ theirs: null, ours }) : update;
    const { defaultFields } = applied;
    const phoneNumbers = defaultFields.phoneNumbers.map((one) => ({ ...one, name: 'private' }));
    const entry = journalOfClaim(claimed(given, { source: null }), {
      ...applied,
      defaultFields: { ...defaultFields, phoneNumbers },
    });
    expect(entry?.changes).toContainEqual({
      ...{ field: 'phone.+14155550103', from: null, to: '+14155550103' },
      ...{ why: 'landed', label: 'mobile' },
    });
  },
);

test('an update is entered with what each field and item was, what it is, and why', () => {
  expect(written(update, applied)).toMatchObject({
    kind: 'patch',
    changes: [
      { field: 'company', from: 'Example Ltd', to: null, why: 'cleared' },
      { field: 'role', from: 'Buyer', to: 'Seller', why: 'changed' },
      { field: 'email.ann@example.com', from: 'private', to: 'email', why: 'relabelled' },
      { field: 'phone.+14155550101', from: '+14155550101', to: null, why: 'removed', label: 'mobile' },
      { field: 'phone.+14155550103', from: null, to: '+14155550103', why: 'added', label: 'mobile' },
      { field: 'custom.tier', from: null, to: 'gold', why: 'added' },
    ],
  });
});

test('a reply that differs is entered as what it shows: what was not applied is left out', () => {
  const reply = contact({
    scalars: { firstName: 'Ann', role: 'SELLER', company: 'Example Ltd' },
    emails: [['private', 'ann@example.com']],
    phones: [['mobile', '+14155550103']],
  });
  expect(written(update, reply).changes).toEqual([
    { field: 'role', from: 'Buyer', to: 'SELLER', why: 'changed' },
    { field: 'phone.+14155550101', from: '+14155550101', to: null, why: 'removed', label: 'mobile' },
    { field: 'phone.+14155550103', from: null, to: '+14155550103', why: 'added', label: 'mobile' },
  ]);
});

test('a contact that gets its key is entered as linked, also where nothing else changes', () => {
  const alone = contact({ externalId: null, scalars: { firstName: 'Ann' } });
  const link = input({ theirs: alone, ours: desired({ scalars: { firstName: 'Ann' } }) });
  expect(written(link, { ...alone, externalId: 'K-1' })).toMatchObject({ kind: 'link', changes: [] });
  expect(journalOfClaim(claimed(link), { ...alone, externalId: 'K-1' })).toMatchObject({ kind: 'link', changes: [] });
  expect(journalOfClaim(claimed(link), alone)).toBeNull();
});

test('of an update in doubt is entered what a read shows of it, under the run that sent it', () => {
  const half = contact({
    scalars: { firstName: 'Ann', role: 'Seller', company: 'Other Ltd' },
    emails: [['private', 'ann@example.com']],
    phones: [
      ['mobile', '+14155550101'],
      ['mobile', '+14155550103'],
    ],
  });
  expect(journalOfClaim(claimed(update, { runId: 'r7' }), half)).toEqual({
    runId: 'r7',
    contactId: 'c1',
    kind: 'patch',
    changes: [
      { field: 'role', from: 'Buyer', to: 'Seller', why: 'landed' },
      { field: 'phone.+14155550103', from: null, to: '+14155550103', why: 'landed', label: 'mobile' },
    ],
  });
});

test('an update that did not land is no entry, nor one that the journal has already', () => {
  expect(journalOfClaim(claimed(update), before)).toBeNull();
  expect(journalOfClaim(claimed(update, { isTold: true }), applied)).toBeNull();
});

test('a create in doubt is entered where its contact is found, and not where another tool made it', () => {
  const create = claimed(input({ theirs: null, ours, sourceLabel: 'CRM export' }), { runId: 'r7' });
  const made = { ...applied, source: 'CRM export' };
  const entry = journalOfClaim(create, made);
  expect(entry).toMatchObject({ kind: 'create', runId: 'r7', contactId: 'c1' });
  expect(entry?.changes.map(({ from, why }) => [from, why])).toEqual(Array(5).fill([null, 'landed']));
  expect(journalOfClaim(create, { ...applied, source: 'another tool' })).toBeNull();
});

test('a claim of an older ledger knows its fields alone', () => {
  const { items, ...old } = claimed(update);
  expect(items).toHaveLength(3);
  expect(journalOfClaim(old, applied)?.changes.map(({ field }) => field)).toEqual(['company', 'role', 'custom.tier']);
});
