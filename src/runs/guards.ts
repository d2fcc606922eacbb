/**
 * Guards: limits that stop a run before its first write (`docs/rules.md`, "Guards"). Pure.
 *
 * Each guard compares a count with a share of a base, and has a floor, so that small files pass. For a full file of a
 * named feed three of them compare with the *file before*, the feed's last accepted one. Two more, for `main` too, recognise
 * a file about other people than its feed's, and an old file that comes again after newer ones.
 */
import type { GuardFigures } from '#src/ledger/rules/approval.ts';
import type { Look, RunOptions, RunRecord } from '#src/ledger/runs.ts';
import { formAdvice, isOfLetters, type KeyFormCount } from './look/key-forms.ts';

export interface GuardLimits {
  /** Shares are fractions: 0.3 is 30 %. Floors are counts of the base (rejected rows: of the dead). */
  readonly updatesMax: number;
  readonly updatesFloor: number;
  readonly createsMax: number;
  readonly createsFloor: number;
  readonly clearsMax: number;
  readonly clearsFloor: number;
  readonly deadMax: number;
  readonly deadFloor: number;
  readonly lossesMax: number;
  readonly lossesFloor: number;
  readonly rowsMin: number;
  readonly rowsFloor: number;
  readonly keysMin: number;
  readonly keysFloor: number;
  /** A file of at least `strangersRows` rows must share a key with its feed, once the feed knows `strangersFloor` keys. */
  readonly strangersRows: number;
  readonly strangersFloor: number;
  /** From this many rows a file of `main` is checked for newer files that have followed it. */
  readonly olderRows: number;
}

/** What staging counted. */
export interface StagedTally {
  readonly rows: number;
  /** Rows whose key the feed knows, each contact once: the base of updates and clears. */
  readonly known: number;
  /** The same with rejected rows: if there is none, the file is about other people. */
  readonly shared: number;
  /** Of those, the ones whose desired contact changed. */
  readonly updates: number;
  readonly creates: number;
  /** Values that the file said before and now wants gone; a replaced value does not count. */
  readonly clears: number;
  readonly dead: number;
  /** Changed rows of which a value cannot be read and is left out, by choice of the mapping. */
  readonly lossy: number;
  /** Of the updates, those that clear a value. */
  readonly cleared: number;
  /** Of the updates, and of those that clear a value, the ones of people whom the file lacks: they are no rows of it. */
  readonly gone: number;
  readonly goneCleared: number;
}

export const noTally: StagedTally = {
  ...{ rows: 0, known: 0, shared: 0, updates: 0, creates: 0, clears: 0, cleared: 0, dead: 0, lossy: 0 },
  ...{ gone: 0, goneCleared: 0 },
};

export function addTally(left: StagedTally, right: StagedTally): StagedTally {
  return {
    rows: left.rows + right.rows,
    known: left.known + right.known,
    shared: left.shared + right.shared,
    updates: left.updates + right.updates,
    creates: left.creates + right.creates,
    clears: left.clears + right.clears,
    cleared: left.cleared + right.cleared,
    dead: left.dead + right.dead,
    lossy: left.lossy + right.lossy,
    gone: left.gone + right.gone,
    goneCleared: left.goneCleared + right.goneCleared,
  };
}

/** What the run would take away that its feed never said (`others-values.ts`). */
export interface OthersValues {
  readonly valueCount: number;
  /** Contacts that were looked at and whose keys the feed does not know: they count with those that it knows. */
  readonly contactCount: number;
}

export const noOthersValues: OthersValues = { valueCount: 0, contactCount: 0 };

/** What is counted for the guards: the file, and what its feed knows. */
export interface FeedTally extends StagedTally {
  /** All keys that the feed knows, in the file or not: the base of creates. */
  readonly knownKeys: number;
  readonly others: OthersValues;
  /** Contacts that are gone, and are made again: creates, beside those of new keys. */
  readonly again?: number;
}

/** What is known of the files of the feed; for each that comes in full. */
export interface FileHistory {
  /** Null where there is none; `main` has none. */
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

/** The file compared with the file before. */
export interface FileBefore {
  /** It was undone since: by which run. */
  readonly undone?: { readonly runId: string; readonly by: string };
  readonly rows: number;
  /** The keys of its rows; 0 where they are no longer known. */
  readonly keys: number;
  /** How many of these this file has too. */
  readonly sharedKeys: number;
  readonly mappedColumns: number;
  /** Those of them that this file lacks, as the file before wrote them. */
  readonly missingColumns: readonly string[];
  /** Those of them whose values this file has lost (`column-fill.ts`). */
  readonly blankedColumns: readonly string[];
  /** Rows of the file that had these values: the file before, or, where that was empty, the last one with rows. */
  readonly filledRows: number;
}

export type Guard =
  | 'older'
  | 'strangers'
  | 'unmapped'
  | 'unlinked'
  | 'keyForms'
  | 'takenOver'
  | 'columns'
  | 'blanks'
  | 'rows'
  | 'keys'
  | 'updates'
  | 'creates'
  | 'clears'
  | 'dead'
  | 'losses';

/** `limit` is a fraction: the most, or for `rows` and `keys` the least. */
export interface GuardVerdict extends GuardFigures {
  readonly guard: Guard;
  /** The run that read the same file, for `older`. */
  readonly older?: OlderFile;
  /** What is counted, by name. */
  readonly names?: readonly string[];
  /** How many of those for `unlinked` cannot be told apart. */
  readonly unclear?: number;
  /** How many of those for `clears` the feed never said. */
  readonly others?: number;
  /** How many people of those for `updates` and `clears` the file lacks. */
  readonly gone?: number;
  /** How many of those for `creates` are contacts that are gone, and are made again. */
  readonly again?: number;
  /** For `keyForms`. */
  readonly forms?: readonly KeyFormCount[];
  /** For `blanks`: the values were those of an earlier file, since the one before is empty. */
  readonly isBehindEmpty?: boolean;
  /** Those of `names` that hold countries which contradict the default one, for `unmapped`. */
  readonly countries?: readonly string[];
  /** For `updates`: no limit is exceeded, but the file holds one card alone (`lone-card.ts`). */
  readonly isLoneCard?: true;
  /** What a person can do besides approving the run, in sentences. */
  readonly advice?: string;
}

/** In binary fractions 29 % of 100 is a little less than 29; a count of exactly the limit must pass. */
const rounding = 1e-6;

/** All guards that stop the file, in a fixed order. `history` is null for a file that does not come in full. */
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

/** Only an update of a known contact restores an old value: two lists of different people may alternate in `main`. */
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

/** Only `--accept` lets these pass: a file that lacks something is right or it is not. */
function compareWithBefore(rows: number, before: FileBefore, limits: GuardLimits): readonly GuardVerdict[] {
  const verdicts: GuardVerdict[] = [];
  const { missingColumns: names, undone } = before;
  const ofUndone = undone === undefined ? {} : { advice: undoneAdvice(undone) };
  // No floor: a column is missing for all rows or for none.
  if (names.length > 0)
    verdicts.push({ guard: 'columns', count: names.length, base: before.mappedColumns, limit: 0, names });
  const blanked = before.blankedColumns;
  if (blanked.length > 0 && before.filledRows >= Math.max(1, limits.rowsFloor))
    verdicts.push({
      ...{ guard: 'blanks', count: blanked.length, base: before.mappedColumns, limit: 0, names: blanked },
      ...(before.rows === 0 ? { isBehindEmpty: true } : {}),
    });
  const check = (guard: 'rows' | 'keys', count: number, base: number, limit: number, floor: number): void => {
    if (base >= Math.max(1, floor) && count < limit * base - rounding)
      verdicts.push({ guard, count, base, limit, ...ofUndone });
  };
  check('rows', rows, before.rows, limits.rowsMin, limits.rowsFloor);
  check('keys', before.sharedKeys, before.keys, limits.keysMin, limits.keysFloor);
  return verdicts;
}

function undoneAdvice({ runId, by }: NonNullable<FileBefore['undone']>): string {
  return `The previous file, of run ${runId}, was undone by run ${by}: if it was wrong, the comparison says nothing of this one.`;
}

function checkTally(tally: FeedTally, limits: GuardLimits, options: RunOptions): readonly GuardVerdict[] {
  const change = (limit: number): number => Math.max(limit, options.maxChange ?? 0);
  const deadLimit = Math.max(limits.deadMax, options.maxDead ?? 0);
  const goneOf = (guard: Guard) => {
    const gone = guard === 'clears' ? tally.goneCleared : tally.gone;
    return gone > 0 && (guard === 'updates' || guard === 'clears') ? { gone } : {};
  };
  const verdicts: GuardVerdict[] = [];
  const { again = 0 } = tally;
  const check = (
    guard: Guard,
    count: number,
    base: number,
    limit: number,
    applies: boolean,
    told: Pick<GuardVerdict, 'again'> = {},
  ): void => {
    if (applies && count > limit * base + rounding)
      verdicts.push({ guard, count, base, limit, ...goneOf(guard), ...told });
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
    tally.creates + again,
    tally.knownKeys,
    change(limits.createsMax),
    tally.knownKeys >= Math.max(1, limits.createsFloor),
    again === 0 ? {} : { again },
  );
  const { valueCount: others, contactCount } = tally.others;
  const clears = { guard: 'clears', count: tally.clears + others, base: tally.known + contactCount } as const;
  const clearsLimit = change(limits.clearsMax);
  if (clears.count >= Math.max(1, limits.clearsFloor) && clears.count > clearsLimit * clears.base + rounding)
    verdicts.push({ ...clears, limit: clearsLimit, ...goneOf('clears'), ...(others === 0 ? {} : { others }) });
  check('dead', tally.dead, tally.rows, deadLimit, tally.dead >= Math.max(1, limits.deadFloor));
  // A value or two that cannot be read must not cost a person; those of most rows are a mistake, such as a missing country.
  const lossesLimit = Math.max(limits.lossesMax, options.maxDead ?? 0);
  check('losses', tally.lossy, tally.rows, lossesLimit, tally.lossy >= Math.max(1, limits.lossesFloor));
  return verdicts;
}

/**
 * Whether what a run makes is there already. No floor and no limit: making one person twice is harm. `--accept` says nothing
 * about contacts without an externalId, which may be linked or made again.
 */
export function checkLook(
  {
    look,
    keyForms,
    creates,
  }: { readonly look: Look | null; readonly keyForms: readonly KeyFormCount[]; readonly creates: number },
  { options: { accept }, kind }: Pick<RunRecord, 'options' | 'kind'>,
  adopt: boolean,
): readonly GuardVerdict[] {
  const verdicts: GuardVerdict[] = [];
  const { matched, unclear, decided } = look ?? { matched: 0, unclear: 0, decided: 0 };
  if (matched + unclear > decided && !adopt)
    verdicts.push({ guard: 'unlinked', count: matched + unclear, base: creates, limit: 0, unclear });
  const count = keyForms.reduce((sum, one) => sum + one.count, 0);
  if (count > 0 && !accept) {
    const forms = new Set(keyForms.map(({ form }) => form));
    const ofFile = forms.has('zeros') && !isOfLetters({ kind }) ? [zerosOfFile] : [];
    const advice = [...[...forms].map((form) => formAdvice[form]), ...ofFile].join(' ');
    verdicts.push({ guard: 'keyForms', count, base: creates, limit: 0, forms: keyForms, advice });
  }
  return verdicts;
}

/** Whether rows would give contacts to other people. No floor and no limit: each mixes two people. */
export function checkTakenOver(
  { count, base }: { readonly count: number; readonly base: number },
  { options: { accept } }: Pick<RunRecord, 'options'>,
): readonly GuardVerdict[] {
  return count === 0 || accept ? [] : [{ guard: 'takenOver', count, base, limit: 0, advice: takenOverAdvice }];
}

const takenOverAdvice =
  'Two people share what the key is made of. Where the export can have an id (in a vCard, a line UID:), give one to each: the earlier key, without the prefix, to whom the contact belongs, and another one to the others. Or use a mapping of your own whose key has the name, too (docs/mapping.md, "People who share a number").';

const zerosOfFile = 'Where the file before had lost them, import this one without them, too.';
