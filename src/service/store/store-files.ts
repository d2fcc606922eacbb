/** The files of a store: which stand beside it, how one is told from another, and the folder that they are in. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

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
    // Another process may be making it, too.
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
  }
}
