/**
 * A key that people, or another tool, gave to another contact: nothing that is remembered of the one before is of that one. It is taken over
 * like any contact that has the key (`docs/rules.md`, "Workspace, feed, key").
 */
import { expect, test } from 'vitest';
import type { UndoOrder } from '#src/contacts/desired.ts';
import { phone, wanted } from './support/build.ts';
import { openUpsertWorld, type UpsertWorld } from './support/upsert-world.ts';

const row = wanted('k-1', { role: 'Clerk', company: 'Elm', phones: { mobile: [phone(1)] } });

/** The contact that a file made, and another one, to which people gave its key. */
async function withMovedKey(ofOther: Readonly<Record<string, unknown>>) {
  const world = await openUpsertWorld({ limits: { ownsItems: () => true } });
  await world.load([row], { feed: 'crm' });
  const before = await world.contactOf('k-1');
  await world.byHand('PATCH', `/v1/contacts/${before.id}`, { externalId: 'old-1' });
  const other = await world.byHand('POST', '/v1/contacts', { externalId: 'k-1', defaultFields: ofOther });
  return { world, before, other };
}

const itsOwn = { firstName: 'Ann', role: 'Clerk', phoneNumbers: [{ name: 'mobile', value: phone(1) }] };

async function shown(world: UpsertWorld, key = 'k-1') {
  const { firstName, company, role, phoneNumbers } = (await world.contactOf(key)).defaultFields;
  return { firstName, company, role, phones: phoneNumbers.map(({ value }) => value) };
}

const boundTo = async ({ ledger }: UpsertWorld) => (await ledger.contacts.get(['k-1'])).get('k-1')?.contactId;

test('a value of the other contact is held, although it is what the file and the contact before agreed on', async () => {
  const { world, other } = await withMovedKey({ ...itsOwn, firstName: 'Bob' });
  const run = await world.load([{ ...row, scalars: { ...row.scalars, role: 'Boss' } }], { feed: 'crm' });
  expect(run.counts).toMatchObject({ updated: 1, adopted: 1, heldFields: 2 });
  // What is empty is filled, also where the file says it as before.
  expect(await shown(world)).toEqual({ firstName: 'Bob', company: 'Elm', role: 'Clerk', phones: [phone(1)] });
  expect(await boundTo(world)).toBe(other.id);
  await world.expectSound();
});

test('a number of the other contact is people’s, although the file wrote the same to the contact before', async () => {
  const { world } = await withMovedKey(itsOwn);
  await world.load([{ ...row, phones: [{ slot: 'mobile', items: [] }] }], { feed: 'crm' });
  expect(await shown(world)).toMatchObject({ phones: [phone(1)] });
});

test('what feeds had said of the contact before they say of the other one, each with its next row', async () => {
  const { world } = await withMovedKey({ firstName: 'Ann' });
  await world.load([wanted('k-1', { emails: { work: ['ann@example.com'] } })], { feed: 'shop' });
  expect(await shown(world)).toMatchObject({ role: null, company: null, phones: [] });
  expect((await world.load([row], { feed: 'crm' })).counts).toMatchObject({ updated: 1, heldFields: 0 });
  expect(await shown(world)).toEqual({ firstName: 'Ann', company: 'Elm', role: 'Clerk', phones: [phone(1)] });
  await world.load([{ ...row, phones: [{ slot: 'mobile', items: [] }] }], { feed: 'crm' });
  expect(await shown(world)).toMatchObject({ phones: [] });
});

test('so it is where the answer to the first write was lost', async () => {
  const { world, other } = await withMovedKey({ firstName: 'Bob' });
  const run = await world.stage([row], { feed: 'crm' });
  await world.faults('update:dropAfter');
  expect(await world.workOnce(run)).toEqual(['deferred']);
  expect(await boundTo(world)).toBe(other.id);
  await world.faults();
  expect((await world.finish(run)).counts).toMatchObject({ updated: 1, adopted: 1, heldFields: 1 });
  // What landed is the file's.
  const moved = { ...row, scalars: { ...row.scalars, role: 'Boss' }, phones: [{ slot: 'mobile', items: [] }] };
  expect((await world.load([moved], { feed: 'crm' })).counts).toMatchObject({ updated: 1, heldFields: 1 });
  expect(await shown(world)).toEqual({ firstName: 'Bob', company: 'Elm', role: 'Boss', phones: [] });
  await world.expectSound();
});

test('a write without an answer to the contact before says nothing of the other one', async () => {
  const world = await openUpsertWorld({ limits: { ownsItems: () => true } });
  await world.load([row], { feed: 'crm' });
  const before = await world.contactOf('k-1');
  const run = await world.stage([{ ...row, scalars: { ...row.scalars, role: 'Boss' } }], { feed: 'crm' });
  await world.faults('update:dropAfter');
  expect(await world.workOnce(run)).toEqual(['deferred']);
  await world.faults();
  await world.byHand('PATCH', `/v1/contacts/${before.id}`, { externalId: 'old-1' });
  const ofOther = { firstName: 'Ann', role: 'Boss', company: 'Oak' };
  const other = await world.byHand('POST', '/v1/contacts', { externalId: 'k-1', defaultFields: ofOther });
  expect((await world.finish(run)).counts).toMatchObject({ updated: 1, heldFields: 1 });
  const journal = await world.ledger.contacts.journal({ key: 'k-1', limit: 10 });
  expect(journal.filter(({ contactId }) => contactId === other.id)).toMatchObject([
    { changes: [{ field: `phone.${phone(1)}` }] },
  ]);
  expect(await shown(world)).toMatchObject({ role: 'Boss', company: 'Oak' });
  await world.expectSound();
});

test('an undo writes nothing to the other contact, and leaves what is remembered to the next row', async () => {
  const { world, before } = await withMovedKey(itsOwn);
  const changes: UndoOrder['changes'] = [{ field: 'role', left: 'Clerk', before: null }];
  const undo = { contactId: before.id, changes, deletes: false };
  const run = await world.load([{ ...wanted('k-1'), scalars: {}, undo }], { feed: 'crm' });
  expect(run.counts).toMatchObject({ unchanged: 1, updated: 0, heldFields: 1 });
  expect(await shown(world)).toMatchObject({ role: 'Clerk' });
  expect(await boundTo(world)).toBe(before.id);
  const next = await world.load([{ ...row, scalars: { ...row.scalars, role: 'Boss' } }], { feed: 'crm' });
  expect(next.counts).toMatchObject({ updated: 1, adopted: 1, heldFields: 1 });
  expect(await shown(world)).toMatchObject({ role: 'Clerk', company: 'Elm' });
});

test('an undo writes nothing to the contact before either, where people gave the key back and what is remembered is of the other one', async () => {
  const { world, before, other } = await withMovedKey({ firstName: 'Ann' });
  const phones = [{ slot: 'mobile', items: [{ label: 'mobile', value: phone(2) }] }];
  await world.load([{ ...row, phones }], { feed: 'crm' });
  expect(await boundTo(world)).toBe(other.id);
  await world.byHand('PATCH', `/v1/contacts/${other.id}`, { externalId: 'old-2' });
  const phoneNumbers = [{ name: 'Handy', value: phone(2) }];
  await world.byHand('PATCH', `/v1/contacts/${before.id}`, { externalId: 'k-1', defaultFields: { phoneNumbers } });
  const changes: UndoOrder['changes'] = [{ field: 'role', left: 'Clerk', before: null }];
  const undo = { contactId: before.id, changes, deletes: false };
  const run = await world.load([{ ...wanted('k-1'), scalars: {}, undo }], { feed: 'crm' });
  expect(run.counts).toMatchObject({ unchanged: 1, updated: 0 });
  expect(await boundTo(world)).toBe(other.id);
  await world.load([{ ...row, phones: [{ slot: 'mobile', items: [] }] }], { feed: 'crm' });
  expect((await shown(world)).phones).toContain(phone(2));
});
