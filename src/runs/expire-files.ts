/**
 * Files with people's data are kept for a time and then deleted: archives, fix-files, reports (`rules.md`, "Secrets and
 * personal data"). What the ledger counted stays.
 */
import { opendir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { archiveFolders } from '#src/config/archive-folders.ts';
import type { RunParts } from './parts.ts';

export type ExpireParts = Pick<RunParts, 'clock' | 'log' | 'folders'>;

/** @returns how many files were deleted. Folders that are not there hold nothing. */
export async function expireFiles({ clock, log, folders }: ExpireParts, keepMs: number): Promise<number> {
  const olderThanMs = clock.nowMs() - keepMs;
  // What tells why a file waits goes with its run, however long that waits.
  const archives = folders.importFolders.flatMap((folder) => {
    const { done, failed, fix } = archiveFolders(folder);
    return [done, failed, fix];
  });
  let deleted = 0;
  for (const folder of [...archives, folders.reports]) deleted += await expireIn(folder, olderThanMs);
  if (deleted > 0) log.info({ files: deleted }, 'old files deleted');
  return deleted;
}

async function expireIn(folder: string, olderThanMs: number): Promise<number> {
  let deleted = 0;
  try {
    for await (const entry of await opendir(folder)) {
      // Only what a run wrote: what a person put there is theirs.
      const ranAtMs = entry.isFile() ? runInstantMs(entry.name) : null;
      if (ranAtMs === null || ranAtMs >= olderThanMs) continue;
      await rm(join(folder, entry.name), { force: true });
      deleted += 1;
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  return deleted;
}

/** When the run arrived that a file is named after. An archived file keeps the time of its last change, which may be long ago. */
function runInstantMs(name: string): number | null {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]{6}(?:__|(?:\.audit)?\.json$)/.exec(name);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second] = match;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}
