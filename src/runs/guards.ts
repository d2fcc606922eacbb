/**
 * Guards: limits that stop a run before its first write (`rules.md`, "Guards"). Pure.
 *
 * Each guard compares a count with a share of a base, and has a floor, so that small files pass. For a full file of a
 * named feed three of them look at the *file before*, the feed's last accepted one.
 */

import type { RunOptions } from '#src/ledger/run-options.ts';

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
  readonly rowsMin: number;
  readonly rowsFloor: number;
  readonly keysMin: number;
  readonly keysFloor: number;
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

/** How the file stands to the file before. */
export interface FileBefore {
  readonly rows: number;
  /** The keys of its rows; 0 where they are not known any more. */
  readonly keys: number;
  /** How many of these this file has too. */
  readonly sharedKeys: number;
  readonly mappedColumns: number;
  /** Those of them that this file lacks, as the file before wrote them. */
  readonly missingColumns: readonly string[];
}

export type Guard = 'columns' | 'rows' | 'keys' | 'updates' | 'creates' | 'clears' | 'dead';

export interface GuardVerdict {
  readonly guard: Guard;
  readonly count: number;
  readonly base: number;
  /** A fraction: the most, or for `rows` and `keys` the least. */
  readonly limit: number;
  /** What is counted, by name, where there are names. */
  readonly names?: readonly string[];
}

/** 29 % of 100 is a little less than 29 in binary fractions: exactly the limit passes. */
const rounding = 1e-6;

/** All guards that say no, in a fixed order. `before` is null where there is no file to compare with. */
export function checkGuards(
  tally: StagedTally,
  limits: GuardLimits,
  options: RunOptions,
  before: FileBefore | null = null,
): readonly GuardVerdict[] {
  if (options.accept) return [];
  return [
    ...(before === null ? [] : compareWithBefore(tally.rows, before, limits)),
    ...checkTally(tally, limits, options),
  ];
}

/** No flag but `--accept` raises these: a file that lacks something is right, or it is not. */
function compareWithBefore(rows: number, before: FileBefore, limits: GuardLimits): readonly GuardVerdict[] {
  const verdicts: GuardVerdict[] = [];
  const { missingColumns: names } = before;
  // Without a floor: a column is there for all rows or for none.
  if (names.length > 0)
    verdicts.push({ guard: 'columns', count: names.length, base: before.mappedColumns, limit: 0, names });
  const check = (guard: 'rows' | 'keys', count: number, base: number, limit: number, floor: number): void => {
    if (base >= Math.max(1, floor) && count < limit * base - rounding) verdicts.push({ guard, count, base, limit });
  };
  check('rows', rows, before.rows, limits.rowsMin, limits.rowsFloor);
  check('keys', before.sharedKeys, before.keys, limits.keysMin, limits.keysFloor);
  return verdicts;
}

function checkTally(tally: StagedTally, limits: GuardLimits, options: RunOptions): readonly GuardVerdict[] {
  const change = (limit: number): number => Math.max(limit, options.maxChange ?? 0);
  const deadLimit = Math.max(limits.deadMax, options.maxDead ?? 0);
  const verdicts: GuardVerdict[] = [];
  const check = (guard: Guard, count: number, base: number, limit: number, applies: boolean): void => {
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
