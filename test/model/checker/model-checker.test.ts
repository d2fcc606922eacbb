/** A slice of the exploration that fits into every test run; `run.ts` is the long one. */
import { beforeAll, describe, expect, test } from 'vitest';
import { tell } from './check.ts';
import { parseSchedule } from './choices.ts';
import type { ScenarioResult } from './explore-scenarios.ts';
import { searchWithout } from './guard-search.ts';
import { guards } from './guards.ts';
import { runParts } from './run-parts.ts';
import { scenarios } from './scenarios.ts';

const schedulesPerScenario = 400;
/** Less than CI gives to all proofs together. */
const explorationMsMax = 420_000;
const seed = Date.now() % 2 ** 31;
let exploration: Promise<readonly ScenarioResult[]>;

beforeAll(() => {
  exploration = runParts({
    scenarios: scenarios.map((scenario) => scenario.name),
    seed,
    departuresMax: 1,
    schedulesPerScenario,
    threadCount: 1,
    msMax: Number.POSITIVE_INFINITY,
  });
});

describe('a guard taken away is noticed', () => {
  test.each(guards)('$name: $without', async (guard) => {
    const { found } = await searchWithout(guard);
    expect(found?.violation.kind).toBe(guard.harm);
  });
});

describe('every schedule with one departure from the plain course, and walks with more, keep every promise', () => {
  // All scenarios are explored on one thread, and the number of schedules is fixed: how long that takes depends on the machine.
  beforeAll(async () => {
    await exploration;
  }, explorationMsMax);

  test.each(scenarios)(`$name: $about (seed ${seed})`, async (scenario) => {
    const result = (await exploration).find((one) => one.name === scenario.name);
    if (result?.found) {
      const { schedule } = result.found;
      const again = `node test/model/checker/run.ts --scenario '${scenario.name}' --schedule ${schedule}`;
      expect.fail(`${await tell(scenario, parseSchedule(schedule))}\nAgain: ${again}`);
    }
    expect(result?.isComplete).toBe(true);
    expect((result?.enumerated ?? 0) + (result?.walked ?? 0)).toBeGreaterThanOrEqual(schedulesPerScenario);
  });
});
