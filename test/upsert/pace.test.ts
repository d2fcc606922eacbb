import { describe, expect, test } from 'vitest';
import type { Clock } from '#src/clock.ts';
import { createPace } from '#src/rate/rate-share.ts';
import { paceOf } from '#src/upsert/chunk.ts';
import { wanted } from './support/build.ts';
import { defaultLimits } from './support/default-limits.ts';
import { openUpsertWorld } from './support/upsert-world.ts';

const slowly = { keyCount: 12, tookMs: 10_000 };

describe('the pace under a shared rate', () => {
  test('halves while writes come too late, never below one key, and grows by one while they come in time', () => {
    const pace = createPace({ keysSure: 12, keysMax: 12, chunkMsMax: 500 });
    const after = (lateCount: number): number => {
      pace.ended({ ...slowly, lateCount });
      return pace.keysPerChunk();
    };
    expect(pace.keysPerChunk()).toBe(12);
    expect([3, 1, 1, 1, 1].map(after)).toEqual([6, 3, 1, 1, 1]);
    expect([0, 0, 0].map(after)).toEqual([2, 3, 4]);
    for (let chunk = 0; chunk < 20; chunk += 1) pace.ended({ ...slowly, lateCount: 0 });
    expect(pace.keysPerChunk()).toBe(12);
  });

  test('goes beyond what the rate certainly serves only as far as the chunks before were fast', () => {
    const pace = createPace({ keysSure: 20, keysMax: 100, chunkMsMax: 500 });
    const nextAfter = (keyCount: number, tookMs: number, lateCount = 0): number => {
      pace.ended({ keyCount, tookMs, lateCount });
      return pace.keysPerChunk();
    };
    expect(nextAfter(20, 10), 'doubled').toBe(40);
    expect(nextAfter(40, 300), 'at this speed 66 keys end in time, and three look-ups serve 60').toBe(60);
    expect(nextAfter(60, 10)).toBe(100);
    expect(nextAfter(100, 10)).toBe(100);
    expect(nextAfter(3, 600), 'the rest of a batch shows nothing').toBe(100);
    expect(nextAfter(100, 2_500), 'slower again').toBe(20);
    expect(nextAfter(20, 10)).toBe(40);
    expect(nextAfter(40, 10, 1), 'a write came too late').toBe(20);
  });

  test.each([
    [8, 12],
    [30, 20],
    [40, 100],
    [null, 100],
  ])('at %s requests per second for each batch a chunk has %i keys at most', (requestsPerSecond, keysMax) => {
    const pace = paceOf({ ...defaultLimits, requestsPerSecond });
    for (let chunk = 0; chunk < 10; chunk += 1) pace.ended({ keyCount: 100, tookMs: 1, lateCount: 0 });
    expect(pace.keysPerChunk()).toBe(keysMax);
  });
});

test('a run with a rate of its own sends no more at once than a second allows, and waits for the rest of their time', async () => {
  const world = await openUpsertWorld();
  const clock: Clock = { ...world.clock, sleep: async (ms) => world.clock.advance(Math.ceil(ms)) };
  const people = Array.from({ length: 6 }, (_, index) => wanted(`crm-${index}`));
  const run = await world.stage(people, { options: { rate: 3 } });
  const startMs = world.clock.monotonicMs();
  await world.workOnce(run, { ...world.parts, clock });
  expect(world.service.counts(), 'a look-up for every two').toMatchObject({ list: 3, create: 6 });
  expect(world.clock.monotonicMs() - startMs).toBeGreaterThanOrEqual(3_000);
});
