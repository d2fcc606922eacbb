/**
 * Group commit: writes that arrive together share one transaction, and each is answered after its commit.
 *
 * Invariant: a *work* reads first and ends with at most one statement that changes something. One that throws has then
 * changed nothing, and the others of its transaction go on without a savepoint.
 */
import type { DatabaseSync } from 'node:sqlite';
import { PatchbayError } from '#src/errors.ts';

const worksPerCommitMax = 500;

interface WaitingWork {
  /** Does the work and answers how to tell its caller. Never throws. */
  readonly attempt: () => () => void;
  readonly fail: (error: unknown) => void;
}

export interface GroupCommit {
  /** Resolves after the commit; rejects with what the work threw, or with why the commit failed. */
  readonly write: <Result>(work: () => Result) => Promise<Result>;
  /** Commits what waits; later writes are refused. */
  readonly close: () => void;
}

export function createGroupCommit(database: DatabaseSync): GroupCommit {
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
  const commitNext = () => {
    const batch = waiting.splice(0, worksPerCommitMax);
    if (batch.length > 0) commitBatch(database, batch);
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
      while (waiting.length > 0) commitBatch(database, waiting.splice(0, worksPerCommitMax));
    },
  };
}

function attemptWork<Result>(
  work: () => Result,
  resolve: (result: Result) => void,
  reject: (error: unknown) => void,
): () => void {
  try {
    const result = work();
    return () => resolve(result);
  } catch (error) {
    return () => reject(error);
  }
}

function commitBatch(database: DatabaseSync, batch: readonly WaitingWork[]): void {
  let tellCallers: readonly (() => void)[];
  try {
    database.exec('BEGIN IMMEDIATE');
    tellCallers = batch.map((one) => one.attempt());
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    for (const one of batch) one.fail(error);
    return;
  }
  for (const tell of tellCallers) tell();
}
