/**
 * Explores the schedules of a scenario: all with at most so many departures from the plain course, and walks at random
 * beyond them.
 */
import { type CheckOptions, check } from './check.ts';
import { type OptionCounts, randomWalk, replay, type Schedule, seededRandom } from './choices.ts';
import type { Scenario } from './scenario.ts';
import type { Violation } from './violation.ts';

export interface Exploration {
  readonly scheduleCount: number;
  /** The first violation and its schedule. */
  readonly found: { readonly schedule: Schedule; readonly violation: Violation } | null;
  /** Whether all schedules within the bound were played. */
  readonly isComplete: boolean;
}

export interface Bounds {
  readonly departuresMax: number;
  /** Of so many parts of the set, this one: two parts of one set have nothing in common, and all of them are the whole. */
  readonly part?: { readonly index: number; readonly count: number };
  /** Asked after each schedule: ends the exploration early. */
  readonly isOver?: (scheduleCount: number) => boolean;
}

const wholeSet = { index: 0, count: 1 };

/**
 * All schedules with at most so many departures, each once, those with fewer first.
 *
 * Ends: a scenario has finitely many choice points, since its effects are bounded.
 */
export async function enumerate(scenario: Scenario, bounds: Bounds, options: CheckOptions = {}): Promise<Exploration> {
  const { departuresMax, part = wholeSet, isOver = () => false } = bounds;
  let scheduleCount = 0;
  let level: Iterable<Schedule> = [[]];
  for (let departures = 0; departures <= departuresMax; departures += 1) {
    // Where its schedules will grow, a level is kept; the last one is played as it is made, and needs no room.
    const grown: { schedule: Schedule; counts: OptionCounts }[] = [];
    for (const schedule of level) {
      const counts: OptionCounts = [];
      const violation = await check(scenario, replay(schedule, departures < departuresMax ? counts : null), options);
      // Short schedules are played for every part, to grow from, and counted for one.
      if (departures > 1 || part.index === 0) scheduleCount += 1;
      if (violation !== null) return { scheduleCount, found: { schedule, violation }, isComplete: false };
      if (isOver(scheduleCount)) return { scheduleCount, found: null, isComplete: false };
      if (departures < departuresMax) grown.push({ schedule, counts });
    }
    level = departures === 1 ? every(part, children(grown)) : children(grown);
  }
  return { scheduleCount, found: null, isComplete: true };
}

function* children(grown: readonly { schedule: Schedule; counts: OptionCounts }[]): Generator<Schedule> {
  for (const { schedule, counts } of grown) {
    for (const { at, count } of counts) {
      for (let option = 1; option < count; option += 1) yield [...schedule, { at, option }];
    }
  }
}

function* every({ index, count }: typeof wholeSet, schedules: Iterable<Schedule>): Generator<Schedule> {
  let number = 0;
  for (const schedule of schedules) {
    if (number % count === index) yield schedule;
    number += 1;
  }
}

export interface WalkBounds {
  readonly seed: number;
  /** Walks with fewer departures are not counted: `enumerate` has played them. */
  readonly departuresMin: number;
  readonly departuresMax: number;
  readonly isOver: (scheduleCount: number) => boolean;
}

/** A walk departs once in so many choice points, on average. */
const walkPaces = [3, 6, 12, 24] as const;

/** Walks at random. The same seed walks the same way. */
export async function walk(scenario: Scenario, bounds: WalkBounds, options: CheckOptions = {}): Promise<Exploration> {
  const random = seededRandom(bounds.seed);
  let scheduleCount = 0;
  while (!bounds.isOver(scheduleCount)) {
    const pace = walkPaces[Math.floor(random() * walkPaces.length)] ?? walkPaces[0];
    const departuresMax =
      bounds.departuresMin + Math.floor(random() * (1 + bounds.departuresMax - bounds.departuresMin));
    const choices = randomWalk(random, 1 / pace, departuresMax);
    const violation = await check(scenario, choices, options);
    const schedule = choices.taken();
    if (violation !== null) return { scheduleCount, found: { schedule, violation }, isComplete: false };
    if (schedule.length >= bounds.departuresMin) scheduleCount += 1;
  }
  return { scheduleCount, found: null, isComplete: false };
}
