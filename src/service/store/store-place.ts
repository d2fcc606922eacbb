/**
 * Whether the store's name still leads to the file that is open.
 *
 * Somebody may move a backup over it, or remove it, while the service runs: writes would go on into a file without a
 * name, and the journal, which is found by its name alone, would be taken for that of the new file and ruin it.
 * Invariant: a commit that is told as done was made while the name led to the open file. Once it does not, what the
 * journal holds goes into the old file, wherever that is now, and the journal is emptied, so that it cannot harm.
 */
import { rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { PatchbayError } from '#src/errors.ts';
import { fileAt, journalsOf } from './store-files.ts';

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

/** Answers whether it is empty. It is not while somebody reads it, as a dump does; that is not waited for. */
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
