/**
 * One service per store: an open exclusive transaction on a small database beside the store is a lock that the operating
 * system gives back at any death of its holder. Dumps do not ask for it.
 *
 * Two services would each hold other keys for valid, and the one that starts last would make the store forget those of
 * the first.
 */
import { existsSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, PatchbayError, systemCodeOf } from '#src/errors.ts';

interface StoreLock {
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
    // A lock on a file that its last holder has just removed keeps no process out.
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

/**
 * Whether the store's name still leads to the file that is open.
 *
 * A backup may be moved over it, or it may be removed, while the service runs: writes would go on into a file without a
 * name, and the journal, which is found by its name alone, would be taken for that of the new file and ruin it.
 * Invariant: a commit that is reported as done was made while the name led to the open file. Once it does not, what the
 * journal holds goes into the old file, wherever that is now, and the journal is emptied, so that it cannot harm.
 */
export interface StorePlace {
  /** Not to be called inside a transaction. Throws a `usage` error, `storeReplaced`; and the system's errors. */
  readonly require: () => void;
  /** To be called when the database is closed: SQLite leaves the journal of a file that has another name now. */
  readonly leave: () => void;
}

/** The place of a store that has no name. */
export const noPlace: StorePlace = { require: () => undefined, leave: () => undefined };

/** `opened` is the file that the database has open; it has been read, so that its journal is there. */
export function watchStorePlace(path: string, opened: string | null, database: DatabaseSync): StorePlace {
  const journals = journalsOf(path).map((name) => ({ name, file: fileAt(name) }));
  const [log] = journals;
  let isEmptied = false;
  // A commit into a journal that was removed would be lost with this process.
  const isInPlace = () => fileAt(path) === opened && (log === undefined || fileAt(log.name) === log.file);
  return {
    require: () => {
      if (isInPlace()) {
        isEmptied = false;
        return;
      }
      if (!isEmptied) isEmptied = emptyJournal(database);
      throw new PatchbayError(
        'usage',
        'storeReplaced',
        `the store ${path} or its journal was replaced or removed while the service works on it, so nothing is written any more; end the service, see that the right file is in place, and start again`,
        { facts: { path } },
      );
    },
    leave: () => {
      if (fileAt(path) === opened) return;
      for (const { name, file } of journals) if (file !== null && fileAt(name) === file) rmSync(name, { force: true });
    },
  };
}

/** Answers whether it is empty. It is not while it is being read, as by a dump; that is not waited for. */
function emptyJournal(database: DatabaseSync): boolean {
  const { timeout } = database.prepare('PRAGMA busy_timeout').get() ?? {};
  database.exec('PRAGMA busy_timeout = 0');
  try {
    return database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0;
  } catch {
    // A full disk, or a damaged file: the next write that is refused tries it again.
    return false;
  } finally {
    database.exec(`PRAGMA busy_timeout = ${Number(timeout ?? 0)}`);
  }
}

// The files of a store: which are beside it, how to tell one from another, and the folder that they are in.

/** What SQLite keeps beside a store. */
export function journalsOf(path: string): readonly string[] {
  return [`${path}-wal`, `${path}-shm`, `${path}-journal`];
}

/** Tells one file from another, whatever its name; null where there is none. */
export function fileAt(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}

/**
 * Makes a folder and those that it lies in, for their owner alone. Not Node's recursive `mkdir`, which never ends under
 * `/proc`. Throws the system's errors.
 */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  // Ends: each turn goes one folder up, to the root at last.
  for (let at = path; !existsSync(at) && dirname(at) !== at; at = dirname(at)) missing.push(at);
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      // Another process has made it meanwhile.
      if (systemCodeOf(error) !== 'EEXIST') throw error;
    }
  }
}

export function unreadable(path: string, cause: unknown): PatchbayError {
  return new PatchbayError('usage', 'storeUnreadable', `cannot open the store ${path}: ${messageOf(cause)}`, {
    facts: { path },
    hint: 'Name a file that this service made, a new file, or :memory:.',
    cause,
  });
}
