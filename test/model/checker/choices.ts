/**
 * Choices: what makes one schedule of the model differ from another.
 *
 * The model asks at every *choice point* which of a few options happens. Option 0 is the *plain course*: the worker at work
 * goes on, nothing fails. A *schedule* is the list of its *departures* from the plain course, so that the set of all
 * schedules with at most so many departures can be enumerated, and every schedule can be written down and played again.
 */

/** At the choice point of that number, counted from 0, that option was taken. */
export interface Departure {
  readonly at: number;
  /** From 1. */
  readonly option: number;
}
export type Schedule = readonly Departure[];

export interface Choices {
  /** Nothing departs from the plain course any more: options need not even be listed. */
  readonly exhausted: boolean;
  /** Passes a choice point that takes the plain course whatever its options are; they need not be listed then. */
  passes(): boolean;
  /** Which of so many options happens. */
  choose(count: number): number;
  /** The departures made so far. */
  taken(): Schedule;
}

/**
 * Plays one schedule. `counts` takes the number of options at each choice point that comes after the last departure,
 * preceded by nothing for those before it: from them the schedules with one departure more are made.
 */
export function replay(schedule: Schedule, counts: OptionCounts | null = null): Choices {
  let point = 0;
  let next = 0;
  return {
    get exhausted() {
      return counts === null && next >= schedule.length;
    },
    passes: () => {
      const departure = schedule[next];
      if (departure === undefined ? counts !== null : departure.at === point) return false;
      point += 1;
      return true;
    },
    choose: (count) => {
      const at = point;
      point += 1;
      const departure = schedule[next];
      if (departure === undefined) {
        if (counts !== null && count > 1) counts.push({ at, count });
        return 0;
      }
      if (departure.at !== at) return 0;
      next += 1;
      // A schedule of another core or scenario may name an option that is not there.
      return departure.option < count ? departure.option : 0;
    },
    taken: () => schedule.slice(0, next),
  };
}

export type OptionCounts = { readonly at: number; readonly count: number }[];

/** A walk at random: each choice point departs with that probability, until the departures are used up. */
export function randomWalk(random: () => number, probability: number, departuresMax: number): Choices {
  const taken: Departure[] = [];
  let point = 0;
  return {
    get exhausted() {
      return taken.length >= departuresMax;
    },
    passes: () => {
      if (taken.length < departuresMax && random() < probability) return false;
      point += 1;
      return true;
    },
    choose: (count) => {
      const at = point;
      point += 1;
      if (count < 2) return 0;
      const option = 1 + Math.floor(random() * (count - 1));
      taken.push({ at, option });
      return option;
    },
    taken: () => taken,
  };
}

/** A small generator of numbers in [0, 1) from a 32-bit seed: the same walk for the same seed on every machine. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** As it stands in reports and on the command line: `12.1,30.2`; the plain course is `plain`. */
export function scheduleText(schedule: Schedule): string {
  return schedule.length === 0 ? 'plain' : schedule.map(({ at, option }) => `${at}.${option}`).join(',');
}

/** @throws Error for text that `scheduleText` did not write. */
export function parseSchedule(text: string): Schedule {
  if (text === 'plain') return [];
  return text.split(',').map((part) => {
    const [at, option] = part.split('.').map(Number);
    if (at === undefined || option === undefined || !Number.isInteger(at) || !Number.isInteger(option)) {
      throw new Error(`not a schedule: ${text}`);
    }
    return { at, option };
  });
}
