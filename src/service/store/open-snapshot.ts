/**
 * A store as it is at one instant, to be read while a service goes on writing to it.
 *
 * Invariant: nothing is changed, neither in the file nor in what a running service sees. A store of an older version is
 * brought up to date in a copy.
 */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PatchbayError } from '#src/errors.ts';
import { openStore, ownerOf, type StoreTables, tablesOf, versionOf } from './open-store.ts';
import { schemaVersion } from './schema.ts';
import { unreadable } from './store-lock.ts';

export interface Snapshot {
  readonly tables: StoreTables;
  readonly ownerUserId: string;
  readonly close: () => void;
}

const busyTimeoutMs = 5_000;

/** Throws `usage` errors: `storeMissing`, `storeUnreadable`, `storeNewer`. */
export function openSnapshot(path: string): Snapshot {
  if (!existsSync(path)) throw missing(path);
  if (!statSync(path).isFile()) throw unreadable(path, new Error('it is no file'));
  const hadJournal = existsSync(`${path}-wal`);
  let database: DatabaseSync | undefined;
  const close = () => {
    if (database?.isOpen === true) database.close();
    if (!hadJournal) removeEmptyJournal(path);
  };
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs });
    // The first read takes the picture that all later ones see.
    database.exec('BEGIN');
    const version = versionOf(database);
    if (version === 0) throw unreadable(path, new Error('it holds no workspace'));
    if (version < schemaVersion) return snapshotOfCopy(database, close);
    return { tables: tablesOf(database), ownerUserId: ownerOf(database), close };
  } catch (error) {
    close();
    throw error instanceof PatchbayError ? error : unreadable(path, error);
  }
}

/** The copy is in a folder that only its owner may enter. */
function snapshotOfCopy(database: DatabaseSync, close: () => void): Snapshot {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-dump-'));
  const removeCopy = () => rmSync(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, 'store.sqlite');
    database.exec('COMMIT');
    database.prepare('VACUUM INTO ?').run(copy);
    close();
    const store = openStore(copy, () => '');
    const closeCopy = () => {
      store.close();
      removeCopy();
    };
    return { tables: store, ownerUserId: store.ownerUserId, close: closeCopy };
  } catch (error) {
    removeCopy();
    throw error;
  }
}

/**
 * A reader makes the journal's files where there are none, and cannot remove them. The last one who may write does: the
 * store itself stays as it is.
 */
function removeEmptyJournal(path: string): void {
  try {
    const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
    database.prepare('PRAGMA user_version').get();
    database.close();
  } catch {
    // Who may not write here leaves two empty files behind; the next start of the service removes them.
  }
}

function missing(path: string): PatchbayError {
  return new PatchbayError('usage', 'storeMissing', `there is no store ${path}`, {
    facts: { path },
    hint: 'Name the store with --store FILE.',
  });
}
