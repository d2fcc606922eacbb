import { describe, expect, test } from 'vitest';
import type { Ledger } from '#src/ledger/port.ts';
import { processBatch } from '#src/upsert/process-batch.ts';
import { wanted } from './support/build.ts';
import { openUpsertWorld, type UpsertWorld } from './support/upsert-world.ts';

const never = new AbortController().signal;

/** Somebody on another machine holds the key. */
async function hold({ ledger, clock }: UpsertWorld, key: string): Promise<void> {
  await ledger.contacts.lease({
    feed: 'main',
    keys: [{ key, sequence: 1_000 }],
    owner: 'elsewhere/1/1/1#a',
    leaseMs: 3_600_000,
    nowMs: await ledger.nowMs(clock),
    isOwnerDead: () => false,
  });
}

const giveBack = (ledger: Ledger, key: string) => ledger.contacts.release('elsewhere/1/1/1#a', [key]);

describe('a key that another piece of work holds', () => {
  test('is put off, and the others are written', async () => {
    const world = await openUpsertWorld();
    await hold(world, 'crm-1');
    const run = await world.stage([wanted('crm-1'), wanted('crm-2')]);
    expect(await world.workOnce(run)).toEqual(['deferred']);
    expect(await world.countsOf(run)).toMatchObject({ created: 1 });
    await world.workOnce(run);
    expect(world.service.counts()).toMatchObject({ create: 1, list: 1 });
    await giveBack(world.ledger, 'crm-1');
    expect((await world.finish(run)).counts).toMatchObject({ created: 2 });
    await world.expectSound();
  });

  test('is free when its holder has died', async () => {
    const world = await openUpsertWorld();
    const run = await world.stage([wanted('crm-1')]);
    const [host, boot, pid] = world.parts.identity.name.split('/');
    await world.ledger.contacts.lease({
      feed: 'main',
      keys: [{ key: 'crm-1', sequence: run.sequence }],
      // This process's pid with another start: its predecessor under that number.
      owner: `${host}/${boot}/${pid}/1#a`,
      leaseMs: 3_600_000,
      nowMs: await world.ledger.nowMs(world.clock),
      isOwnerDead: () => false,
    });
    expect(await world.workOnce(run)).toEqual(['done']);
    expect(await world.countsOf(run)).toMatchObject({ created: 1 });
    await world.expectSound();
  });
});

describe('rows of different age', () => {
  test.each([
    ['of its feed', 'main'],
    ['of another feed that changed the same', 'shop'],
  ])('an older row never overwrites a newer one %s: it is superseded', async (_, feed) => {
    const world = await openUpsertWorld();
    const older = await world.stage([wanted('crm-1', { role: 'Buyer' })]);
    const newer = await world.stage([wanted('crm-1', { role: 'Seller' })], { feed });
    expect((await world.finish(newer)).counts).toMatchObject({ created: 1 });
    expect((await world.finish(older)).counts).toMatchObject({ skipped: 1, updated: 0 });
    expect(await world.eventsOf(older)).toMatchObject([{ kind: 'skipped', code: 'superseded', key: 'crm-1' }]);
    expect((await world.contactOf('crm-1')).defaultFields.role).toBe('Seller');
    await world.expectSound();
  });
});

describe('two workers', () => {
  test.each(['merge', 'replace'] as const)('on one batch write each contact once (%s)', async (patchMode) => {
    const world = await openUpsertWorld({ patchMode });
    const other = await world.anotherWorker();
    const keys = Array.from({ length: 45 }, (_, index) => `crm-${index}`);
    const run = await world.stage(
      keys.map((key) => wanted(key)),
      { rowsPerBatch: 50 },
    );
    const [batch] = await world.ledger.runs.nextBatches(await world.ledger.nowMs(world.clock), 1);
    if (batch === undefined) throw new Error('a batch was staged');
    const working = [world.parts, other, world.parts].map((worker) => processBatch(worker, batch, never));
    await Promise.all(working);
    const finished = await world.finish(run);
    expect(finished.counts).toMatchObject({ rows: 45, created: 45, updated: 0, adopted: 0 });
    expect(world.service.counts().create).toBe(45);
    await world.expectSound();
  });

  test('on two feeds with the same new keys make one contact of each', async () => {
    const world = await openUpsertWorld({ faults: ['create:dropAfter:30%'] });
    const other = await world.anotherWorker();
    const keys = Array.from({ length: 30 }, (_, index) => `crm-${index}`);
    const main = await world.stage(keys.map((key) => wanted(key, { role: 'Buyer' })));
    const shop = await world.stage(
      keys.toReversed().map((key) => wanted(key, { company: 'Example Ltd' })),
      {
        feed: 'shop',
      },
    );
    await Promise.all([world.workOnce(main), world.workOnce(shop, other)]);
    await world.faults();
    await world.finish(main);
    await world.finish(shop);
    const contacts = await world.contacts();
    expect(contacts).toHaveLength(30);
    const counts = await Promise.all([main, shop].map((run) => world.countsOf(run)));
    expect(counts.reduce((sum, one) => sum + one.created, 0)).toBe(30);
    expect(contacts.every(({ defaultFields }) => defaultFields.company === 'Example Ltd')).toBe(true);
    await world.expectSound();
  });
});

describe('a batch', () => {
  test('that was put back since the job was made is left alone', async () => {
    const world = await openUpsertWorld();
    const run = await world.stage([wanted('crm-1')]);
    const reference = { runId: run.id, batch: 1, generation: 1 };
    expect(await processBatch(world.parts, reference, never)).toBe('stale');
    expect(await processBatch(world.parts, { ...reference, batch: 2, generation: 0 }, never)).toBe('stale');
    expect(await processBatch(world.parts, { ...reference, runId: 'unknown' }, never)).toBe('stale');
    expect(world.service.counts().list ?? 0).toBe(0);
    await world.expectSound();
  });

  test.each(['stopped', 'cancelling', 'done'] as const)('of a run that is %s is left alone', async (state) => {
    const world = await openUpsertWorld();
    const run = await world.stage([wanted('crm-1')]);
    await world.ledger.runs.move(run.id, ['applying'], state, { atMs: world.clock.nowMs() });
    const reference = { runId: run.id, batch: 1, generation: 0 };
    expect(await processBatch(world.parts, reference, never)).toBe('stale');
    expect(await world.contacts()).toEqual([]);
    await world.expectSound();
  });

  test('that is given up before it begins sends nothing and is due again at once', async () => {
    const world = await openUpsertWorld();
    const run = await world.stage([wanted('crm-1')]);
    const reference = { runId: run.id, batch: 1, generation: 0 };
    expect(await processBatch(world.parts, reference, AbortSignal.abort())).toBe('deferred');
    expect(world.service.counts().list ?? 0).toBe(0);
    await world.expectSound();
    expect((await world.finish(run)).counts).toMatchObject({ created: 1 });
  });

  test('that is given up while a create is on its way waits for its answer and records it', async () => {
    const world = await openUpsertWorld({ faults: ['create:latency=100ms'] });
    const run = await world.stage([wanted('crm-1')]);
    const stop = new AbortController();
    const working = processBatch(world.parts, { runId: run.id, batch: 1, generation: 0 }, stop.signal);
    while ((world.service.counts().create ?? 0) === 0) await world.clock.sleep(2);
    stop.abort();
    await working;
    expect(await world.countsOf(run)).toMatchObject({ created: 1 });
    await world.expectSound();
  });

  test('whose run is cancelled while a create is on its way leaves no lease, and the contact is found later', async () => {
    const world = await openUpsertWorld({ faults: ['create:latency=100ms'] });
    const run = await world.stage([wanted('crm-1')]);
    const working = world.workOnce(run);
    while ((world.service.counts().create ?? 0) === 0) await world.clock.sleep(2);
    await world.ledger.runs.move(run.id, ['applying'], 'cancelling', { atMs: world.clock.nowMs() });
    await world.ledger.runs.skipPending(run.id, 'cancelled', world.clock.nowMs());
    await working;
    expect(await world.countsOf(run)).toMatchObject({ created: 0, skipped: 1 });
    await world.expectSound();
    await world.faults();
    const again = await world.load([wanted('crm-1')]);
    expect(again.counts).toMatchObject({ rows: 1, unchanged: 1 });
    expect(world.service.counts().create).toBe(1);
    await world.expectSound();
  });
});
