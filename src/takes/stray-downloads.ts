/**
 * What a killed process left in the private folder: parts of downloads, and copies that no run took over. What was lost
 * with it is taken again.
 *
 * Nothing else lies there, and one process at a time takes files: before its first take, all that lies there is stray. By
 * age it could not be told, since the wall clock may jump while something is downloaded.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { emptyIfMissing, messageOf } from '#src/errors.ts';
import type { TakeParts } from './parts.ts';

/** For a process that has taken nothing yet. Never rejects: what cannot be removed stays. @returns how many were removed. */
export async function removeStrayDownloads({ folders, log }: Pick<TakeParts, 'folders' | 'log'>): Promise<number> {
  let removed = 0;
  try {
    for (const entry of await readdir(folders.downloads, { withFileTypes: true }).catch(emptyIfMissing)) {
      if (!entry.isFile()) continue;
      await rm(join(folders.downloads, entry.name), { force: true });
      removed += 1;
    }
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'unfinished downloads not removed');
  }
  if (removed > 0) log.info({ files: removed }, 'unfinished downloads removed');
  return removed;
}
