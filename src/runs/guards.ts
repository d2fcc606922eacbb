/**
 * Guards: limits that stop a run before its first write (`rules.md`, "Guards"). Pure.
 *
 * Each guard compares a count with a share of a base, and has a floor, so that small files pass.
 */

import type { RunOptions } from '#src/ledger/run-options.ts';
import type { RunReason } from '#src/ledger/run-record.ts';

export interface GuardLimits {
  /** Shares are fractions: 0.3 is 30 %. Floors are counts of the base (dead rows: of the dead). */
  readonly updatesMax: number;
  readonly updatesFloor: number;
  readonly createsMax: number;
  readonly createsFloor: number;
  readonly clearsMax: number;
  readonly clearsFloor: number;
  readonly deadMax: number;
  readonly deadFloor: number;
}

/** What staging counted. */
export interface StagedTally {
  readonly rows: number;
  /** Rows whose key the feed knows: the base of all shares but that of dead rows. */
  readonly known: number;
  /** Of those, the ones whose desired contact changed. */
  readonly updates: number;
  readonly creates: number;
  /** Values that the file said before and now wants gone; a replaced value is none. */
  readonly clears: number;
  readonly dead: number;
}

export interface GuardVerdict {
  readonly guard: 'updates' | 'creates' | 'clears' | 'dead';
  readonly count: number;
  readonly base: number;
  /** A fraction. */
  readonly limit: number;
}

/** 29 % of 100 is a little less than 29 in binary fractions: exactly the limit passes. */
const rounding = 1e-6;

/** All guards that say no, in a fixed order. */
export function checkGuards(tally: StagedTally, limits: GuardLimits, options: RunOptions): readonly GuardVerdict[] {
  if (options.accept) return [];
  const change = (limit: number): number => Math.max(limit, options.maxChange ?? 0);
  const deadLimit = Math.max(limits.deadMax, options.maxDead ?? 0);
  const verdicts: GuardVerdict[] = [];
  const check = (guard: GuardVerdict['guard'], count: number, base: number, limit: number, applies: boolean): void => {
    if (applies && count > limit * base + rounding) verdicts.push({ guard, count, base, limit });
  };
  // A first load knows no contact: the shares of known contacts say nothing about it.
  check(
    'updates',
    tally.updates,
    tally.known,
    change(limits.updatesMax),
    tally.known >= Math.max(1, limits.updatesFloor),
  );
  check(
    'creates',
    tally.creates,
    tally.known,
    change(limits.createsMax),
    tally.known >= Math.max(1, limits.createsFloor),
  );
  check('clears', tally.clears, tally.known, change(limits.clearsMax), tally.clears >= Math.max(1, limits.clearsFloor));
  check('dead', tally.dead, tally.rows, deadLimit, tally.dead >= Math.max(1, limits.deadFloor));
  return verdicts;
}

const phrases = {
  updates: (count: number, base: number) => `the file changes ${count} of the ${base} contacts it had before`,
  creates: (count: number, base: number) => `the file brings ${count} new contacts beside the ${base} it had before`,
  clears: (count: number, base: number) =>
    `the file clears or removes ${count} values of ${base} contacts it had before`,
  dead: (count: number, base: number) => `${count} of ${base} rows cannot be used`,
} as const;

/** What the person reads: the figures of every guard that said no, the key to set and the flag for one run. */
export function guardReason(verdicts: readonly GuardVerdict[]): RunReason {
  const percent = (fraction: number): string => `${Math.round(fraction * 1_000) / 10}%`;
  const sentences = verdicts.map(
    ({ guard, count, base, limit }) =>
      `${phrases[guard](count, base)} (${percent(base === 0 ? 1 : count / base)}; the limit guards.${guard}Max is ${percent(limit)})`,
  );
  const flags = flagsThatPass(verdicts);
  return {
    code: `guard${(verdicts[0]?.guard ?? 'updates').replace(/^./, (letter) => letter.toUpperCase())}`,
    message: `stopped before the first write: ${sentences.join('; ')}`,
    hint: `Look at the file. If it is right, approve the run, or import again with ${flags === null ? '' : `${flags} or `}--accept --reason TEXT.`,
    facts: Object.fromEntries(
      verdicts.flatMap(({ guard, count, base, limit }) => [
        [`${guard}Count`, count],
        [`${guard}Base`, base],
        [`${guard}Limit`, limit],
      ]),
    ),
  };
}

/** The flags that let all of them pass at once; null where a percentage cannot, since it ends at 100 %. */
function flagsThatPass(verdicts: readonly GuardVerdict[]): string | null {
  const percentFor = (ofDead: boolean): number =>
    Math.max(
      0,
      ...verdicts
        .filter(({ guard }) => (guard === 'dead') === ofDead)
        .map(({ count, base }) => (base === 0 ? Number.POSITIVE_INFINITY : Math.ceil((count / base) * 100))),
    );
  const change = percentFor(false);
  const dead = percentFor(true);
  if (Math.max(change, dead) > 100) return null;
  const flags = [...(change > 0 ? [`--max-change ${change}%`] : []), ...(dead > 0 ? [`--max-dead ${dead}%`] : [])];
  return flags.join(' ');
}
