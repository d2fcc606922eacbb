/** The wall clock is for people: what was put off goes on when its time has passed, whatever that clock says meanwhile. */
import { describe, expect, test } from 'vitest';
import { horizonMs } from '#src/upsert/chunk.ts';
import { phone, wanted } from './support/build.ts';
import { openUpsertWorld } from './support/upsert-world.ts';

const hourMs = 3_600_000;

describe.each([
  ['set back by an hour', -hourMs],
  ['put forward by an hour', hourMs],
])('a wall clock that is %s', (_how, stepMs) => {
  test.each(['create:dropAfter', 'create:status=503'])(
    'lets a row that waits after %s end as it would have',
    async (fault) => {
      const world = await openUpsertWorld({ faults: [fault] });
      const run = await world.stage([wanted('crm-1', { phones: { mobile: [phone(1)] } }), wanted('crm-2')]);
      expect(await world.workOnce(run)).toEqual(['deferred']);
      await world.faults();
      world.clock.setWallBy(stepMs);
      expect(await world.workOnce(run), 'it still waits').toEqual([]);
      world.clock.advance(horizonMs(world.parts.limits));
      // Also in a process that was started after the step.
      expect(await world.workOnce(run, await world.anotherWorker())).toEqual(['done']);
      expect((await world.finish(run)).counts).toMatchObject({ created: 2, dead: 0 });
      await world.expectSound();
    },
  );

  test('in the middle of an update in doubt changes nothing of its end', async () => {
    const world = await openUpsertWorld();
    await world.load([wanted('crm-1')]);
    await world.faults('update:dropAfter');
    const run = await world.stage([wanted('crm-1', { role: 'Buyer' })]);
    await world.workOnce(run);
    await world.faults();
    world.clock.setWallBy(stepMs);
    world.clock.advance(horizonMs(world.parts.limits));
    expect(await world.workOnce(run)).toEqual(['done']);
    expect((await world.finish(run)).counts).toMatchObject({ updated: 1, dead: 0 });
    expect((await world.contactOf('crm-1')).defaultFields.role).toBe('Buyer');
    await world.expectSound();
  });
});
