/**
 * Group commit: writes that arrive together share one transaction, and each is answered after its commit.
 *
 * Invariant: a *work* reads first and ends with at most one statement that changes something. One that throws has then
 * changed nothing, and the others of its transaction go on without a savepoint. On some errors, as a full disk, SQLite
 * may end the whole transaction by itself: nothing more of it is tried, as each further work would be committed alone,
 * and all its callers get that error. Every caller gets an answer, whatever fails.
 */
import type { DatabaseSync } from 'node:sqlite';
import { PatchbayError } from '#src/errors.ts';

const worksPerCommitMax = 500;

interface WaitingWork {
  /** Does the work. Never throws. */
  readonly attempt: () => Attempt;
  readonly fail: (error: unknown) => void;
}

interface Attempt {
  /** Tells the caller what came of it. */
  readonly tell: () => void;
  /** What the work threw; undefined where it did not. */
  readonly error?: unknown;
}

export interface GroupCommit {
  /** Resolves after the commit; rejects with what the work threw, or with why the commit failed. */
  readonly write: <Result>(work: () => Result) => Promise<Result>;
  /** Commits what waits; later writes are refused. */
  readonly close: () => void;
}

/**
 * `endReads` ends the transaction of reads that are under way. `requirePlace` throws where a commit would be lost: see
 * `store-lock.ts`.
 */
export function createGroupCommit(
  database: DatabaseSync,
  endReads: () => void,
  requirePlace: () => void = () => undefined,
): GroupCommit {
  const waiting: WaitingWork[] = [];
  let scheduled = false;
  let closed = false;

  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    // After the I/O of this turn: what other connections sent in the meantime joins the transaction.
    setImmediate(() => {
      scheduled = false;
      if (!closed) commitNext();
    });
  };
  const commit = (batch: readonly WaitingWork[]) => commitBatch(database, { endReads, requirePlace }, batch);
  const commitNext = () => {
    const batch = waiting.splice(0, worksPerCommitMax);
    if (batch.length > 0) commit(batch);
    if (waiting.length > 0) schedule();
  };
  return {
    write: (work) =>
      new Promise((resolve, reject) => {
        if (closed) {
          reject(new PatchbayError('bug', 'storeClosed', 'a write came after the store was closed'));
          return;
        }
        waiting.push({ attempt: () => attemptWork(work, resolve, reject), fail: reject });
        schedule();
      }),
    close: () => {
      closed = true;
      // Ends: nothing is added any more, and each turn takes at least one.
      while (waiting.length > 0) commit(waiting.splice(0, worksPerCommitMax));
    },
  };
}

function attemptWork<Result>(
  work: () => Result,
  resolve: (result: Result) => void,
  reject: (error: unknown) => void,
): Attempt {
  try {
    const result = work();
    return { tell: () => resolve(result) };
  } catch (error) {
    return { tell: () => reject(error), error };
  }
}

interface Surroundings {
  readonly endReads: () => void;
  readonly requirePlace: () => void;
}

/** Never throws: there would be no caller to catch it. */
function commitBatch(database: DatabaseSync, surroundings: Surroundings, batch: readonly WaitingWork[]): void {
  const { endReads, requirePlace } = surroundings;
  let attempts: readonly Attempt[];
  try {
    endReads();
    requirePlace();
    database.exec('BEGIN IMMEDIATE');
    attempts = attemptAll(database, batch);
    database.exec('COMMIT');
    // What was committed beside the name in the meantime is not kept under it.
    requirePlace();
  } catch (error) {
    rollBack(database);
    for (const one of batch) one.fail(error);
    return;
  }
  for (const { tell } of attempts) tell();
}

/** Throws the error with which SQLite ended the transaction. */
function attemptAll(database: DatabaseSync, batch: readonly WaitingWork[]): readonly Attempt[] {
  return batch.map((one) => {
    const attempt = one.attempt();
    if (!database.isTransaction) throw attempt.error ?? new Error('a work ended the transaction of all');
    return attempt;
  });
}

function rollBack(database: DatabaseSync): void {
  try {
    if (database.isTransaction) database.exec('ROLLBACK');
  } catch {
    // The error before this one says more. Where the transaction is still open, the next batch fails and comes here.
  }
}
