/** Takes a guard away and looks for the shortest schedule that does harm. */
import type { CheckOptions } from './check.ts';
import { type Exploration, enumerate } from './explore.ts';
import type { Guard } from './guards.ts';
import { scenarioOf } from './scenarios.ts';

export function guardOptions({ seams, harm, only }: Guard): CheckOptions {
  return { seams, lookFor: [harm], only };
}

/** Shortest first: what it finds has as few departures as any. */
export function searchWithout(guard: Guard): Promise<Exploration> {
  return enumerate(scenarioOf(guard.scenario), { departuresMax: guard.departuresMax }, guardOptions(guard));
}
