/** Takes a guard away and looks for the shortest schedule that does harm. */
import type { CheckOptions } from './check.ts';
import { type Exploration, enumerate } from './explore.ts';
import type { Finding } from './findings.ts';
import type { Guard } from './guards.ts';
import type { Scenario } from './scenario.ts';
import { scenarioOf } from './scenarios.ts';

export function guardOptions({ seams, harm, only }: Guard): CheckOptions {
  return { seams, lookFor: [harm], only };
}

/** Nothing is tolerated: what is known to go wrong needs other departures. */
export function guardScenario({ scenario }: Guard): Scenario {
  return { ...scenarioOf(scenario), tolerates: [] };
}

/** Shortest first: what it finds has as few departures as any. */
export function searchWithout(guard: Guard): Promise<Exploration> {
  return enumerate(guardScenario(guard), { departuresMax: guard.departuresMax }, guardOptions(guard));
}

export function findingOptions({ kind, only }: Finding): CheckOptions {
  return { lookFor: [kind], only };
}

export function searchFinding(finding: Finding): Promise<Exploration> {
  return enumerate(finding.scenario, { departuresMax: finding.departuresMax }, findingOptions(finding));
}
