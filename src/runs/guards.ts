/**
 * Guards: limits that stop a run before its first write (`rules.md`, "Guards"). Pure.
 *
 * Each guard compares a count with a share of a base, and has a floor, so that small files pass. For a full file of a
 * named feed three of them look at the *file before*, the feed's last accepted one. Two more, for `main` too, know a file
 * that holds other people than its feed, and one that newer files have followed.
 */
import type { GuardFigures } from '#src/ledger/rules/approval.ts';
import type { RunOptions } from '#src/ledger/runs.ts';

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
  /** A file of so many rows, of a feed that knows so many keys, shares one of them at least. */
  readonly strangersRows: number;
  readonly strangersFloor: number;
  /** A file of `main` that newer ones have followed is looked at from so many rows. */
  readonly olderRows: number;
}

/** What staging counted. */
export interface StagedTally {
  readonly rows: number;
  /** Rows whose key the feed knows, each contact once: the base of updates and clears. */
  readonly known: number;
  /** The same with dead rows: not one, and the file holds other people. */
  readonly shared: number;
  /** Of those, the ones whose desired contact changed. */
  readonly updates: number;
  readonly creates: number;
  /** Values that the file said before and now wants gone; a replaced value is none. */
  readonly clears: number;
  readonly dead: number;
}

/** What is counted for the guards: the file, and what its feed knows. */
export interface FeedTally extends StagedTally {
  /** All keys that the feed knows, in the file or not: the base of creates. */
  readonly knownKeys: number;
}

/** What is known of the files of the feed; for each that comes in full. */
export interface FileHistory {
  /** Null where there is none to compare with; `main` has none. */
  readonly before: FileBefore | null;
  /** The run that accepted this very content, where newer files have followed it. */
  readonly older: OlderFile | null;
  /** Whether the feed has a name: each of its files holds all of its contacts. */
  readonly isNamed: boolean;
}

export interface OlderFile {
  readonly runId: string;
  readonly atMs: number;
  readonly newerCount: number;
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

export type Guard =
  | 'older'
  | 'strangers'
  | 'unmapped'
  | 'columns'
  | 'rows'
  | 'keys'
  | 'updates'
  | 'creates'
  | 'clears'
  | 'dead';

/** `limit` is a fraction: the most, or for `rows` and `keys` the least. */
export interface GuardVerdict extends GuardFigures {
  readonly guard: Guard;
  /** The run that read the same file, for `older`. */
  readonly older?: OlderFile;
  /** What is counted, by name, where there are names. */
  readonly names?: readonly string[];
  /** What a person may do besides letting it pass, in sentences. */
  readonly advice?: string;
}

/** 29 % of 100 is a little less than 29 in binary fractions: exactly the limit passes. */
const rounding = 1e-6;

/** All guards that say no, in a fixed order. `history` is null for a file that does not come in full. */
export function checkGuards(
  tally: FeedTally,
  limits: GuardLimits,
  options: RunOptions,
  history: FileHistory | null = null,
): readonly GuardVerdict[] {
  if (options.accept) return [];
  const before = history?.before ?? null;
  return [
    ...(history === null ? [] : checkHistory(tally, history, limits)),
    ...(before === null ? [] : compareWithBefore(tally.rows, before, limits)),
    ...checkTally(tally, limits, options),
  ];
}

/** Only what changes a known contact turns values back: two lists of different people may take turns in `main`. */
function checkHistory(
  { rows, updates, shared, knownKeys }: FeedTally,
  { older, isNamed }: FileHistory,
  { olderRows, strangersRows, strangersFloor }: GuardLimits,
): readonly GuardVerdict[] {
  const verdicts: GuardVerdict[] = [];
  if (older !== null && updates > 0 && (isNamed || rows >= olderRows))
    verdicts.push({ guard: 'older', count: older.newerCount, base: rows, limit: 0, older });
  if (shared === 0 && rows >= Math.max(1, strangersRows) && knownKeys >= Math.max(1, strangersFloor))
    verdicts.push({ guard: 'strangers', count: rows, base: knownKeys, limit: 0 });
  return verdicts;
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

function checkTally(tally: FeedTally, limits: GuardLimits, options: RunOptions): readonly GuardVerdict[] {
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
    tally.knownKeys,
    change(limits.createsMax),
    tally.knownKeys >= Math.max(1, limits.createsFloor),
  );
  check('clears', tally.clears, tally.known, change(limits.clearsMax), tally.clears >= Math.max(1, limits.clearsFloor));
  check('dead', tally.dead, tally.rows, deadLimit, tally.dead >= Math.max(1, limits.deadFloor));
  return verdicts;
}
