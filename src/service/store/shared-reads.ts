/**
 * Reads that come in one turn of the event loop share one transaction: to take and give back SQLite's locks costs more
 * than to look a contact up.
 *
 * Invariant: the transaction ends with its turn, and before a write begins. So a read sees all that was answered
 * before it came.
 */
import type { DatabaseSync } from 'node:sqlite';

export interface SharedReads {
  /** Does the work at once. It must not write. */
  readonly read: <Result>(work: () => Result) => Result;
  /** Ends the transaction, if there is one. */
  readonly end: () => void;
}

export function createSharedReads(database: DatabaseSync): SharedReads {
  const begin = database.prepare('BEGIN');
  const rollBack = database.prepare('ROLLBACK');
  let isOpen = false;
  const end = () => {
    if (!isOpen) return;
    isOpen = false;
    try {
      // A read that failed on a broken file has ended it already.
      if (database.isTransaction) rollBack.run();
    } catch {
      // Reads have nothing to lose, and nobody waits here: the next statement meets the same fault and tells it.
    }
  };
  return {
    read: (work) => {
      if (!database.isTransaction) {
        begin.run();
        isOpen = true;
        setImmediate(end);
      }
      return work();
    },
    end,
  };
}
