/** A bounded slice of the torture, each time with another seed (or TORTURE_SEED). The long one: `npm run torture`. */
import { randomInt } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createChance } from './chance.ts';
import { type Ground, type GroundOptions, openGround, shortWaits } from './ground.ts';
import { runRandomKills } from './random-kills.ts';
import { runStepKills } from './step-kills.ts';
import { someKills } from './step-plan.ts';

const seed = Number(process.env.TORTURE_SEED ?? randomInt(2 ** 31));
/** Many processes start one after the other, perhaps on a busy machine: this ends a test that hangs, nothing else. */
const patienceMs = 150_000;

/** The folder is not kept: the seed plays the same again with the long version. */
async function onGround<Result>(
  conditions: Pick<GroundOptions, 'faults' | 'requestsPerSecond'>,
  work: (ground: Ground) => Promise<Result>,
): Promise<Result> {
  const ground = await openGround({ ...conditions, seed, queue: 'embedded', waits: shortWaits });
  try {
    return await work(ground);
  } finally {
    await ground.close(false);
  }
}

describe.concurrent('processes that are killed make one contact a key and lose no row', () => {
  test(
    'at a named step of the work',
    async () => {
      const kills = someKills(1, createChance(seed));
      const { violations } = await onGround({ faults: [], requestsPerSecond: 500 }, (ground) =>
        runStepKills(ground, kills, Number.POSITIVE_INFINITY),
      );
      expect(violations, `seed ${seed}`).toEqual([]);
    },
    patienceMs,
  );

  test(
    'at random moments, under faults, with a queue that stands still',
    async () => {
      const faults = ['*:latency=10ms', 'create:dropAfter:3%', 'create:dropBefore:2%', 'update:dropAfter:3%'];
      const { violations, kills } = await onGround({ faults, requestsPerSecond: 300 }, (ground) =>
        runRandomKills(ground, {
          seed,
          rows: 160,
          kills: 5,
          flushes: 0,
          restarts: 0,
          freezes: 1,
          freezeMsMax: 600,
          workerCount: 1,
          audits: false,
          patienceMs: patienceMs - 20_000,
        }),
      );
      expect(violations, `seed ${seed}`).toEqual([]);
      expect(kills, `seed ${seed}: the kills came before the end`).toBe(5);
    },
    patienceMs,
  );
});
