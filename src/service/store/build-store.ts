/**
 * Makes a new store out of something that takes a while to read, as a file of a million contacts.
 *
 * Invariant: under the store's own name there is nothing, or all of it. It is built beside, in a file that is thrown
 * away where anything fails, and renamed when it is complete and on the disk. Such a file needs no journal on the disk,
 * and in memory it is small, as a new file has no pages that could be changed.
 */

import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, PatchbayError } from '#src/errors.ts';
import {
  isOfDatabase,
  keepOwner,
  migrate,
  openStore,
  type Store,
  type StoreTables,
  storeOf,
  tablesOf,
} from './open-store.ts';
import { journalsOf, makeFolder } from './store-lock.ts';

/** Fills the tables; rejects where it cannot, and nothing is kept. */
type Fill<Filled extends { readonly ownerUserId: string }> = (tables: StoreTables) => Promise<Filled>;

/**
 * `path` is a file that is not there yet, or `:memory:`. `beforePublish` is awaited when the store is complete; where it
 * rejects there is none. From its end to that of this function nothing else happens in the process. Throws `usage`
 * errors: `storeNotNew`, `storeNotWritten`, and what the filling and `beforePublish` throw.
 */
export async function buildStore<Filled extends { readonly ownerUserId: string }>(
  path: string,
  fill: Fill<Filled>,
  beforePublish: () => Promise<void>,
): Promise<{ readonly store: Store; readonly filled: Filled }> {
  if (path === ':memory:') {
    const database = new DatabaseSync(path);
    try {
      const filled = await fillDatabase(database, path, fill);
      await beforePublish();
      return { store: storeOf(database), filled };
    } catch (error) {
      database.close();
      throw error;
    }
  }
  refuseStoreThatExists(path);
  const filled = await buildFile(path, fill, beforePublish);
  // The seed of a store that is complete is never asked for.
  return { store: openStore(path, () => filled.ownerUserId), filled };
}

async function buildFile<Filled extends { readonly ownerUserId: string }>(
  path: string,
  fill: Fill<Filled>,
  beforePublish: () => Promise<void>,
): Promise<Filled> {
  const draft = newDraftPath(path, 'loading');
  try {
    makeFolder(dirname(path));
    removeAbandonedDrafts(path, 'loading');
    closeSync(openSync(draft, 'wx', 0o600));
  } catch (error) {
    throw notWritten(path, error);
  }
  try {
    const filled = await fillDraft(draft, path, fill);
    await beforePublish();
    publish(draft, path);
    return filled;
  } finally {
    rmSync(draft, { force: true });
  }
}

async function fillDraft<Filled extends { readonly ownerUserId: string }>(
  draft: string,
  path: string,
  fill: Fill<Filled>,
): Promise<Filled> {
  const database = new DatabaseSync(draft);
  try {
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;');
    return await fillDatabase(database, path, fill);
  } finally {
    database.close();
  }
}

async function fillDatabase<Filled extends { readonly ownerUserId: string }>(
  database: DatabaseSync,
  path: string,
  fill: Fill<Filled>,
): Promise<Filled> {
  try {
    database.exec('BEGIN');
    migrate(database, 0);
    const filled = await fill(tablesOf(database));
    keepOwner(database, filled.ownerUserId);
    database.exec('COMMIT');
    return filled;
  } catch (error) {
    throw isOfDatabase(error) ? notWritten(path, error) : error;
  }
}

/** The draft becomes the store, complete and on the disk. */
function publish(draft: string, path: string): void {
  // Another process may have made a store in the meantime.
  refuseStoreThatExists(path);
  try {
    syncToDisk(draft);
    // A journal that a removed store left behind would be taken for this one's.
    for (const journal of journalsOf(path)) rmSync(journal, { force: true });
    renameSync(draft, path);
    syncToDisk(dirname(path));
  } catch (error) {
    throw notWritten(path, error);
  }
}

function syncToDisk(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** An empty file is no store yet. */
function refuseStoreThatExists(path: string): void {
  if (!existsSync(path) || statSync(path).size === 0) return;
  throw new PatchbayError('usage', 'storeNotNew', `the store ${path} is there already and keeps its content`, {
    facts: { path },
    hint: 'Name a store that is not there yet, or start this one without --load.',
  });
}

/** Removes a store that was built and has been closed, where its start fails after all. */
export function discardBuiltStore(path: string): void {
  if (path === ':memory:') return;
  for (const file of [path, ...journalsOf(path)]) rmSync(file, { force: true });
}

function notWritten(path: string, error: unknown): PatchbayError {
  return new PatchbayError('usage', 'storeNotWritten', `cannot write the store ${path}: ${messageOf(error)}`, {
    facts: { path },
    hint: 'Nothing was loaded. Check the folder and the space on its disk.',
    cause: error,
  });
}

// Drafts: a file is written under a name of its own beside its target, and renamed when it is whole.
//
// The name tells the process that writes it. What a process that was killed left behind is removed by the next one that
// writes the same target.

/** What is drafted: a store that is being loaded, or a dump. */
type DraftKind = 'loading' | 'part';

/** A name that is not in use. To be opened with the flag `wx`. */
export function newDraftPath(target: string, kind: DraftKind): string {
  return `${target}.${kind}-${process.pid}-${randomBytes(6).toString('hex')}`;
}

/** Never throws: an old draft does no harm. */
export function removeAbandonedDrafts(target: string, kind: DraftKind): void {
  const beginning = `${basename(target)}.${kind}-`;
  try {
    for (const name of readdirSync(dirname(target))) {
      if (!name.startsWith(beginning)) continue;
      const pid = /^(\d{1,15})(?:-[0-9a-f]{12})?$/.exec(name.slice(beginning.length))?.[1];
      const draft = join(dirname(target), name);
      if (pid !== undefined && isAbandoned(draft, Number(pid))) rmSync(draft, { force: true });
    }
  } catch {
    // A folder that cannot be read, or a draft of another user.
  }
}

function isAbandoned(draft: string, pid: number): boolean {
  // In a container every process may have the same number: a draft that is older than this one is not its own.
  if (pid === process.pid) return statSync(draft).mtimeMs < performance.timeOrigin;
  return pid > 0 && !isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process may not be signalled, but it is there.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
