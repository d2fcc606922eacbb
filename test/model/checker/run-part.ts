/** A thread of `run.ts`: its part of every scenario. */
import { parentPort, workerData } from 'node:worker_threads';
import { exploreScenario, type ScenarioBounds } from './explore-scenario.ts';
import { scenarioOf } from './scenarios.ts';

export interface PartOrder {
  readonly scenarios: readonly string[];
  readonly bounds: Omit<ScenarioBounds, 'endAtMs'>;
  /** For all scenarios together; each has an equal share of what is left. */
  readonly msMax: number;
}

// Of an error only its code matters here, and there are millions of them.
Error.stackTraceLimit = 0;

// Sent by `run.ts`.
const { scenarios, bounds, msMax } = workerData as PartOrder;
const lastMs = performance.timeOrigin + performance.now() + msMax;
for (const [index, name] of scenarios.entries()) {
  const nowMs = performance.timeOrigin + performance.now();
  const endAtMs = nowMs + (lastMs - nowMs) / (scenarios.length - index);
  parentPort?.postMessage(await exploreScenario(scenarioOf(name), { ...bounds, endAtMs }));
}
