/**
 * A contact that is made again, or linked, in place of one that is gone: each feed forgets what it said of that one, and writes its fields
 * again, also where the answer to the write was lost (`docs/rules.md`, "Workspace, feed, key").
 */
import { describe, expect, test } from 'vitest';
import type { DesiredContact } from '#src/contacts/desired.ts';
import type { RowLink } from '#src/ledger/staging.ts';
import type { UpsertParts } from '#src/upsert/chunk.ts';
import { processBatch } from '#src/upsert/process-batch.ts';
import type { WriteResult } from '#src/workspace/port.ts';
import { phone, wanted } from './support/build.ts';
import { mortal } from './support/mortal.ts';
import { openUpsertWorld, type UpsertWorld } from './support/upsert-world.ts';

const emails = { work: ['ann@example.com'] };
const ofCrm = wanted('k-1', { role: 'Clerk', emails });
const crmAnew = wanted('k-1', { role: 'Buyer', emails });
const ofShop = wanted('k-1', { company: 'Elm', phones: { mobile: [phone(1)] } });
const shopAnew = wanted('k-1', { company: 'Oak', phones: { mobile: [phone(2)] } });

/** Both feeds have written a contact, and people have deleted it. */
async function withGone(): Promise<UpsertWorld> {
  const limits = { onGoneOf: () => 'recreate' as const, ownsItems: () => true };
  const world = await openUpsertWorld({ limits });
  await world.load([ofCrm], { feed: 'crm' });
  await world.load([ofShop], { feed: 'shop' });
  const { id } = await world.contactOf('k-1');
  expect((await world.service.call('DELETE', `/v1/contacts/${id}`)).status).toBe(204);
  return world;
}

const stage = (world: UpsertWorld, row: DesiredContact, link: RowLink = { kind: 'again' }) =>
  world.stage([row], { feed: row.scalars.role === undefined ? 'shop' : 'crm', links: { 'k-1': link } });

/** The first attempt of a row, with this fault in force. */
async function tryWith(world: UpsertWorld, fault: string, link?: RowLink) {
  const run = await stage(world, crmAnew, link);
  await world.faults(fault);
  expect(await world.workOnce(run)).toEqual(['deferred']);
  await world.faults();
  return run;
}

async function edit(world: UpsertWorld, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const { id, defaultFields, customFields } = await world.contactOf('k-1');
  await world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, ...fields }, customFields });
}

/** What is remembered of the key, without ids and instants. */
async function remembered({ ledger }: UpsertWorld) {
  const known = (await ledger.contacts.get(['k-1'])).get('k-1');
  return { ...known, contactId: null, linkedTo: null, writtenAtMs: null, seen: null };
}

const valuesOf = (items: readonly { readonly value: string | null }[]) => items.map(({ value }) => value).toSorted();

async function shown(world: UpsertWorld) {
  const { company, role, emails: addresses, phoneNumbers } = (await world.contactOf('k-1')).defaultFields;
  return { company, role, emails: valuesOf(addresses), phones: valuesOf(phoneNumbers) };
}

/** The other feed's file is the same as before; then it really changes. */
async function expectForgotten(world: UpsertWorld): Promise<void> {
  const before = await shown(world);
  const same = await world.load([ofShop], { feed: 'shop' });
  expect(same.counts).toMatchObject({ updated: 1, heldFields: 0, dead: 0 });
  expect(await shown(world)).toEqual({ ...before, company: 'Elm', phones: [phone(1)] });
  const changed = await world.load([shopAnew], { feed: 'shop' });
  expect(changed.counts).toMatchObject({ updated: 1, heldFields: 0 });
  expect(await shown(world)).toEqual({ ...before, company: 'Oak', phones: [phone(2)] });
  // What the create put there is the feed's own.
  await world.load([wanted('k-1', { role: 'Boss', emails: { work: [] } })], { feed: 'crm' });
  expect(await shown(world)).toEqual({ role: 'Boss', emails: [], company: 'Oak', phones: [phone(2)] });
  await world.expectSound();
}

/** Replies to writes show another last name than was sent. */
function bent({ workspace, ...parts }: UpsertParts): UpsertParts {
  const bend = (result: WriteResult): WriteResult => {
    if (result.kind !== 'done') return result;
    const { contact } = result;
    return { ...result, contact: { ...contact, defaultFields: { ...contact.defaultFields, lastName: 'Other' } } };
  };
  const createContact: typeof workspace.createContact = async (...asked) =>
    bend(await workspace.createContact(...asked));
  return { ...parts, workspace: { ...workspace, createContact } };
}

test('the other feed writes its fields again though the answer was lost, as where it came', async () => {
  const answered = await withGone();
  await answered.finish(await stage(answered, crmAnew));
  const world = await withGone();
  const run = await world.finish(await tryWith(world, 'create:dropAfter'));
  expect(run.counts).toMatchObject({ created: 1, updated: 0, dead: 0 });
  expect(await remembered(world)).toEqual(await remembered(answered));
  await expectForgotten(world);
  await expectForgotten(answered);
});

test.each(['before', 'after'] as const)(
  'so it does where the process dies %s any of its steps',
  { timeout: 60_000 },
  async (moment) => {
    let deaths = 0;
    // Ends: at some call the work is done before the process would die.
    for (let at = 1; ; at += 1) {
      const world = await withGone();
      const run = await stage(world, crmAnew);
      const [batch] = await world.ledger.runs.nextBatches(await world.ledger.nowMs(world.clock), 10);
      if (batch === undefined) throw new Error('the run has a batch');
      const process = mortal(world.parts, at, moment);
      await processBatch(process.parts, batch, new AbortController().signal).catch(() => undefined);
      if (process.lives()) break;
      deaths += 1;
      const { counts } = await world.finish(run);
      expect(counts, `call ${at}`).toMatchObject({ rows: 1, created: 1, updated: 0, dead: 0 });
      await expectForgotten(world);
    }
    expect(deaths).toBeGreaterThan(5);
  },
);

test('the other feed’s own run may find the contact, and an older run of it still counts', async () => {
  const world = await withGone();
  const older = await stage(world, shopAnew);
  const run = await tryWith(world, 'create:dropAfter');
  expect((await world.finish(await stage(world, ofShop))).counts).toMatchObject({ created: 1, heldFields: 0 });
  expect(await shown(world)).toMatchObject({ role: 'Buyer', company: 'Elm', phones: [phone(1)] });
  expect((await world.finish(run)).counts).toMatchObject({ unchanged: 1 });
  expect((await world.finish(older)).counts).toMatchObject({ skipped: 1 });
  await world.load([wanted('k-1', { role: 'Boss', emails: { work: [] } })], { feed: 'crm' });
  expect(await shown(world)).toMatchObject({ role: 'Boss', emails: [], company: 'Elm' });
});

test('a run of the other feed that has waited since before is not older than what it forgot', async () => {
  const world = await withGone();
  const waits = await stage(world, shopAnew);
  await world.finish(await tryWith(world, 'create:dropAfter'));
  expect((await world.finish(waits)).counts).toMatchObject({ updated: 1, skipped: 0 });
  expect(await shown(world)).toMatchObject({ company: 'Oak', phones: [phone(2)] });
});

test('what people changed before it is found is kept, also where the answer to the update is lost, too', async () => {
  const world = await withGone();
  const run = await tryWith(world, 'create:dropAfter');
  // Of two feeds one has the contact in doubt, and the other has a field to write to it.
  await edit(world, { role: 'Chief', emails: [{ name: 'work', value: 'ann@example.com' }] });
  const shop = await stage(world, ofShop);
  await world.faults('update:dropAfter');
  for (let round = 0; round < 3 && (await shown(world)).company === null; round += 1) {
    world.clock.advance(60_000);
    await world.workOnce(shop);
  }
  await world.faults();
  await edit(world, { company: 'Ash' });
  expect((await world.finish(shop)).counts).toMatchObject({ created: 1, dead: 0 });
  expect((await world.finish(run)).counts).toMatchObject({ dead: 0, heldFields: 1 });
  expect(await shown(world)).toMatchObject({ role: 'Chief', phones: [phone(1)] });
  await world.load([shopAnew], { feed: 'shop' });
  expect(await shown(world)).toMatchObject({ role: 'Chief', phones: [phone(2)] });
});

test.each(['create', 'link'] as const)(
  'a field of the other feed that waits for a person does not wait for the new contact (%s)',
  async (how) => {
    const limits = { onGoneOf: () => 'recreate' as const };
    const world = await openUpsertWorld({ limits });
    await world.load([ofCrm], { feed: 'crm' });
    await world.load([ofShop], { feed: 'shop' });
    await edit(world, { company: 'Ash' });
    expect((await world.load([shopAnew], { feed: 'shop' })).counts).toMatchObject({ heldFields: 1 });
    expect(await world.ledger.contacts.held({ limit: 9 })).toMatchObject([{ feed: 'shop', field: 'company' }]);
    const { id } = await world.contactOf('k-1');
    expect((await world.service.call('DELETE', `/v1/contacts/${id}`)).status).toBe(204);
    const byHand = { defaultFields: { firstName: 'Ann', role: null } };
    const link: RowLink =
      how === 'create'
        ? { kind: 'again' }
        : { kind: 'contact', contactId: (await world.byHand('POST', '/v1/contacts', byHand)).id, isDecided: true };
    await world.finish(await stage(world, crmAnew, link));
    expect(await world.ledger.contacts.held({ limit: 9 })).toEqual([]);
    expect((await world.load([shopAnew], { feed: 'shop' })).counts).toMatchObject({ updated: 1, heldFields: 0 });
    expect(await shown(world)).toMatchObject({ company: 'Oak', phones: [phone(2)] });
    expect(await world.ledger.contacts.held({ limit: 9 })).toEqual([]);
  },
);

test('so it does where the reply differs, and the row is rejected', async () => {
  const world = await withGone();
  const run = await stage(world, crmAnew);
  await world.workOnce(run, bent(world.parts));
  expect((await world.finish(run)).counts).toMatchObject({ created: 0, dead: 1 });
  await expectForgotten(world);
});

describe('a contact that is linked in place', () => {
  const inDoubt = async (fault: string) => {
    const world = await withGone();
    const { id } = await world.byHand('POST', '/v1/contacts', { defaultFields: { firstName: 'Ann', role: null } });
    const link: RowLink = { kind: 'contact', contactId: id, isDecided: true };
    return { world, run: await tryWith(world, fault, link) };
  };

  test('is the feed’s with all that the lost write put there', async () => {
    const { world, run } = await inDoubt('update:dropAfter');
    expect((await world.finish(run)).counts).toMatchObject({ updated: 1, linked: 1, dead: 0 });
    await expectForgotten(world);
  });

  test('leaves a run of the other feed that waits as old as it was', async () => {
    const world = await withGone();
    const waits = await stage(world, shopAnew);
    const { id } = await world.byHand('POST', '/v1/contacts', { defaultFields: { firstName: 'Ann', role: null } });
    const link: RowLink = { kind: 'contact', contactId: id, isDecided: true };
    await world.finish(await tryWith(world, 'update:dropAfter', link));
    expect((await world.finish(waits)).counts).toMatchObject({ updated: 1, skipped: 0 });
  });
});
