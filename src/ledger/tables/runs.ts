/**
 * The tables of runs: a row for each run, and for each row of its file that is to be written, a batch, an event, a bitmap.
 *
 * Everything that belongs to a run refers to it by its sequence. What is stored for a run as a whole stands once: the header
 * of its file, and which keys it found unchanged (one bit for each key, by the number of its contact).
 */

import type { DesiredContact } from '#src/contacts/desired.ts';
import type { RunChange } from '#src/ledger/rules/runs.ts';
import type { CountDelta, NewRun, RequestTotals, RunKind, RunRecord, RunState } from '#src/ledger/runs.ts';
import type { BatchRecord, NewStagedRecord, RecordEnd, RowLink, RunEvent } from '#src/ledger/staging.ts';
import type { JsonValue } from '#src/sources/row.ts';

/** Runs that fit all that is given. */
export interface RunWhere {
  readonly ids?: readonly string[];
  readonly feed?: string;
  readonly kind?: RunKind;
  readonly states?: readonly RunState[];
  readonly sha256?: string;
  readonly beforeSequence?: number;
  readonly afterSequence?: number;
  /** It has ended and is not pruned. */
  readonly unpruned?: true;
  /** Its count of pending rows is 0. */
  readonly nonePending?: true;
  /** By its options: `rows`: it does not merely look at them (`verify`); `allRows`: as `appliesAllRows` says (`runs.ts`). */
  readonly applies?: 'rows' | 'allRows';
  /** It looked for contacts without an externalId. */
  readonly hasLook?: true;
  readonly hosts?: readonly (string | null)[];
  /**
   * It is queued, and no earlier run of its feed is queued, staging or applying. Where hosts are away: what they have not read, or
   * hold with no row pending, does not count, and a later file that is being read or applied does.
   */
  readonly isFirstInLine?: true | { readonly away: readonly string[] };
}

/** Where a run stands: all that most work on its rows needs to know of it. */
export interface RunPlace {
  readonly id: string;
  readonly sequence: number;
  readonly feed: string;
  readonly kind: RunKind;
  readonly state: RunState;
  readonly fileName: string;
  /** Staged rows without an outcome: kept, not counted. */
  readonly pending: number;
  /** Of its staged rows; 0 where it has none. */
  readonly lastPosition: number;
  /** The ordinal of its newest event; 0 where it has none. */
  readonly lastEvent: number;
}

/** What is added to the numbers of a run. */
export type RunAddition = CountDelta & Partial<RequestTotals>;

/**
 * `withdrawn`: the row was ended while its file was read, before anything was sent; it is counted where its end was. `cancelled`:
 * skipped, since its run was cancelled.
 */
export type RowOutcome = RecordEnd['outcome'] | 'withdrawn' | 'cancelled';

/** A staged row as it is stored: its header by number, null for a JSON object, and its content. */
export interface StoredRow extends Omit<NewStagedRecord, 'row'> {
  readonly position: number;
  readonly record: number;
  readonly header: number | null;
  /** The cells, or the object. */
  readonly content: readonly string[] | { readonly [name: string]: JsonValue };
  readonly beyond: readonly string[] | null;
}

export interface PendingRow extends StoredRow {
  readonly desired: DesiredContact;
  readonly sent: boolean;
  readonly attempts: number;
  readonly link: RowLink | null;
}

/** What the end of a row without an outcome is decided by. */
export interface RowFacts extends Pick<StoredRow, 'position' | 'line' | 'fingerprint'> {
  readonly letterId: string | null;
  readonly sent: boolean;
}

/** A row without its content. */
export interface RowState {
  readonly position: number;
  readonly key: string;
  /** Null while it is pending. */
  readonly outcome: RowOutcome | null;
  readonly sent: boolean;
  readonly notBeforeMs: number;
}

/** Only the named parts change, and only while the row has no outcome. */
export interface RowChange {
  readonly position: number;
  readonly outcome?: RowOutcome;
  readonly notBeforeMs?: number;
  /** How many attempts are added. */
  readonly attempts?: number;
  readonly sent?: true;
  readonly link?: RowLink;
}

/** Positions from `first` to `last`, both included. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

/** Rows without an outcome that are due by then, and how many of them are asked for at most. */
export interface Waiting {
  readonly untilMs: number;
  readonly limit: number;
}

export interface NewRows {
  readonly rows: readonly StoredRow[];
  /** New ones, by number. */
  readonly headers: ReadonlyMap<number, readonly string[]>;
  /** A batch that is there already goes on to the new `last`. */
  readonly batches: readonly (Span & { readonly batch: number })[];
}

export interface StoredBatch extends Omit<BatchRecord, 'runId'>, Span {
  readonly isDone: boolean;
}

/**
 * What a bitmap of a run says of a key.
 *
 * - `unchanged`: its row was, in a file that is still read or went on to be applied. `answered`: the same in a fix-file or a redrive,
 *   whose rows are older than their run.
 * - `withheld`: either of them in a run that was stopped or cancelled before it was applied: it has settled nothing.
 * - `overtaken`: it is withheld, and an older row of the feed was settled since.
 * - `met`: the file held it and the feed knew it. `missing`: the feed knew it and the file, which is full, lacks it.
 */
export type BitmapKind = 'unchanged' | 'answered' | 'withheld' | 'overtaken' | 'met' | 'missing';

/** What of a run is deleted piece by piece; the run itself last. `touched`: what was kept of it for audits. */
export type RunPart = 'rows' | 'batches' | 'headers' | 'events' | 'deadRows' | 'touched' | BitmapKind | 'run';

export interface RunTables {
  /** Enters a run as `queued`, and its feed with its first one. */
  insertRun(run: NewRun): Promise<void>;
  /** By sequence, the newest first unless `oldestFirst`. */
  findRuns(where: RunWhere, limit: number, oldestFirst?: boolean): Promise<readonly RunRecord[]>;
  countRuns(where: RunWhere): Promise<number>;
  place(id: string): Promise<RunPlace | null>;
  /** Distinct prefixes of the mappings of all runs, the newest first. */
  keyPrefixes(limit: number): Promise<readonly string[]>;
  /** `resetCounts`: counts go to zero before anything is added. */
  changeRun(sequence: number, change: RunChange, add?: RunAddition, resetCounts?: boolean): Promise<void>;

  /** The headers of a run by their number. */
  headers(sequence: number): Promise<ReadonlyMap<number, readonly string[]>>;
  /** Enters rows with the headers and batches that are new with them, and counts them as pending. */
  insertRows(sequence: number, staged: NewRows): Promise<void>;
  /** Whole rows without an outcome, at these positions, in their order. */
  pendingRows(sequence: number, positions: readonly number[]): Promise<readonly PendingRow[]>;
  /** Of rows without an outcome, at these positions. */
  rowFacts(sequence: number, positions: readonly number[]): Promise<readonly RowFacts[]>;
  /** In the order of their positions; `waiting`: those that wait, in the order in which they are due. */
  rowStates(sequence: number, span: Span, waiting?: Waiting): Promise<readonly RowState[]>;
  /** Keeps the run's count of pending rows. @returns how many rows changed: those without an outcome. */
  changeRows(sequence: number, changes: readonly RowChange[]): Promise<number>;

  batch(sequence: number, batch: number): Promise<StoredBatch | null>;
  /** Batches of runs at work that are not done, in the order of their runs: those due by then first. */
  nextBatches(untilMs: number, limit: number): Promise<readonly BatchRecord[]>;
  /** Of that generation, or of any; nothing where it is done. */
  changeBatch(
    sequence: number,
    batch: number,
    change: { readonly isDone: boolean; readonly dueAtMs: number; readonly generation?: number },
  ): Promise<boolean>;

  insertEvents(
    sequence: number,
    events: readonly { readonly ordinal: number; readonly event: RunEvent }[],
  ): Promise<void>;
  events(
    sequence: number,
    afterOrdinal: number,
    limit: number,
  ): Promise<readonly (RunEvent & { readonly ordinal: number })[]>;

  putBitmap(sequence: number, kind: BitmapKind, bits: Uint8Array): Promise<void>;
  /** Of runs of the feed with sequences from `from` to `to`; the newest first. */
  bitmaps(
    feed: string,
    kind: BitmapKind,
    from: number,
    to: number,
    limit?: number,
  ): Promise<readonly { readonly sequence: number; readonly bits: Uint8Array }[]>;

  /** Of rejected rows and touched keys the first ones, of anything else the last ones. @returns how many were deleted: fewer than `limit` where nothing is left. */
  deletePart(sequence: number, part: RunPart, limit: number): Promise<number>;
}
