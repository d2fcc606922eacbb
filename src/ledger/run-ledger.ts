/** The part of the ledger that holds feeds and runs. */
import type { Approval } from './approval.ts';
import type { CountDelta, FileShape, NewRun, RequestTotals, RunReason, RunRecord, RunState } from './run-record.ts';

export interface RunFilter {
  readonly states?: readonly RunState[];
  readonly feed?: string;
  /** At most so many, newest first. */
  readonly limit: number;
}

export interface RunLedger {
  /** Enters a run as `queued`, durable. The feed is entered with its first run. */
  create(run: NewRun): Promise<RunRecord>;
  /** Takes a run back that nobody has begun; the letters of a redrive are open again. Answers whether it was still waiting. */
  forget(id: string): Promise<boolean>;
  get(id: string): Promise<RunRecord | null>;
  list(filter: RunFilter): Promise<readonly RunRecord[]>;
  /** The newest run of that feed that read the same content. */
  findByContent(feed: string, sha256: string): Promise<RunRecord | null>;
  /**
   * The feed's last accepted file before that sequence: the newest that is done, with dead rows or without. Fix-files and
   * redrives are none.
   */
  lastAccepted(feed: string, beforeSequence: number): Promise<RunRecord | null>;
  /**
   * The newest accepted file of the feed with that content before that sequence, and how many were accepted between the
   * two; null where the content was never accepted.
   */
  acceptedContent(
    feed: string,
    sha256: string,
    beforeSequence: number,
  ): Promise<{ readonly run: RunRecord; readonly newerCount: number } | null>;
  /** Runs that wait and whose feed has no earlier run at work: at most one a feed, oldest first. */
  nextQueued(limit: number): Promise<readonly RunRecord[]>;
  /** Runs in these states whose names and counts the sweeper needs; oldest first. */
  inState(states: readonly RunState[], limit: number): Promise<readonly RunRecord[]>;

  /**
   * Moves a run on, only if it is in one of the states `from`. Answers whether it was. `reason` replaces the reason.
   * Reaching a final state is durable.
   */
  move(
    id: string,
    from: readonly RunState[],
    to: RunState,
    change: { atMs: number; reason?: RunReason | null },
  ): Promise<boolean>;
  /** Starts reading anew: what an interrupted reading staged is thrown away, counts and notes are zero. */
  beginStaging(id: string, atMs: number): Promise<boolean>;
  setShape(id: string, shape: FileShape): Promise<void>;
  addNotes(id: string, notes: readonly string[]): Promise<void>;
  addCounts(id: string, delta: CountDelta): Promise<void>;
  addRequests(id: string, delta: Partial<RequestTotals>): Promise<void>;
  /**
   * Lets a stopped run go on, where it is still stopped by what was approved; remembers the approval. Answers whether it
   * happened: not where the run was cancelled or replaced meanwhile, or stopped anew by something else. Durable.
   */
  approve(id: string, approval: Approval): Promise<boolean>;
  /**
   * Forgets the staged records of a finished run. Counts, dead letters and the report stay; of the last accepted file of
   * a named feed the keys stay too, until the next one is.
   */
  prune(id: string): Promise<void>;
}
