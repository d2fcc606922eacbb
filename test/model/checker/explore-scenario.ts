/** One scenario: every schedule within a bound, then walks at random beyond it. */
import { type Schedule, scheduleText } from './choices.ts';
import { enumerate, walk } from './explore.ts';
import type { Scenario } from './scenario.ts';
import type { Violation } from './violation.ts';

export interface ScenarioBounds {
  /** All schedules with at most so many departures. */
  readonly departuresMax: number;
  /** So many schedules in all; but all within the bound are played. */
  readonly schedules: number;
  readonly seed: number;
  readonly part: { readonly index: number; readonly count: number };
  /** No new schedule begins after that. In milliseconds of `performance.timeOrigin`. */
  readonly endAtMs: number;
}

export interface ScenarioResult {
  readonly name: string;
  readonly enumerated: number;
  /** Whether that was all within the bound. */
  readonly isComplete: boolean;
  readonly walked: number;
  readonly ms: number;
  readonly found: { readonly schedule: string; readonly violation: Violation } | null;
}

/** More departures than these are more than a small scenario has use for. */
const walkDeparturesMax = 10;

export async function exploreScenario(scenario: Scenario, bounds: ScenarioBounds): Promise<ScenarioResult> {
  const { departuresMax, schedules, seed, part, endAtMs } = bounds;
  const startedMs = performance.now();
  const isLate = (): boolean => performance.timeOrigin + performance.now() > endAtMs;
  const share = Math.ceil(schedules / part.count);
  const enumerated = await enumerate(scenario, { departuresMax, part, isOver: isLate });
  const left = share - enumerated.scheduleCount;
  const walkBounds = { seed, departuresMin: departuresMax + 1, departuresMax: walkDeparturesMax };
  const walked =
    enumerated.found === null && left > 0
      ? await walk(scenario, { ...walkBounds, isOver: (count) => count >= left || isLate() })
      : null;
  return {
    name: scenario.name,
    enumerated: enumerated.scheduleCount,
    isComplete: enumerated.isComplete,
    walked: walked?.scheduleCount ?? 0,
    ms: performance.now() - startedMs,
    found: textOf(enumerated.found ?? walked?.found ?? null),
  };
}

function textOf(found: { schedule: Schedule; violation: Violation } | null): ScenarioResult['found'] {
  return found === null ? null : { schedule: scheduleText(found.schedule), violation: found.violation };
}
