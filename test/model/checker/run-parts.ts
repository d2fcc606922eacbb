/** Explores scenarios on several threads, each its part. */
import { Worker } from 'node:worker_threads';
import type { ScenarioResult } from './explore-scenarios.ts';
import type { PartOrder } from './run-part.ts';

export interface Order {
  readonly scenarios: readonly string[];
  readonly seed: number;
  /** All schedules with at most so many departures, and walks beyond them up to so many schedules for each scenario. */
  readonly departuresMax: number;
  readonly schedulesPerScenario: number;
  readonly threadCount: number;
  readonly msMax: number;
  /** Told of each part of a scenario. */
  readonly onResult?: (result: ScenarioResult) => void;
}

/** The results of all parts: as many for each scenario as there are threads. */
export async function runParts(order: Order): Promise<readonly ScenarioResult[]> {
  const { scenarios, seed, departuresMax, schedulesPerScenario, threadCount, msMax, onResult } = order;
  const parts = Array.from({ length: threadCount }, (_, index) => {
    // Two walks of one seed would be one walk.
    const part = { seed: seed * threadCount + index, part: { index, count: threadCount } };
    return runPart({ scenarios, bounds: { departuresMax, schedules: schedulesPerScenario, msMax, ...part } }, onResult);
  });
  return (await Promise.all(parts)).flat();
}

function runPart(order: PartOrder, onResult: Order['onResult']): Promise<readonly ScenarioResult[]> {
  return new Promise((resolve, reject) => {
    const results: ScenarioResult[] = [];
    const thread = new Worker(new URL('./run-part.ts', import.meta.url), { workerData: order });
    thread.on('message', (result: ScenarioResult) => {
      results.push(result);
      onResult?.(result);
    });
    thread.once('error', reject);
    thread.once('exit', () => resolve(results));
  });
}
