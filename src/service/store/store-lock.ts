/**
 * One service per store: an open exclusive transaction on a small database beside the store is a lock that the operating
 * system gives back at any death of its holder. Dumps do not ask for it.
 *
 * Two services would each hold other keys for valid, and the one that starts last would make the store forget those of
 * the first.
 */
import { existsSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PatchbayError } from '#src/errors.ts';
import { unreadable } from './open-store.ts';
import { fileAt, makeFolder } from './store-files.ts';

export interface StoreLock {
  readonly release: () => void;
}

const takingsMax = 5;

/** For a file's path, or `:memory:`. Throws `usage` errors: `storeInUse`, `storeUnreadable`. */
export function takeStoreLock(store: string): StoreLock {
  if (store === ':memory:') return { release: () => undefined };
  const path = lockPathOf(store);
  // The second turn finds the file that the first one made; more are needed only where holders come and go meanwhile.
  for (let taking = 1; taking <= takingsMax; taking += 1) {
    const fileBefore = fileAt(path);
    const database = takeExclusive(store, path);
    if (database === null) break;
    // A lock on a file that its last holder has just removed keeps nobody out.
    if (fileBefore !== null && fileBefore === fileAt(path)) {
      return { release: () => release(path, fileBefore, database) };
    }
    database.close();
  }
  throw new PatchbayError('usage', 'storeInUse', `another service works on the store ${store}`, {
    facts: { path: store },
    hint: 'Use that one, stop it first, or name another store. A dump may be taken beside it.',
  });
}

/** One for all links that lead to the store. Throws `storeUnreadable`. */
function lockPathOf(store: string): string {
  try {
    if (existsSync(store)) return `${realpathSync(store)}-lock`;
    makeFolder(dirname(store));
    return join(realpathSync(dirname(store)), `${basename(store)}-lock`);
  } catch (error) {
    throw unreadable(store, error);
  }
}

function release(path: string, file: string, database: DatabaseSync): void {
  try {
    // Before the lock is given back: from then on the file may be another's. It is, too, where the folder was replaced.
    if (fileAt(path) === file) rmSync(path, { force: true });
  } catch {
    // Where open files cannot be removed it stays, and the next service takes it.
  }
  database.close();
}

/** Null where another holds it. */
function takeExclusive(store: string, path: string): DatabaseSync | null {
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    // Nothing is written: no journal is needed on the disk, and none would be left there by a crash.
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    if (isBusy(error)) return null;
    throw unreadable(store, error);
  }
}

/** SQLite's result codes BUSY and LOCKED, in the lower eight bits; the upper ones say more of it. */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false;
  const code = Number(error.errcode) & 0xff;
  return code === 5 || code === 6;
}
