/**
 * One engine per data folder (`contract.md`): an open exclusive transaction on a small database is a lock that the
 * operating system gives back at any death of its holder.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, PatchbayError } from '#src/errors.ts';

export interface EngineLock {
  release(): void;
}

/**
 * Takes the lock, or answers null where another process holds it.
 * @throws PatchbayError `usage` `dataFolderUnusable` where the folder cannot be written.
 */
export function takeEngineLock(file: string): EngineLock | null {
  let db: DatabaseSync | null = null;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    db = new DatabaseSync(file, { timeout: 0 });
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    const held = db;
    return { release: () => held.close() };
  } catch (error) {
    db?.close();
    if (isBusy(error)) return null;
    throw new PatchbayError(
      'usage',
      'dataFolderUnusable',
      `the data folder ${dirname(file)} cannot be used: ${messageOf(error)}`,
      {
        hint: 'Check its rights and its free space, or name another one with --data.',
        cause: error,
      },
    );
  }
}

/** SQLite's result codes BUSY and LOCKED, in the lower eight bits; the upper ones say more of it. */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false;
  const code = Number(error.errcode) & 0xff;
  return code === 5 || code === 6;
}
