/**
 * Several scenarios: every schedule of each within a bound, then walks at random beyond it. The schedules of one are many times
 * those of another, so each has a share of the time as large as the set that it has left; walks share what remains.
 */
import { type Schedule, scheduleText } from './choices.ts';
import { type Exploration, type Frontier, playFirst, playLast, walk } from './explore.ts';
import type { Scenario } from './scenario.ts';
import type { Violation } from './violation.ts';

export interface ScenarioBounds {
  /** All schedules with at most so many departures. */
  readonly departuresMax: number;
  /** So many schedules of each scenario in all; but all within the bound are played. */
  readonly schedules: number;
  readonly seed: number;
  readonly part: { readonly index: number; readonly count: number };
  /** No new schedule begins later than so long after the call. */
  readonly msMax: number;
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

interface Progress {
  readonly scenario: Scenario;
  readonly explored: Exploration;
  readonly ms: number;
}

/** More departures than these are more than a small scenario has use for. */
const walkDeparturesMax = 10;

/** Each result comes when the scenario is done. */
export async function* exploreScenarios(
  scenarios: readonly Scenario[],
  { departuresMax, schedules, seed, part, msMax }: ScenarioBounds,
): AsyncGenerator<ScenarioResult> {
  const lastMs = performance.now() + msMax;
  const begun: (Progress & { readonly explored: Frontier })[] = [];
  for (const scenario of scenarios) {
    const isOver = (): boolean => performance.now() > lastMs;
    const { result: explored, ms } = await timed(playFirst(scenario, { departuresMax, part, isOver }));
    begun.push({ scenario, explored, ms });
  }
  const enumerated: Progress[] = [];
  let left = begun.reduce((sum, { explored }) => sum + explored.lastCount, 0);
  for (const { scenario, explored: frontier, ms } of begun) {
    const isOver = untilShare(lastMs, frontier.lastCount / Math.max(1, left));
    left -= frontier.lastCount;
    const { result: explored, ms: lastLevelMs } = await timed(playLast(scenario, frontier, isOver));
    enumerated.push({ scenario, explored, ms: ms + lastLevelMs });
  }
  const share = Math.ceil(schedules / part.count);
  const walkBounds = { seed, departuresMin: departuresMax + 1, departuresMax: walkDeparturesMax };
  for (const [index, { scenario, explored, ms }] of enumerated.entries()) {
    const isLate = untilShare(lastMs, 1 / (enumerated.length - index));
    const walksMax = explored.found === null ? share - explored.scheduleCount : 0;
    const isOver = (count: number): boolean => count >= walksMax || isLate();
    const { result: walked, ms: walkMs } = await timed(walk(scenario, { ...walkBounds, isOver }));
    yield {
      name: scenario.name,
      enumerated: explored.scheduleCount,
      isComplete: explored.isComplete,
      walked: walked.scheduleCount,
      ms: ms + walkMs,
      found: textOf(explored.found ?? walked.found),
    };
  }
}

/** Of the time that is left until then, that share, from now. */
function untilShare(lastMs: number, share: number): () => boolean {
  const nowMs = performance.now();
  // No end is no end, also for a scenario that has no share.
  const endMs = lastMs === Number.POSITIVE_INFINITY ? lastMs : nowMs + (lastMs - nowMs) * share;
  return () => performance.now() > endMs;
}

async function timed<Result>(work: Promise<Result>): Promise<{ readonly result: Result; readonly ms: number }> {
  const startedMs = performance.now();
  const result = await work;
  return { result, ms: performance.now() - startedMs };
}

function textOf(found: { schedule: Schedule; violation: Violation } | null): ScenarioResult['found'] {
  return found === null ? null : { schedule: scheduleText(found.schedule), violation: found.violation };
}
