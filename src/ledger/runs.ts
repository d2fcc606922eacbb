/**
 * A run: one file, one redrive of dead letters, or the held fields whose values from the file a person took, processed
 * once.
 *
 * States and what moves them on:
 *
 *     queued ──staging──▶ staging ──guards agree──▶ applying ──every row has an outcome──▶ done | doneWithDead
 *                            │ ├──a guard says no──▶ stopped ──approve──▶ applying ──a guard says no──▶ stopped
 *                            │ └──the file cannot be read──▶ failed
 *
 * Before it is final, a run may be cancelled: ──cancel, or a newer file──▶ cancelling ──▶ cancelled.
 *
 * Whatever is not final is taken up again by the next engine.
 */
import { z } from 'zod';
import type { Facts } from '#src/errors.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import type { NewAct } from './acts.ts';
import type { Approval } from './rules/approval.ts';

export const activeRunStates = ['queued', 'staging', 'applying', 'cancelling'] as const;
export const finalRunStates = ['done', 'doneWithDead', 'failed', 'cancelled'] as const;
export type RunState = (typeof activeRunStates)[number] | 'stopped' | (typeof finalRunStates)[number];

/** A run in one of these may still write. */
export const openRunStates = [...activeRunStates, 'stopped'] as const satisfies readonly RunState[];

/** How many rows ended how. `rows` is the sum of the five outcomes and `pending`. */
export interface RunCounts {
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly skipped: number;
  /** Of those: contacts that changed since the plan that was to be carried out. */
  readonly moved: number;
  readonly dead: number;
  readonly adopted: number;
  /** Of those: contacts without an externalId that got it. */
  readonly linked: number;
  /** Of the updated ones: contacts that an undo deleted. */
  readonly deleted: number;
  readonly heldFields: number;
  readonly removedValues: number;
  readonly deadNew: number;
  readonly warnings: number;
  /** Keys looked up while applying, and contacts found that the ledger did not know: what a guard watches. */
  readonly lookedUp: number;
  readonly foundUnknown: number;
}
export type CountName = keyof RunCounts;
export type CountDelta = { readonly [Name in CountName]?: number };

export const zeroCounts: RunCounts = {
  rows: 0,
  created: 0,
  updated: 0,
  unchanged: 0,
  skipped: 0,
  moved: 0,
  dead: 0,
  adopted: 0,
  linked: 0,
  deleted: 0,
  heldFields: 0,
  removedValues: 0,
  deadNew: 0,
  warnings: 0,
  lookedUp: 0,
  foundUnknown: 0,
};

/** Requests sent for a run, by method; `retried` and `rateLimited` are counted as well. */
export interface RequestTotals {
  readonly get: number;
  readonly post: number;
  readonly patch: number;
  readonly delete: number;
  readonly retried: number;
  readonly rateLimited: number;
}

export const zeroRequests: RequestTotals = { get: 0, post: 0, patch: 0, delete: 0, retried: 0, rateLimited: 0 };

/** Why a run stopped, failed or waits: a stable code, a sentence, the figures, and what to do next. */
export interface RunReason {
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  readonly facts: Facts;
}

export type RunKind = 'file' | 'fixFile' | 'redrive' | 'held' | 'undo';

export interface RunRecord {
  readonly id: string;
  /** Order of arrival over all feeds. An older row never overwrites a newer one. */
  readonly sequence: number;
  readonly feed: string;
  /** A fix-file is no part of its feed's history: its rows come from a file that is part of it already. */
  readonly kind: RunKind;
  /** The file's name in the user's own words; for a redrive or held fields, what is tried or written. */
  readonly fileName: string;
  /** Our own copy, in the folder of claimed files. Empty where there is no file. */
  readonly claimedPath: string;
  /** The host whose file it is, which reads it and writes its results; null where the ledger belongs to one data folder. */
  readonly host: string | null;
  /** Whose `_done`, `_failed` and `_fix` the results go to. */
  readonly importFolder: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly state: RunState;
  readonly options: RunOptions;
  /** In the order they were given: a run may be stopped more than once. */
  readonly approvals: readonly Approval[];
  /** What its rows are read by: named for the run or its feed, or recognised while it was staged. Null: the generic layout. */
  readonly mapping: Mapping | null;
  /** The source label that the configuration names for the feed; null where it names none. */
  readonly sourceLabel: string | null;
  /** Why the file cannot be read, known before it was: the run fails with it. Null for most. */
  readonly refusal: RunReason | null;
  readonly counts: RunCounts;
  readonly requests: RequestTotals;
  readonly reason: RunReason | null;
  /** What was found of contacts without an externalId; null where none was looked for. */
  readonly look: Look | null;
  /** What was noted while reading: columns that nothing maps, an assumed encoding, blank lines. */
  readonly notes: readonly string[];
  /** What the file looked like, so that the fix-file can look the same. Null until it was staged. */
  readonly shape: FileShape | null;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
  /** Since when it is stopped, or waits for an engine; null while it does neither, and where older versions stopped it. */
  readonly stoppedAtMs: number | null;
  /** How long it did so before. */
  readonly stoppedMs: number;
}

/**
 * A look at all contacts of the workspace, for those to be made that are there already without an externalId
 * (`docs/rules.md`, "Contacts without an externalId"). Its counts grow page by page.
 */
export interface Look {
  /** How many contacts were listed, and how many of them have no externalId. */
  readonly contacts: number;
  readonly unkeyed: number;
  readonly pages: number;
  /** How many contacts the run is to make. */
  readonly creates: number;
  /** How many of these are one contact without an externalId each, and how many may be one of several. */
  readonly matched: number;
  readonly unclear: number;
  /** How many of both a person wanted linked in an earlier run. */
  readonly decided: number;
  /** `refused`: the service gives no such list. `cut`: it is longer than the limit. */
  readonly end: 'underWay' | 'whole' | 'cut' | 'refused';
}

/** How many contacts were looked at, and how many of them people changed, deleted or doubled. */
export interface DriftCounts {
  readonly looked: number;
  readonly changed: number;
  readonly gone: number;
  readonly doubled: number;
}

/** How many of a file's rows have a value in a mapped column: a share from 0 to 1. */
export interface ColumnFill {
  readonly column: string;
  readonly share: number;
}

export interface FileShape {
  readonly format: 'csv' | 'xlsx' | 'json' | 'ndjson' | 'vcf';
  readonly columns: readonly string[] | null;
  readonly delimiter: string | null;
  /** The columns that were mapped, in the file's own words; none for JSON. Absent in what older versions wrote. */
  readonly mapped?: readonly string[];
  /**
   * Mapped columns that the file lacks, in the words of the last file that had them, once its run is let pass; absent where it lacks
   * none. Of dead letters and fix-files those that their rows may lack; absent in what older versions wrote. Of a file without a header, both
   * are those of the file before it.
   */
  readonly lacked?: readonly string[];
  /** Of a full file: how many people it lacks whom its feed knows, and how many of them no file before it lacked. */
  readonly missing?: { readonly count: number; readonly new: number };
  /** Of a run that looked for drift. */
  readonly drift?: DriftCounts;
  /**
   * How many rows were skipped since their person was forgotten, and how many people the ledger had forgotten by then. Absent where
   * it had forgotten none, and in what older versions wrote.
   */
  readonly forgotten?: { readonly rows: number; readonly people: number };
  /** Columns with contact data that nothing mapped. Absent until the file was read to its end, and in older versions. */
  readonly leftOut?: readonly string[];
  /** Of a full file with columns, once it was read to its end. Absent in what older versions wrote. */
  readonly filled?: readonly ColumnFill[];
  /** Rows of the file, once it was read to its end. Absent in what older versions wrote. */
  readonly rows?: number;
}

/** How many rows the file of a run has: what a run counts has the contacts of people who left, too, which it changes. */
export function rowsOfFile({ shape, counts }: Pick<RunRecord, 'shape' | 'counts'>): number {
  return shape?.rows ?? counts.rows;
}

/** A run as it is entered; the ledger sets everything else. */
export interface NewRun
  extends Pick<RunRecord, 'id' | 'feed' | 'kind' | 'fileName' | 'claimedPath' | 'importFolder' | 'sha256' | 'bytes'>,
    Pick<RunRecord, 'options' | 'mapping' | 'createdAtMs'>,
    Partial<Pick<RunRecord, 'sourceLabel' | 'refusal' | 'host'>> {}

export function isFinal(state: RunState): boolean {
  return (finalRunStates as readonly string[]).includes(state);
}

/** Whether a run in that state still counts what becomes of its pending rows: one that is being cancelled leaves them out. */
export function countsItsRows(state: RunState): boolean {
  return state !== 'cancelling' && !isFinal(state);
}

/** Rows that have no outcome yet. */
export function pendingCount(counts: RunCounts): number {
  return counts.rows - counts.created - counts.updated - counts.unchanged - counts.skipped - counts.dead;
}

/** What a person chose for one run. It is in the ledger, so that any engine can continue the run. */
const runOptions = z.object({
  delimiter: z.string().nullable().default(null),
  encoding: z.string().nullable().default(null),
  defaultCountry: z.string().nullable().default(null),
  onBlank: z.enum(['keep', 'clear']).nullable().default(null),
  /** What a row does whose contact was deleted; null: what its feed says. */
  onGone: z.enum(['skip', 'recreate']).nullable().default(null),
  /** Raises the guards on updates, creates, clears and removals for this run: a fraction. */
  maxChange: z.number().nullable().default(null),
  /** Raises the guard on rejected rows for this run: a fraction. */
  maxDead: z.number().nullable().default(null),
  /** Passes the guards on the staged file; none of those while it is applied. */
  accept: z.boolean().default(false),
  /** Contacts that are there already, unknown to the ledger, are taken over without asking. */
  adopt: z.boolean().default(false),
  /** Contacts that may be there already, without an externalId or under another key, are made all the same. */
  createAnyway: z.boolean().default(false),
  /** Only contacts that are to be made; only contacts that are there. */
  createOnly: z.boolean().default(false),
  updateOnly: z.boolean().default(false),
  /** Only rows with these keys, prefix included; empty: all rows. */
  only: z.array(z.string()).default([]),
  /** Nothing is written: contacts are looked at for drift. With `repair` what drifted is written back. */
  verify: z.boolean().default(false),
  repair: z.boolean().default(false),
  /** At most this many changed rows, the first ones; null: all. */
  limit: z.number().nullable().default(null),
  /** Without a mapping, the layout may be recognised; otherwise it is the generic one. */
  recognise: z.boolean().default(true),
  /** Where the file is that was named on the command line: an absolute path. */
  path: z.string().nullable().default(null),
  /** The mapping that a person named for this file alone: the path of a file, or a name. */
  mappingNamed: z.string().nullable().default(null),
  /** A redrive: map the source cells again, even if there is a mapped record. */
  remap: z.boolean().default(false),
  /** The kept plan that is carried out: a row whose plan is another one now is skipped. */
  planId: z.string().nullable().default(null),
  /** Of an undo: the run whose writes are taken back, and whether the contacts that it made are deleted. */
  undoes: z.string().nullable().default(null),
  deleteCreated: z.boolean().default(false),
  /** A redrive: a person has corrected the row, and says by that in which columns its cells stand. */
  edited: z.boolean().default(false),
  /** Requests per second for this run alone, at most; null: as many as the key allows. */
  rate: z.number().nullable().default(null),
  /** Why a person raised or passed guards. */
  acceptReason: z.string().nullable().default(null),
  /**
   * How the file came: dropped into an import folder, named by a command, taken by its schedule in time or on request. Null: not
   * known, as after a crash between check-out and entry, and of runs that have no file.
   */
  origin: z.enum(['folder', 'command', 'schedule', 'request']).nullable().default(null),
  /** Whether the folder of its feed was made for it. */
  madeFolder: z.boolean().default(false),
});
export type RunOptions = z.infer<typeof runOptions>;

export const noOptions: RunOptions = runOptions.parse({});

/** Options as they were stored: an older version did not know every one, and what it did not know is as if it was not chosen. */
export function wholeOptions(stored: Partial<RunOptions> | null): RunOptions {
  return { ...noOptions, ...stored };
}

/**
 * Whether a run applies all changed rows of its file. One that applies some, or none, says nothing of the rows that it leaves out
 * (`docs/rules.md`, "Modes"): it is no accepted file. The databases ask the same of stored options (`RunWhere.applies`).
 */
export function appliesAllRows({
  verify,
  only,
  createOnly,
  updateOnly,
  limit,
}: Pick<RunOptions, 'verify' | 'only' | 'createOnly' | 'updateOnly' | 'limit'>): boolean {
  return !verify && only.length === 0 && !createOnly && !updateOnly && limit === null;
}

/** By what a run came to be. */
export type RunOrigin = NonNullable<RunOptions['origin']> | 'retry' | 'decision' | 'undo';

/** Null: not known. */
export function originOf({ kind, options }: Pick<RunRecord, 'kind' | 'options'>): RunOrigin | null {
  if (kind === 'redrive') return 'retry';
  // Older versions did not keep it.
  if (kind === 'undo') return 'undo';
  return kind === 'held' ? 'decision' : (options.origin ?? null);
}

/** Whether the file came by itself: Patchbay has taken it, and no person imports it again by a command. */
export function cameByItself(run: Pick<RunRecord, 'kind' | 'options'>): boolean {
  const origin = originOf(run);
  return origin === 'folder' || origin === 'schedule' || origin === 'request';
}

/** The part of the ledger that holds feeds and runs. */
export interface RunFilter {
  readonly states?: readonly RunState[];
  readonly feed?: string;
  readonly kind?: RunKind;
  /** Of the file's content. */
  readonly sha256?: string;
  /** Only runs of these hosts. */
  readonly hosts?: readonly (string | null)[];
  /** Only runs that have ended and are not pruned. */
  readonly unpruned?: true;
  /** Only runs of which no staged row waits for its outcome. */
  readonly nonePending?: true;
  /** Only runs that arrived earlier: the sequence of the last run of the page before. */
  readonly beforeSequence?: number;
  /** At most this many. */
  readonly limit: number;
  /** Else the newest first. */
  readonly oldestFirst?: boolean;
}

/**
 * What older rows of its feed do to contacts that a stopped run found unchanged. `overtaken`: `count` of them were written since, and it must be read
 * anew. `underWay`: that run is being applied, and may write some.
 */
export type OlderWrites =
  | { readonly kind: 'overtaken'; readonly count: number }
  | { readonly kind: 'underWay'; readonly runId: string };

/** What becomes known of a run at work. */
export interface RunFacts {
  readonly shape?: FileShape;
  readonly look?: Look;
  /** That which the layout was recognised by. */
  readonly mapping?: Mapping | null;
  /** Added to those that are there. */
  readonly notes?: readonly string[];
  readonly counts?: CountDelta;
  readonly requests?: Partial<RequestTotals>;
  readonly stoppedAtMs?: number | null;
  readonly stoppedMs?: number;
}

/** How the rows of a run are read. */
export type RunReading = Pick<RunRecord, 'mapping' | 'options' | 'sourceLabel'>;

/** The lines of the feeds, where there are several hosts. */
export interface LineOfHosts {
  readonly hosts: readonly (string | null)[];
  /**
   * What a host that is away has not read, or not finished though every row has its outcome, holds up no later run. When it comes
   * back, its run waits for those at work, and its rows give way to newer ones.
   */
  readonly away: readonly string[];
}

/** The part of the ledger that holds feeds and runs. */
export interface RunLedger {
  /**
   * Enters a run as `queued`, durable. The feed is entered with its first run.
   * @param act of the person who brought the file.
   * @param replaced a run whose place it takes: where that one is stopped, it is cancelled for the reason.
   */
  create(run: NewRun, act?: NewAct, replaced?: { readonly id: string; readonly reason: RunReason }): Promise<RunRecord>;
  get(id: string): Promise<RunRecord | null>;
  list(filter: RunFilter): Promise<readonly RunRecord[]>;
  /** How many there are. */
  count(filter: Omit<RunFilter, 'limit' | 'oldestFirst'>): Promise<number>;
  /**
   * The feed's last accepted file before that sequence: the newest that is done, with rejected rows or without. Fix-files and redrives
   * are none, nor are files that were only looked at (`verify`). `newerCount`: accepted files between it and the sequence.
   * @param of that content; `applies`: as in `RunWhere`, `rows` unless given. What a full file is compared with has applied all rows.
   */
  lastAccepted(
    feed: string,
    beforeSequence: number,
    of?: { readonly sha256?: string; readonly applies?: 'rows' | 'allRows' },
  ): Promise<{ readonly run: RunRecord; readonly newerCount: number } | null>;
  /** The newest look that a run of the feed took and went on from; null where there is none. */
  lastLook(feed: string): Promise<Look | null>;
  /** Distinct key prefixes of the mappings that runs were read with; the newest first, at most `limit`. */
  keyPrefixes(limit: number): Promise<readonly string[]>;
  /**
   * Runs that wait and whose feed has no earlier run at work: at most one per feed, oldest first.
   * @param of which hosts' runs are asked for, and which hosts are away: they hold up no other. Absent: all runs.
   */
  nextQueued(limit: number, of?: LineOfHosts): Promise<readonly RunRecord[]>;

  /**
   * Moves a run on, only if it is in one of the states `from`. `reason` replaces the reason, `reading` how its rows are read, without
   * what was approved of the rows before; `notes` are added to those that are there. A final state is
   * durable, and opens again the letters that the run tried again and did not settle. @returns whether it was in one of them.
   */
  move(
    id: string,
    from: readonly RunState[],
    to: RunState,
    change: {
      atMs: number;
      reason?: RunReason | null;
      act?: NewAct;
      reading?: RunReading;
      notes?: readonly string[];
    },
  ): Promise<boolean>;
  /** Starts to read the file again: what an interrupted reading staged is deleted, counts and notes are reset. */
  beginStaging(id: string, atMs: number): Promise<boolean>;
  /** One transaction. */
  record(id: string, facts: RunFacts): Promise<void>;
  /** Why a stopped run cannot go on as it was staged; null where it can. */
  olderWrites(id: string): Promise<OlderWrites | null>;
  /**
   * Lets a stopped run continue if it is still stopped for the approved reason, and keeps the approval. Durable. @returns whether
   * it did: not if the run was cancelled or replaced in the meantime, stopped again for another reason, or has `olderWrites`.
   */
  approve(id: string, approval: Approval, act?: NewAct): Promise<boolean>;
  /**
   * Deletes, slice by slice, what a finished run needs no more: its staged records, events and rejected rows. Counts, dead
   * letters and the report stay; the last file that was accepted with all rows keeps what it found unchanged until the next one is, and that of a
   * named feed its keys.
   */
  prune(id: string): Promise<void>;
}
