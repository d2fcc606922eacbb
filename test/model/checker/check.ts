/** Plays one schedule of a scenario and says what was violated. */

import { beginningOf, notesRest, playEpilogue } from './beginning.ts';
import { type Choices, replay, type Schedule } from './choices.ts';
import type { DepartureKind } from './departure.ts';
import { checkEnd } from './final-checks.ts';
import type { Scenario } from './scenario.ts';
import { noSeams, type Seams } from './seams.ts';
import type { Violation, ViolationKind } from './violation.ts';
import { createWorld, type TraceLine } from './world.ts';

export interface CheckOptions {
  readonly seams?: Seams;
  /** Looks for these only. */
  readonly lookFor?: readonly ViolationKind[];
  /** Departs in these ways only. */
  readonly only?: readonly DepartureKind[];
  readonly trace?: TraceLine[];
}

export async function check(
  scenario: Scenario,
  choices: Choices,
  { seams = noSeams, lookFor, only, trace }: CheckOptions = {},
): Promise<Violation | null> {
  const beginning = await beginningOf(scenario);
  const world = createWorld({
    scenario,
    beginning,
    choices,
    seams,
    lookFor: lookFor ?? null,
    only: only ?? null,
    trace: trace ?? null,
  });
  const violation = await world.play();
  if (violation !== null) return violation;
  for (const runId of beginning.atWork) notesRest(world, runId);
  const { epilogue } = scenario;
  const runIds = epilogue === undefined ? beginning.runIds : [...beginning.runIds, await playEpilogue(world, epilogue)];
  await checkEnd(world, runIds, world.dead);
  return world.violation();
}

/** The schedule in words, one line for each thing that happens, and what it violates. */
export async function tell(scenario: Scenario, schedule: Schedule, options: CheckOptions = {}): Promise<string> {
  const trace: TraceLine[] = [];
  const violation = await check(scenario, replay(schedule), { ...options, trace });
  const lines = trace.map(({ atMs, words }) => `${(atMs / 1_000).toFixed(3).padStart(8)} s  ${words}`);
  const end = violation === null ? 'Nothing is violated.' : `Violated (${violation.kind}): ${violation.message}.`;
  return [`${scenario.name}: ${scenario.about}`, ...lines, end].join('\n');
}

/** The departures only, as one sentence. */
export async function tellShortly(scenario: Scenario, schedule: Schedule, options: CheckOptions = {}): Promise<string> {
  const trace: TraceLine[] = [];
  const violation = await check(scenario, replay(schedule), { ...options, trace });
  const departures = trace.filter((line) => line.isDeparture).map((line) => line.words);
  return `${departures.join('; ') || 'the plain course'}: ${violation?.message ?? 'nothing is violated'}`;
}
