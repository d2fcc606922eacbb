/**
 * Syncs the log of a SQLite file (`-wal`) to disk, beside the work of the process.
 *
 * A commit that SQLite syncs by itself holds the event loop for as long as the disk takes: a millisecond here, tens of them on a
 * busy disk. So durable transactions commit as all others do, and wait for a sync that a thread carries out. Commits that wait at the
 * same time share one.
 *
 * Invariant: `synced` resolves after a sync that began after it was called. SQLite syncs the log itself before it overwrites it
 * (`synchronous = NORMAL`), so that what is no longer in the log is on disk, too.
 */
import { close, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { messageOf, type PatchbayError, systemCodeOf } from '#src/errors.ts';
import { passing } from '#src/ledger/trouble.ts';

export interface LogSync {
  /**
   * Resolves when all that was committed before is on disk.
   * @throws PatchbayError `transient` `ledgerIoFails`, `diskFull`: it may be there or not.
   */
  synced(): Promise<void>;
  /** Syncs that are waited for end by themselves. */
  close(): void;
}

interface LogSyncParts {
  /**
   * Carries the log over into the ledger's file. After a sync that failed, what it was to write may be missing in the middle of the
   * log, although later syncs succeed.
   */
  readonly carryOver: () => Promise<void>;
  /** Tests make it fail. */
  readonly syncFile?: (descriptor: number) => Promise<void>;
}

/** @param file of the ledger; its log, which is there from the first write on, is opened with the first sync. One in memory needs none. */
export function createLogSync(file: string, { carryOver, syncFile = promisify(fdatasync) }: LogSyncParts): LogSync {
  let descriptor: number | null = null;
  let running: Promise<void> = Promise.resolve();
  /** The one that has not begun. */
  let next: Promise<void> | null = null;
  let hasFailed = false;

  const sync = async (log: number): Promise<void> => {
    next = null;
    try {
      if (hasFailed) await carryOver();
      await syncFile(log);
      hasFailed = false;
    } catch (error) {
      hasFailed = true;
      throw troubleOf(error);
    }
  };
  return {
    synced: async () => {
      if (file === ':memory:') return;
      descriptor ??= openLog(file);
      const log = descriptor;
      next ??= running.then(() => {
        const begun = sync(log);
        running = begun.catch(() => undefined);
        return begun;
      });
      await next;
    },
    close: () => {
      if (descriptor === null) return;
      const log = descriptor;
      descriptor = null;
      const last = next?.catch(() => undefined) ?? running;
      void last.then(() => close(log));
    },
  };
}

function openLog(file: string): number {
  try {
    // Windows syncs only what may be written.
    return openSync(`${file}-wal`, 'r+');
  } catch (error) {
    throw troubleOf(error);
  }
}

function troubleOf(error: unknown): PatchbayError {
  if (systemCodeOf(error) === 'ENOSPC') return passing('diskFull', 'the disk has no room for the ledger', error);
  return passing('ledgerIoFails', `the ledger's disk fails: ${messageOf(error)}`, error);
}
