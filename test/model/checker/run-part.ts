/** A thread of `run.ts`: its part of every scenario. */
import { parentPort, workerData } from 'node:worker_threads';
import { exploreScenarios, type ScenarioBounds } from './explore-scenarios.ts';
import { scenarioOf } from './scenarios.ts';

export interface PartOrder {
  readonly scenarios: readonly string[];
  readonly bounds: ScenarioBounds;
}

// Of an error only its code matters here, and there are millions of them.
Error.stackTraceLimit = 0;

// Sent by `run.ts`.
const { scenarios, bounds } = workerData as PartOrder;
for await (const result of exploreScenarios(scenarios.map(scenarioOf), bounds)) parentPort?.postMessage(result);
