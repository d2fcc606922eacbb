/** What a wait makes stale is never sent: lease, age of the read and start guard are looked at right before the write. */
import { describe, expect, test } from 'vitest';
import { createsPerIntent, horizonMs, keysPerChunk, type UpsertParts, updateHorizonMs } from '#src/upsert/chunk.ts';
import { wanted } from './support/build.ts';
import { defaultLimits } from './support/default-limits.ts';
import { openUpsertWorld } from './support/upsert-world.ts';

/** The same worker, with something that happens right after each look-up was answered. */
function afterLookUp(parts: UpsertParts, happen: () => void | Promise<void>): UpsertParts {
  const { workspace } = parts;
  return {
    ...parts,
    workspace: {
      ...workspace,
      listByExternalIds: async (keys, options) => {
        const found = await workspace.listByExternalIds(keys, options);
        await happen();
        return found;
      },
    },
  };
}

describe('a decision that grew old', () => {
  test('a read older than its limit is refreshed before the update is sent', async () => {
    const world = await openUpsertWorld();
    await world.load([wanted('crm-1', { role: 'Buyer' })]);
    const run = await world.stage([wanted('crm-1', { role: 'Seller' })]);
    const contact = await world.contactOf('crm-1');
    const slow = afterLookUp(world.parts, async () => {
      world.clock.advance(11_000);
      await world.byHand('PATCH', `/v1/contacts/${contact.id}`, {
        defaultFields: { firstName: 'Ann', role: 'Buyer', company: 'Example Ltd' },
      });
    });
    expect(await world.workOnce(run, slow)).toEqual(['done']);
    expect((await world.ledger.runs.get(run.id))?.requests).toMatchObject({ get: 2, patch: 1 });
    expect((await world.contactOf('crm-1')).defaultFields).toMatchObject({ role: 'Seller', company: 'Example Ltd' });
    await world.expectSound();
  });

  test('where no read is ever young enough, nothing is sent and the row is put off', async () => {
    const world = await openUpsertWorld();
    await world.load([wanted('crm-1', { role: 'Buyer' })]);
    const run = await world.stage([wanted('crm-1', { role: 'Seller' })]);
    const late = { ...world.parts, limits: { ...world.parts.limits, readAgeMaxMs: -1 } };
    expect(await world.workOnce(run, late)).toEqual(['deferred']);
    expect(world.service.counts().update ?? 0).toBe(0);
    expect((await world.finish(run)).counts).toMatchObject({ updated: 1 });
    await world.expectSound();
  });

  test('a lease that no longer covers a whole request sends nothing, and leaves no horizon', async () => {
    const world = await openUpsertWorld();
    const run = await world.stage([wanted('crm-1')]);
    const slow = afterLookUp(world.parts, () => world.clock.advance(31_000));
    expect(await world.workOnce(run, slow)).toEqual(['deferred']);
    expect(world.service.counts().create ?? 0).toBe(0);
    expect((await world.ledger.contacts.get(['crm-1'])).has('crm-1')).toBe(false);
    expect((await world.finish(run)).counts).toMatchObject({ created: 1 });
    await world.expectSound();
  });

  test('a create that would start later than the start guard is not sent, and leaves no horizon', async () => {
    const world = await openUpsertWorld();
    const run = await world.stage([wanted('crm-1')]);
    const { workspace } = world.parts;
    const createContact: typeof workspace.createContact = (body, options) => {
      world.clock.advance(12_000);
      return workspace.createContact(body, options);
    };
    const slow = { ...world.parts, workspace: { ...workspace, createContact } };
    expect(await world.workOnce(run, slow)).toEqual(['deferred']);
    expect(world.service.counts().create ?? 0).toBe(0);
    expect((await world.ledger.contacts.get(['crm-1'])).has('crm-1')).toBe(false);
    expect((await world.finish(run)).counts).toMatchObject({ created: 1 });
    await world.expectSound();
  });

  test('a worker that was frozen while another one took its key sends nothing', async () => {
    const world = await openUpsertWorld();
    const other = await world.anotherWorker();
    const frozen = await world.stage([wanted('crm-1', { role: 'Buyer' })]);
    const newer = await world.stage([wanted('crm-1', { role: 'Seller' })], { feed: 'shop' });
    const thawed = afterLookUp(world.parts, async () => {
      world.clock.advance(50_000);
      await world.workOnce(newer, other);
    });
    expect(await world.workOnce(frozen, thawed)).toEqual(['deferred']);
    expect(world.service.counts()).toMatchObject({ create: 1 });
    expect((await world.finish(frozen)).counts).toMatchObject({ skipped: 1 });
    expect((await world.finish(newer)).counts).toMatchObject({ created: 1 });
    expect((await world.contactOf('crm-1')).defaultFields.role).toBe('Seller');
    await world.expectSound();
  });

  test('a worker that was frozen before an update does not overwrite what another one wrote', async () => {
    const world = await openUpsertWorld();
    const other = await world.anotherWorker();
    await world.load([wanted('crm-1')]);
    const frozen = await world.stage([wanted('crm-1', { role: 'Buyer' })]);
    const newer = await world.stage([wanted('crm-1', { role: 'Seller' })], { feed: 'shop' });
    const thawed = afterLookUp(world.parts, async () => {
      world.clock.advance(50_000);
      await world.workOnce(newer, other);
    });
    await world.workOnce(frozen, thawed);
    expect((await world.finish(frozen)).counts).toMatchObject({ skipped: 1, updated: 0 });
    expect((await world.contactOf('crm-1')).defaultFields.role).toBe('Seller');
    expect(world.service.counts().update).toBe(1);
    await world.expectSound();
  });
});

describe('the size of a piece of work', () => {
  test('the horizon is start guard, the second until the socket write, latest commit and visibility lag together', () => {
    expect(horizonMs(defaultLimits)).toBe(42_000);
  });

  test('that of an update has the age of its read in place of the start guard', () => {
    expect(updateHorizonMs(defaultLimits)).toBe(43_000);
  });

  test.each([
    [8, 12, 4],
    [2, 3, 1],
    [0.1, 1, 1],
    [1_000, 20, 20],
    [null, 20, 20],
  ])('at %s requests per second a look-up serves %i keys, and an intent %i creates', (rate, keys, creates) => {
    expect(keysPerChunk({ ...defaultLimits, requestsPerSecond: rate })).toBe(keys);
    expect(createsPerIntent({ ...defaultLimits, requestsPerSecond: rate })).toBe(creates);
  });
});
