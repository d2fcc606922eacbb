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
  readonly isOver?: () => boolean;
}

/** The schedules with fewer departures than the bound, played; what has as many as the bound grows from them. */
export interface Frontier extends Exploration {
  /** How many schedules of this part have as many departures as the bound. */
  readonly lastCount: number;
  readonly last: () => Iterable<Schedule>;
}

const wholeSet = { index: 0, count: 1 };
const never = (): boolean => false;

/** All schedules with at most so many departures, each once, those with fewer first. */
export async function enumerate(scenario: Scenario, bounds: Bounds, options: CheckOptions = {}): Promise<Exploration> {
  return playLast(scenario, await playFirst(scenario, bounds, options), bounds.isOver, options);
}

/**
 * Plays all but those with as many departures as the bound, which are by far the most.
 *
 * Ends: a scenario has finitely many choice points, since its effects are bounded.
 */
export async function playFirst(scenario: Scenario, bounds: Bounds, options: CheckOptions = {}): Promise<Frontier> {
  const { departuresMax, part = wholeSet, isOver = never } = bounds;
  let scheduleCount = 0;
  let level: () => Iterable<Schedule> = () => [[]];
  const ended = (found: Exploration['found']): Frontier => {
    return { scheduleCount, found, isComplete: false, lastCount: 0, last: () => [] };
  };
  for (let departures = 0; departures < departuresMax; departures += 1) {
    const grown: Grown[] = [];
    for (const schedule of level()) {
      const counts: OptionCounts = [];
      const violation = await check(scenario, replay(schedule, counts), options);
      // Short schedules are played for every part, to grow from, and counted for one.
      if (departures > 1 || part.index === 0) scheduleCount += 1;
      if (violation !== null) return ended({ schedule, violation });
      if (isOver()) return ended(null);
      grown.push({ schedule, counts });
    }
    level = departures === 1 ? () => every(part, children(grown)) : () => children(grown);
  }
  let lastCount = 0;
  for (const _ of level()) lastCount += 1;
  return { scheduleCount, found: null, isComplete: true, lastCount, last: level };
}

/** Plays the rest of the set, each as it is made: the level needs no room. */
export async function playLast(
  scenario: Scenario,
  frontier: Frontier,
  isOver: () => boolean = never,
  options: CheckOptions = {},
): Promise<Exploration> {
  let { scheduleCount } = frontier;
  if (!frontier.isComplete) return frontier;
  for (const schedule of frontier.last()) {
    if (isOver()) return { scheduleCount, found: null, isComplete: false };
    const violation = await check(scenario, replay(schedule), options);
    scheduleCount += 1;
    if (violation !== null) return { scheduleCount, found: { schedule, violation }, isComplete: false };
  }
  return { scheduleCount, found: null, isComplete: true };
}

interface Grown {
  readonly schedule: Schedule;
  readonly counts: OptionCounts;
}

function* children(grown: readonly Grown[]): Generator<Schedule> {
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
