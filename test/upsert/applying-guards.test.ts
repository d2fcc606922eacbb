/** `rules.md`, "Guards": while applying, a ledger that knows nothing and a service that takes nothing stop the run. */
import { describe, expect, test } from 'vitest';
import { noOptions } from '#src/ledger/run-options.ts';
import { wanted } from './support/build.ts';
import { openUpsertWorld, type UpsertWorld } from './support/upsert-world.ts';

const people = (count: number, role = 'Buyer') =>
  Array.from({ length: count }, (_, index) => wanted(`crm-${index}`, { role }));

async function enterByHand(world: UpsertWorld, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await world.byHand('POST', '/v1/contacts', {
      externalId: `crm-${index}`,
      defaultFields: { firstName: 'Ada', role: 'Owner' },
    });
  }
}

describe('contacts found that the ledger did not know', () => {
  test('stop the run before the first of them is written, from 10 and above 30 % of those looked up', async () => {
    const world = await openUpsertWorld();
    await enterByHand(world, 10);
    const run = await world.stage(people(20));
    await expect(world.workOnce(run)).rejects.toMatchObject({ kind: 'guard', code: 'guardAdoptions' });
    expect(world.service.counts()).toMatchObject({ create: 10, update: 0 });
    await world.expectSound();
  });

  test('pass below 10', async () => {
    const world = await openUpsertWorld();
    await enterByHand(world, 9);
    expect((await world.load(people(20))).counts).toMatchObject({ created: 11, updated: 9, adopted: 9 });
    await world.expectSound();
  });

  test('pass up to 30 % of those looked up', async () => {
    const world = await openUpsertWorld({
      limits: { applyingOf: () => ({ adoptionsMax: 0.3, adoptionsFloor: 6, refusalsMax: 20 }) },
    });
    await enterByHand(world, 6);
    expect((await world.load(people(20))).counts).toMatchObject({ created: 14, adopted: 6 });
  });

  test.each([{ adopt: true }, { accept: true }, { maxChange: 0.5 }])(
    'pass where somebody said so: %o',
    async (said) => {
      const world = await openUpsertWorld();
      await enterByHand(world, 10);
      const run = await world.stage(people(20));
      await world.ledger.runs.setOptions(run.id, { ...noOptions, ...said });
      expect((await world.finish(run)).counts).toMatchObject({ created: 10, updated: 10, adopted: 10 });
      await world.expectSound();
    },
  );
});

describe('writes that are all refused with one code', () => {
  test('stop the run after the first 20 of them', async () => {
    const world = await openUpsertWorld({ faults: ['create:status=400'] });
    const run = await world.stage(people(60));
    await expect(world.workOnce(run)).rejects.toMatchObject({ kind: 'guard', code: 'guardRefusals' });
    expect(world.service.counts()).toMatchObject({ create: 20 });
    expect(await world.countsOf(run)).toMatchObject({ dead: 20, created: 0 });
    await world.expectSound();
  });

  test('do not stop it once one was accepted', async () => {
    const world = await openUpsertWorld();
    const refused = Array.from({ length: 25 }, (_, index) =>
      wanted(`bad-${index}`, { customFields: { no_such_field: 'x' } }),
    );
    const run = await world.load([wanted('crm-1'), ...refused]);
    expect(run.counts).toMatchObject({ created: 1, dead: 25 });
  });
});
