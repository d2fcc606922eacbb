/**
 * Rules on the history of phone numbers: which versions a snapshot ends and begins, which snapshots are forgotten, and how the order
 * of the numbers is kept in few characters. Pure.
 */
import type { PhoneNumber } from '#src/wire/phone-number.ts';

/** The version of a number that the newest snapshot shows; `document` is its text as it is stored. */
export interface OpenVersion {
  readonly numberKey: number;
  readonly document: string;
}

/** What a new snapshot does with one number that it shows, in its order. */
export interface ShownNumber {
  readonly id: string;
  /** Of the version that goes on, or that this one replaces; null where the newest snapshot did not show the number. */
  readonly knownKey: number | null;
  /** Null: the version goes on. */
  readonly newDocument: string | null;
}

/** @param open by the number's id. */
export function showNumbers(
  numbers: readonly PhoneNumber[],
  open: ReadonlyMap<string, OpenVersion>,
): { readonly shown: readonly ShownNumber[]; readonly endedKeys: readonly number[] } {
  const shown = numbers.map((number): ShownNumber => {
    const document = JSON.stringify(number);
    const known = open.get(number.id) ?? null;
    const goesOn = known?.document === document;
    return { id: number.id, knownKey: known?.numberKey ?? null, newDocument: goesOn ? null : document };
  });
  const goingOn = new Set(shown.filter(({ newDocument }) => newDocument === null).map(({ id }) => id));
  const endedKeys = [...open].flatMap(([id, { numberKey }]) => (goingOn.has(id) ? [] : [numberKey]));
  return { shown, endedKeys };
}

/**
 * Whether a snapshot is forgotten, by its age or by the number of newer ones; never the newest.
 * @param index its place in the series, the oldest one's is 0.
 */
export function isForgotten(
  takenAtMs: number,
  index: number,
  { count, keepMax, beforeMs }: { readonly count: number; readonly keepMax: number; readonly beforeMs: number },
): boolean {
  return index < count - 1 && (takenAtMs < beforeMs || index < count - keepMax);
}

/**
 * A list of small numbers as text: `1-1000,1003,7-5` is 1 to 1000, then 1003, then 7, 6, 5.
 *
 * The numbers of a workspace keep their order for long, so a thousand of them are a few characters. Pure.
 */
export function writeRuns(keys: readonly number[]): string {
  const runs: string[] = [];
  // Ends: each turn takes one run of at least one key.
  for (let start = 0; start < keys.length; ) {
    const end = endOfRun(keys, start);
    runs.push(end === start ? `${keys[start]}` : `${keys[start]}-${keys[end]}`);
    start = end + 1;
  }
  return runs.join(',');
}

/** What `writeRuns` wrote. */
export function readRuns(text: string): number[] {
  if (text === '') return [];
  return text.split(',').flatMap((run) => {
    const [first = Number.NaN, last = first] = run.split('-').map(Number);
    const step = last < first ? -1 : 1;
    return Array.from({ length: Math.abs(last - first) + 1 }, (_, index) => first + step * index);
  });
}

/** The last place that goes on, by one up or by one down, from `start`. */
function endOfRun(keys: readonly number[], start: number): number {
  const step = (keys[start + 1] ?? Number.NaN) - (keys[start] ?? Number.NaN);
  if (Math.abs(step) !== 1) return start;
  let end = start + 1;
  while ((keys[end + 1] ?? Number.NaN) - (keys[end] ?? Number.NaN) === step) end += 1;
  return end;
}
