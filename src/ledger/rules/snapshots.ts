/** Rules on the history of phone numbers: which versions a snapshot ends and begins, and which snapshots are forgotten. Pure. */
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
 * Snapshots before this instant are forgotten; never the newest.
 * @param newestMs of the series.
 * @param oldestKeptMs of the newest ones that are kept by their number.
 */
export function forgetBefore(newestMs: number, oldestKeptMs: number, beforeMs: number): number {
  return Math.min(newestMs, Math.max(beforeMs, oldestKeptMs));
}
