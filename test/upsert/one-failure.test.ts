/** What ends one piece of work ends it for the rest too: nothing more is sent after a failure, a stop, or a lagging list. */
import { describe, expect, test } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import type { UpsertParts } from '#src/upsert/chunk.ts';
import type { Workspace } from '#src/workspace/port.ts';
import { wanted } from './support/build.ts';
import { openUpsertWorld } from './support/upsert-world.ts';

/** The same worker, with another way to the service. */
function withWorkspace(parts: UpsertParts, other: (real: Workspace) => Partial<Workspace>): UpsertParts {
  return { ...parts, workspace: { ...parts.workspace, ...other(parts.workspace) } };
}

const people = (count: number) => Array.from({ length: count }, (_, index) => wanted(`crm-${index}`));

describe('after the first failure that stops all work', () => {
  test('the other keys of the chunk send nothing: their rows wait', async () => {
    const world = await openUpsertWorld({ limits: { writesAtOnce: 1 }, faults: ['create:status=401'] });
    const run = await world.stage(people(5));
    let creates = 0;
    const refused = new PatchbayError('auth', 'keyRefused', 'the service refuses the API key (401)');
    const worker = withWorkspace(world.parts, (real) => ({
      createContact: (body, options) => {
        creates += 1;
        return real.createContact(body, options);
      },
      listByExternalIds: async (keys, options) => {
        if (creates > 0) throw refused;
        return real.listByExternalIds(keys, options);
      },
    }));
    await expect(world.workOnce(run, worker)).rejects.toBe(refused);
    expect(creates).toBe(1);
    expect(await world.ledger.runs.pendingCount(run.id)).toBe(5);
    await world.faults();
    world.clock.advance(60_000);
    expect((await world.finish(run)).counts).toMatchObject({ created: 5 });
    await world.expectSound();
  });
});

describe('a run that left its work meanwhile', () => {
  // A stopped run may go on one day; of one that is cancelled no further contact is made.
  test.each([
    ['stopped', 20],
    ['cancelling', 0],
  ] as const)('as %s is not gone on with after the chunk at hand', async (state, created) => {
    const world = await openUpsertWorld();
    const run = await world.stage(people(40), { rowsPerBatch: 40 });
    let lookUps = 0;
    const worker = withWorkspace(world.parts, (real) => ({
      listByExternalIds: async (keys, options) => {
        lookUps += 1;
        await world.ledger.runs.move(run.id, ['applying'], state, { atMs: 1 });
        return real.listByExternalIds(keys, options);
      },
    }));
    await world.workOnce(run, worker);
    expect(lookUps).toBe(1);
    expect(world.service.counts()).toMatchObject({ create: created });
    expect(await world.ledger.runs.pendingCount(run.id)).toBe(40 - created);
    await world.expectSound();
  });
});

test('a list that still shows the contact that an update has just missed shows nothing: it is gone', async () => {
  const world = await openUpsertWorld();
  await world.load([wanted('crm-1', { role: 'Buyer' })]);
  const there = await world.contactOf('crm-1');
  await world.byHand('DELETE', `/v1/contacts/${there.id}`);
  const run = await world.stage([wanted('crm-1', { role: 'Seller' })]);
  const lagging = withWorkspace(world.parts, () => ({
    listByExternalIds: async () => ({ contacts: [there], readAtMs: world.clock.monotonicMs() }),
  }));
  expect(await world.workOnce(run, lagging)).toEqual(['done']);
  expect(await world.eventsOf(run)).toMatchObject([{ kind: 'skipped', code: 'gone', key: 'crm-1' }]);
  expect(world.service.counts()).toMatchObject({ update: 1 });
  await world.expectSound();
});
