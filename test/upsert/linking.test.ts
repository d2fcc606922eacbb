/** Linking: a contact without an externalId gets the key of its row (`docs/rules.md`, "Contacts without an externalId"). */
import { describe, expect, test } from 'vitest';
import type { RowLink } from '#src/ledger/staging.ts';
import type { UpsertParts } from '#src/upsert/chunk.ts';
import { processBatch } from '#src/upsert/process-batch.ts';
import { phone, wanted } from './support/build.ts';
import { mortal } from './support/mortal.ts';
import { openUpsertWorld, type UpsertWorld } from './support/upsert-world.ts';

const row = wanted('c-1', { company: 'Fir', role: 'Buyer', phones: { work: [phone(1)], mobile: [phone(2)] } });
const handMade = {
  defaultFields: { firstName: 'Ann', role: 'Owner', phoneNumbers: [{ name: 'home', value: phone(1) }] },
};

const byHand = async (world: UpsertWorld, body: unknown = handMade): Promise<string> =>
  (await world.byHand('POST', '/v1/contacts', body)).id;
const linkTo = (contactId: string): Readonly<Record<string, RowLink>> => ({
  'c-1': { kind: 'contact', contactId, isDecided: true },
});
const unclear: Readonly<Record<string, RowLink>> = { 'c-1': { kind: 'unclear', isDecided: true } };
const adopting = { adopt: true };

/** The row reached the contact that was made by hand, and nothing of it was overwritten. */
async function expectLinked(world: UpsertWorld, id: string): Promise<void> {
  const contact = await world.contactOf('c-1');
  expect(contact.id).toBe(id);
  const { firstName, company, role, phoneNumbers } = contact.defaultFields;
  expect({ firstName, company, role }).toEqual({ firstName: 'Ann', company: 'Fir', role: 'Owner' });
  expect(phoneNumbers.map(({ name, value }) => [name, value])).toEqual([
    ['home', phone(1)],
    ['mobile', phone(2)],
  ]);
}

const deadCodes = async (world: UpsertWorld, id: string): Promise<readonly string[]> =>
  (await world.ledger.runs.deadByCode(id)).map(({ code }) => code);

describe.each(['merge', 'replace'] as const)(
  'a row that is one contact without an externalId, where PATCH means %s',
  (patchMode) => {
    test('gives it the key, fills what is empty, and holds what differs, although the file adopts', async () => {
      const world = await openUpsertWorld({ patchMode });
      const id = await byHand(world);
      const run = await world.load([row], { options: adopting, links: linkTo(id) });
      await expectLinked(world, id);
      expect(run.counts).toMatchObject({ created: 0, updated: 1, adopted: 1, linked: 1, heldFields: 1 });
      expect(world.service.counts().create).toBe(1);
      await world.expectSound();
    });

    test('gets the key where nothing else is to be written', async () => {
      const world = await openUpsertWorld({ patchMode });
      const id = await byHand(world, { defaultFields: { firstName: 'Ann' } });
      const run = await world.load([wanted('c-1')], { options: adopting, links: linkTo(id) });
      expect((await world.contactOf('c-1')).id).toBe(id);
      expect(run.counts).toMatchObject({ updated: 1, linked: 1 });
    });

    test('keeps its own values later, too: no file wins over what it never agreed on', async () => {
      const world = await openUpsertWorld({ patchMode });
      const id = await byHand(world);
      await world.load([row], { options: adopting, links: linkTo(id) });
      const next = { ...row, scalars: { ...row.scalars, role: 'Chief', company: 'Elm' } };
      const run = await world.load([next], { options: adopting });
      expect((await world.contactOf('c-1')).defaultFields).toMatchObject({ role: 'Owner', company: 'Elm' });
      expect(run.counts).toMatchObject({ updated: 1, adopted: 0, linked: 0, heldFields: 1 });
    });
  },
);

test.each(['update:hangAfter=20ms', 'update:dropAfter', 'update:truncated', 'update:dropBefore', 'update:status=503'])(
  'an answer that is lost leaves one contact, linked once: %s',
  async (fault) => {
    const world = await openUpsertWorld();
    const id = await byHand(world);
    await world.faults(fault);
    const run = await world.stage([row], { options: adopting, links: linkTo(id) });
    await world.workOnce(run);
    await world.faults();
    expect((await world.finish(run)).counts).toMatchObject({
      created: 0,
      updated: 1,
      adopted: 1,
      linked: 1,
      heldFields: 1,
    });
    await expectLinked(world, id);
    await world.expectSound();
  },
);

test.each(['before', 'after'] as const)(
  'a contact without an externalId is neither made again nor overwritten where the process dies %s any of its steps',
  { timeout: 60_000 },
  async (moment) => {
    let deaths = 0;
    // Ends: at some call the work is done before the process would die.
    for (let at = 1; ; at += 1) {
      const world = await openUpsertWorld();
      const id = await byHand(world);
      const run = await world.stage([row], { options: adopting, links: linkTo(id) });
      const [batch] = await world.ledger.runs.nextBatches(await world.ledger.nowMs(world.clock), 10);
      if (batch === undefined) throw new Error('the run has a batch');
      const process = mortal(world.parts, at, moment);
      await processBatch(process.parts, batch, new AbortController().signal).catch(() => undefined);
      if (process.lives()) break;
      deaths += 1;
      await world.finish(run);
      await expectLinked(world, id);
      const { counts } = (await world.ledger.runs.get(run.id)) ?? run;
      expect(counts, `call ${at}`).toMatchObject({ rows: 1, created: 0, updated: 1, linked: 1, dead: 0 });
      expect(world.service.counts().create, `call ${at}`).toBe(1);
      await world.expectSound();
    }
    expect(deaths).toBeGreaterThan(8);
  },
);

describe('a row that cannot be linked is rejected, and makes no contact', () => {
  test('the contact is gone', async () => {
    const world = await openUpsertWorld();
    const id = await byHand(world);
    const run = await world.stage([row], { options: adopting, links: linkTo(id) });
    await world.byHand('DELETE', `/v1/contacts/${id}`);
    expect((await world.finish(run)).counts).toMatchObject({ created: 0, dead: 1 });
    expect(await deadCodes(world, run.id)).toEqual(['linkGone']);
    expect(await world.contacts()).toEqual([]);
    await world.expectSound();
  });

  test('the contact has got another key meanwhile', async () => {
    const world = await openUpsertWorld();
    const id = await byHand(world);
    const run = await world.stage([row], { options: adopting, links: linkTo(id) });
    await world.byHand('PATCH', `/v1/contacts/${id}`, { externalId: 'shop-7' });
    await world.finish(run);
    expect(await deadCodes(world, run.id)).toEqual(['linkTaken']);
    expect((await world.contacts()).map(({ externalId }) => externalId)).toEqual(['shop-7']);
    await world.expectSound();
  });

  test('it may be one of several', async () => {
    const world = await openUpsertWorld();
    await byHand(world);
    const run = await world.load([row], { options: adopting, links: unclear });
    expect(await deadCodes(world, run.id)).toEqual(['linkUnclear']);
    expect((await world.contacts()).length).toBe(1);
  });

  test('the service refuses the key: it is not bound to the contact', async () => {
    const world = await openUpsertWorld();
    const id = await byHand(world);
    await world.faults('update:status=422');
    const run = await world.load([row], { options: adopting, links: linkTo(id) });
    expect(await deadCodes(world, run.id)).toEqual(['refused422']);
    const known = await world.ledger.contacts.get(['c-1']);
    expect(known.get('c-1')).toMatchObject({ contactId: null, claim: null, linkedTo: null });
    await world.faults();
    await world.load([row], { feed: 'main', options: adopting, links: linkTo(id) });
    await expectLinked(world, id);
  });
});

test('409: another contact has got the key, which no list showed yet; that one is updated, and none is made', async () => {
  const world = await openUpsertWorld({ limits: { visibilityLagMs: 1_000 } });
  const id = await byHand(world);
  const run = await world.stage([row], { options: adopting, links: linkTo(id) });
  await world.byHand('POST', '/v1/contacts', { externalId: 'c-1', defaultFields: { firstName: 'Ann' } });
  await world.faults('list:listLag=60s');
  await world.workOnce(run);
  await world.faults();
  expect((await world.finish(run)).counts).toMatchObject({ created: 0, updated: 1, linked: 0 });
  expect((await world.contacts()).map(({ externalId }) => externalId)).toEqual([null, 'c-1']);
  await world.expectSound();
});

test('a row whose key has its contact by now is not linked', async () => {
  const world = await openUpsertWorld();
  const id = await byHand(world);
  const other = await byHand(world, { externalId: 'c-1', defaultFields: { firstName: 'Ann' } });
  const run = await world.load([row], { options: adopting, links: linkTo(id) });
  expect((await world.contactOf('c-1')).id).toBe(other);
  expect(run.counts).toMatchObject({ adopted: 1, linked: 0 });
});

test('two keys of two feeds are not linked to one contact, whichever process is at work', async () => {
  const world = await openUpsertWorld();
  const id = await byHand(world);
  const other = { ...row, key: 's-1' };
  const crm = await world.stage([row], { feed: 'crm', options: adopting, links: linkTo(id) });
  const shop = await world.stage([other], {
    feed: 'shop',
    options: adopting,
    links: { 's-1': { kind: 'contact', contactId: id, isDecided: true } },
  });
  const second = await world.anotherWorker();
  // Both have read the contact before either writes.
  let arrived = 0;
  const bothRead = Promise.withResolvers<void>();
  const meeting = (parts: UpsertParts): UpsertParts => {
    const { ledger } = parts;
    const claimItems: typeof ledger.contacts.claimItems = async (request) => {
      arrived += 1;
      if (arrived === 2) bothRead.resolve();
      await bothRead.promise;
      return ledger.contacts.claimItems(request);
    };
    return { ...parts, ledger: { ...ledger, contacts: { ...ledger.contacts, claimItems } } };
  };
  await Promise.all([world.workOnce(crm, meeting(world.parts)), world.workOnce(shop, meeting(second))]);
  await world.finish(crm);
  await world.finish(shop);
  const [contact, ...others] = await world.contacts();
  expect(others).toEqual([]);
  const dead = [...(await deadCodes(world, crm.id)), ...(await deadCodes(world, shop.id))];
  expect(dead).toEqual(['linkTaken']);
  expect(['c-1', 's-1']).toContain(contact?.externalId);
  await world.expectSound();
});

test('without a decision for it nothing is linked: the contact is made', async () => {
  const world = await openUpsertWorld();
  const id = await byHand(world);
  const run = await world.load([row], { links: { 'c-1': { kind: 'contact', contactId: id } } });
  expect(run.counts).toMatchObject({ created: 1, linked: 0 });
  expect((await world.contacts()).length).toBe(2);
});
