import { describe, expect, test, vi } from 'vitest';
import { emptyBase } from '#src/contacts/base.ts';
import { claimOf } from '#src/contacts/claim.ts';
import type { DesiredContact } from '#src/contacts/desired.ts';
import { planContact } from '#src/contacts/plan.ts';
import { usualPolicies } from '#src/contacts/policies.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { horizonMs } from '#src/upsert/chunk.ts';
import type { Contact } from '#src/wire/contact.ts';
import { phone, wanted } from './support/build.ts';
import { openUpsertWorld, type UpsertWorld } from './support/upsert-world.ts';

/** Commits, and the answer is lost in one way or another. */
const lostAfter = ['create:dropAfter', 'create:truncated', 'create:notJson', 'create:hangAfter=20ms'] as const;
/** Nothing was committed, and nobody can tell. */
const lostBefore = ['create:dropBefore', 'create:status=503', 'create:status=500', 'create:status=408'] as const;

/** The ledger as a worker leaves it that is killed between its intent and the answer. */
async function dieAfterIntent(
  { ledger, clock, parts }: UpsertWorld,
  run: RunRecord,
  ours: DesiredContact,
): Promise<void> {
  const [host, boot, pid] = parts.identity.name.split('/');
  // This process's pid with another start: its predecessor under that number.
  const owner = `${host}/${boot}/${pid}/1#a`;
  const nowMs = await ledger.nowMs(clock);
  await ledger.contacts.lease({
    feed: 'main',
    keys: [{ key: 'crm-1', sequence: run.sequence }],
    owner,
    leaseMs: parts.limits.leaseMs,
    nowMs,
    isOwnerDead: () => false,
  });
  const spanMs = horizonMs(parts.limits);
  const pictures = {
    feed: run.feed,
    sequence: run.sequence,
    sourceLabel: null,
    base: emptyBase,
    theirs: null,
    ours,
    itemRemoval: 'owned',
    policies: usualPolicies,
    isLinked: false,
    restores: false,
    adopt: false,
    yieldsItems: true,
    slotNames: null,
  } as const;
  const claim = claimOf(pictures, planContact(pictures));
  const contacts = [{ key: 'crm-1', owned: emptyBase.owned, claim }];
  await ledger.contacts.intend({ contacts, owner, runId: run.id, horizon: { atMs: nowMs + spanMs, spanMs } });
}

const phonesOf = ({ phoneNumbers }: Contact['defaultFields']) => phoneNumbers.map(({ value }) => value).toSorted();

describe('a create in doubt', () => {
  test.each(lostAfter)('%s: the contact is found after the horizon, and counts as created', async (fault) => {
    const world = await openUpsertWorld({ faults: [fault] });
    const run = await world.stage([wanted('crm-1', { phones: { mobile: [phone(1)] } })]);
    expect(await world.workOnce(run)).toEqual(['deferred']);
    expect(await world.countsOf(run)).toMatchObject({ created: 0, dead: 0 });
    await world.expectSound();
    await world.faults();
    const finished = await world.finish(run);
    expect(finished.counts).toMatchObject({ created: 1, updated: 0, adopted: 0 });
    expect(world.service.counts().create).toBe(1);
    expect(await world.contacts()).toHaveLength(1);
    await world.expectSound();
  });

  test.each(lostBefore)('%s: the contact is created once, by the second create', async (fault) => {
    const world = await openUpsertWorld({ faults: [fault] });
    const run = await world.stage([wanted('crm-1')]);
    await world.workOnce(run);
    expect(await world.contacts()).toHaveLength(0);
    await world.faults();
    expect((await world.finish(run)).counts).toMatchObject({ created: 1, dead: 0 });
    expect(world.service.counts().create).toBe(2);
    expect(await world.contacts()).toHaveLength(1);
    await world.expectSound();
  });

  test.each([
    ['main', { skipped: 1 }],
    ['shop', { unchanged: 1 }],
  ] as const)('nobody looks before the horizon has passed, not a newer run of %s either', async (feed, ends) => {
    const world = await openUpsertWorld({ faults: ['create:dropBefore'] });
    const run = await world.stage([wanted('crm-1')]);
    await world.workOnce(run);
    const nowMs = await world.ledger.nowMs(world.clock);
    const [batch] = await world.ledger.runs.nextBatches(nowMs, 1);
    const waitMs = (batch?.dueAtMs ?? 0) - nowMs;
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(horizonMs(world.parts.limits));
    const asked = world.service.counts();
    // A newer run that wants the same key meets the same horizon.
    const newer = await world.stage([wanted('crm-1', { role: 'Buyer' })], { feed });
    expect(await world.workOnce(run)).toEqual([]);
    expect(await world.workOnce(newer)).toEqual(['deferred']);
    expect(world.service.counts()).toEqual(asked);
    await world.faults();
    expect((await world.finish(newer)).counts).toMatchObject({ created: 1 });
    expect((await world.finish(run)).counts).toMatchObject(ends);
    expect((await world.contactOf('crm-1')).defaultFields.role).toBe('Buyer');
    await world.expectSound();
  });

  test('a create that lands late, but before the horizon, is found: one create, one contact', async () => {
    const world = await openUpsertWorld({ faults: ['create:lateCommit=60ms'] });
    const run = await world.stage([wanted('crm-1')]);
    await world.workOnce(run);
    await vi.waitFor(async () => expect(await world.contacts()).toHaveLength(1), 10_000);
    await world.faults();
    expect((await world.finish(run)).counts).toMatchObject({ created: 1, adopted: 0 });
    expect(world.service.counts().create).toBe(1);
    await world.expectSound();
  });

  test('a create that lands after the next one was sent still makes one contact', async () => {
    const world = await openUpsertWorld({ faults: ['create:lateCommit=60ms'] });
    const run = await world.stage([wanted('crm-1')]);
    await world.workOnce(run);
    // The worker's time runs ahead of the service's: the horizon has passed, and the create lands later still.
    await world.faults('create:latency=150ms');
    expect((await world.finish(run)).counts).toMatchObject({ created: 1, dead: 0 });
    expect(await world.contacts()).toHaveLength(1);
    await world.expectSound();
  });

  test('an answer that was lost makes no item nobody’s: it leaves with the file later', async () => {
    const world = await openUpsertWorld({ faults: ['create:dropAfter'] });
    const run = await world.stage([wanted('crm-1', { phones: { mobile: [phone(1)] } })]);
    await world.workOnce(run);
    await world.faults();
    await world.finish(run);
    const later = await world.load([wanted('crm-1', { phones: { mobile: [phone(2)] } })]);
    expect(later.counts).toMatchObject({ updated: 1, removedValues: 1 });
    const { phoneNumbers } = (await world.contactOf('crm-1')).defaultFields;
    expect(phoneNumbers.map(({ value }) => value)).toEqual([phone(2)]);
    await world.expectSound();
  });

  test('what people changed in a contact before its lost create was found is held, field by field', async () => {
    const world = await openUpsertWorld({ faults: ['create:dropAfter'] });
    const phones = { mobile: [phone(1)] };
    const run = await world.stage([wanted('crm-1', { role: 'Buyer', company: 'Old Mill', phones })]);
    await world.workOnce(run);
    await world.faults();
    const { id, defaultFields } = await world.contactOf('crm-1');
    const [item] = defaultFields.phoneNumbers;
    const phoneNumbers = [
      { ...item, value: null },
      { name: 'desk', value: phone(2) },
    ];
    await world.byHand('PATCH', `/v1/contacts/${id}`, {
      defaultFields: { ...defaultFields, role: 'Owner', phoneNumbers },
    });
    expect((await world.finish(run)).counts).toMatchObject({ created: 1, updated: 0, adopted: 0, heldFields: 1 });
    const found = (await world.contactOf('crm-1')).defaultFields;
    expect(found).toMatchObject({ role: 'Owner', company: 'Old Mill' });
    // A number that is not there as it was not there before has not landed, for all that can be told.
    expect(phonesOf(found)).toEqual([phone(1), phone(2)]);
    // The file goes on: what landed is written, nobody's edit is undone.
    const later = await world.load([wanted('crm-1', { role: 'Buyer', company: 'New Mill', phones })]);
    expect(later.counts).toMatchObject({ updated: 1, heldFields: 1 });
    expect((await world.contactOf('crm-1')).defaultFields).toMatchObject({ role: 'Owner', company: 'New Mill' });
    await world.expectSound();
  });

  test('a contact that somebody else made while our create was in doubt is adopted: its values are held, none is overwritten', async () => {
    const world = await openUpsertWorld({ faults: ['create:dropBefore'] });
    const run = await world.stage([wanted('crm-1', { role: 'Buyer' })]);
    await world.workOnce(run);
    await world.faults();
    const others = { externalId: 'crm-1', source: 'shop', defaultFields: { firstName: 'Ann', role: 'Owner' } };
    await world.byHand('POST', '/v1/contacts', others);
    expect((await world.finish(run)).counts).toMatchObject({ updated: 1, adopted: 1, created: 0, heldFields: 1 });
    expect((await world.contactOf('crm-1')).defaultFields.role).toBe('Owner');
    await world.expectSound();
  });

  test('such a contact is still known to be none of ours after an update of it was turned away', async () => {
    const world = await openUpsertWorld({ faults: ['create:dropBefore'] });
    const run = await world.stage([wanted('crm-1', { role: 'Buyer' })]);
    await world.workOnce(run);
    await world.faults('update:status=429;retryAfter=0');
    await world.byHand('POST', '/v1/contacts', {
      externalId: 'crm-1',
      source: 'shop',
      defaultFields: { firstName: 'Ann' },
    });
    world.clock.advance(horizonMs(world.parts.limits));
    expect(await world.workOnce(run)).toEqual(['deferred']);
    expect(world.service.counts().update).toBe(1);
    await world.faults();
    expect((await world.finish(run)).counts).toMatchObject({ updated: 1, adopted: 1, created: 0 });
    expect((await world.contactOf('crm-1')).defaultFields.role).toBe('Buyer');
    await world.expectSound();
  });

  test('an outage of any length kills no row', async () => {
    const world = await openUpsertWorld({ faults: ['create:status=503'] });
    const run = await world.stage([wanted('crm-1'), wanted('crm-2')]);
    for (let outage = 0; outage < 8; outage += 1) {
      await world.workOnce(run);
      world.clock.advance(60_000);
    }
    expect(await world.countsOf(run)).toMatchObject({ created: 0, dead: 0 });
    await world.faults();
    expect((await world.finish(run)).counts).toMatchObject({ created: 2, dead: 0 });
    await world.expectSound();
  });

  test('three doubts while other writes succeed kill the row, and its letter says why', async () => {
    const writeHealth = { succeeded: () => {}, succeededSince: () => true };
    const world = await openUpsertWorld({ faults: ['create:status=503'], writeHealth });
    const run = await world.load([wanted('crm-1')]);
    expect(run.counts).toMatchObject({ rows: 1, dead: 1, deadNew: 1 });
    expect(world.service.counts().create).toBe(3);
    expect(await world.ledger.deadLetters.list({ limit: 10 })).toMatchObject([
      { key: 'crm-1', class: 'doubt', code: 'doubt', state: 'open' },
    ]);
    await world.expectSound();
  });

  test('a row that was given up in doubt can be tried again, and counts its doubts anew', async () => {
    const writeHealth = { succeeded: () => {}, succeededSince: () => true };
    const world = await openUpsertWorld({ faults: ['create:status=503'], writeHealth });
    await world.load([wanted('crm-1')]);
    await world.faults();
    expect((await world.load([wanted('crm-1')])).counts).toMatchObject({ created: 1, dead: 0 });
    expect((await world.ledger.counts()).openLetters).toBe(0);
    await world.expectSound();
  });

  test.each([true, false])('a worker that died after its intent: what it made is found (made: %s)', async (made) => {
    const world = await openUpsertWorld();
    const ours = { ...wanted('crm-1', { role: 'Buyer' }), source: 'patchbay' };
    const run = await world.stage([ours]);
    await dieAfterIntent(world, run, ours);
    if (made) {
      const defaultFields = { firstName: 'Ann', role: 'Buyer' };
      await world.byHand('POST', '/v1/contacts', { externalId: 'crm-1', source: 'patchbay', defaultFields });
    }
    expect(await world.workOnce(run)).toEqual(['deferred']);
    expect(world.service.counts().list ?? 0).toBe(0);
    expect((await world.finish(run)).counts).toMatchObject({ created: 1, adopted: 0 });
    expect(world.service.counts().create).toBe(1);
    // What it sent is agreed, so the next file may change it.
    expect((await world.load([wanted('crm-1', { role: 'Seller' })])).counts).toMatchObject({ updated: 1 });
    await world.expectSound();
  });

  test('a storm of lost answers and failures ends with one contact per key, all counted', async () => {
    const faults = ['create:dropAfter:30%', 'create:status=503:20%', 'create:dropBefore:20%', 'list:status=503:10%'];
    const world = await openUpsertWorld({ faults });
    const keys = Array.from({ length: 60 }, (_, index) => `crm-${index}`);
    const run = await world.stage(keys.map((key) => wanted(key)));
    for (let round = 0; round < 12; round += 1) {
      await world.workOnce(run).catch(() => []);
      world.clock.advance(50_000);
    }
    await world.faults();
    const { counts } = await world.finish(run);
    expect(counts.created + counts.dead).toBe(60);
    const known = new Set((await world.contacts()).map((contact) => contact.externalId));
    // A row that was given up may have landed all the same: its letter says so.
    expect(known.size).toBeGreaterThanOrEqual(counts.created);
    await world.expectSound();
  });
});

describe('a key that the service calls taken', () => {
  const taken = { externalId: 'crm-1', defaultFields: { firstName: 'Ann' } };

  test('is looked up once more, and adopted when it shows', async () => {
    const world = await openUpsertWorld({ faults: ['list:listLag=60m'] });
    await world.byHand('POST', '/v1/contacts', taken);
    const run = await world.stage([wanted('crm-1', { role: 'Buyer' })]);
    expect(await world.workOnce(run)).toEqual(['deferred']);
    await world.faults();
    expect((await world.finish(run)).counts).toMatchObject({ updated: 1, adopted: 1, created: 0 });
    expect((await world.contactOf('crm-1')).defaultFields.role).toBe('Buyer');
    await world.expectSound();
  });

  test('is a conflict when no list ever shows it', async () => {
    const world = await openUpsertWorld({ faults: ['list:listLag=60m'] });
    await world.byHand('POST', '/v1/contacts', taken);
    const run = await world.load([wanted('crm-1')]);
    expect(run.counts).toMatchObject({ dead: 1, created: 0 });
    expect(await world.ledger.deadLetters.list({ limit: 10 })).toMatchObject([
      { class: 'conflict', code: 'keyTaken', answer: { status: 409, code: '0800409' } },
    ]);
    await world.faults();
    await world.expectSound();
  });
});
