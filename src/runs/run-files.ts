/** Names of runs: the instant they arrived, in UTC, and a little chance. They sort by time and are safe in file names. */
import { randomBytes } from 'node:crypto';
import { opendir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { archiveFolders } from '#src/config/data-folders.ts';
import { feedNameProblem } from '#src/config/feed-schema.ts';
import { emptyIfMissing } from '#src/errors.ts';
import type { RunParts } from './parts.ts';

export function newRunId(nowMs: number): string {
  const instant = new Date(nowMs)
    .toISOString()
    .replaceAll(/[-:]/g, '')
    .replace(/\.\d+Z$/, 'Z');
  return `${instant}-${randomBytes(3).toString('hex')}`;
}

/** Whether a name in the folder of claimed files begins with a run's id. */
export function runIdOf(fileName: string): { readonly runId: string; readonly name: string } | null {
  const match = /^(\d{8}T\d{6}Z-[0-9a-f]{6})__(.+)$/s.exec(fileName);
  return match?.[1] === undefined || match[2] === undefined ? null : { runId: match[1], name: match[2] };
}

// Where files lie that were claimed: `<claimed>/<run>__<name>` for `main`, `<claimed>/<feed>/<run>__<name>` for a named feed.
// The place alone tells the feed, so that it is known also where the process died before the run was entered.

/** Of files from folders that cannot be a feed. No feed can be called so. */
export const refusedFolder = '_refused';

/** `folder` is that of the feed in the import folder; null is the import folder itself. */
export function claimedFolderOf(claimed: string, folder: string | null): string {
  if (folder === null) return claimed;
  return join(claimed, feedNameProblem(folder) === null ? folder : refusedFolder);
}

export interface ClaimedFile {
  readonly runId: string;
  /** That of its feed, or `_refused`; null is that of `main`. */
  readonly folder: string | null;
  readonly name: string;
  readonly path: string;
}

/** All files that a run has claimed, entered or not. None where nothing was ever claimed. */
export async function listClaimed(claimed: string): Promise<readonly ClaimedFile[]> {
  const files: ClaimedFile[] = [];
  const list = async (path: string, folder: string | null): Promise<readonly string[]> => {
    const entries = await readdir(path, { withFileTypes: true }).catch(emptyIfMissing);
    for (const entry of entries) {
      const named = entry.isFile() ? runIdOf(entry.name) : null;
      if (named !== null) files.push({ ...named, folder, path: join(path, entry.name) });
    }
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  };
  for (const folder of await list(claimed, null)) await list(join(claimed, folder), folder);
  return files.toSorted(byArrival);
}

const secondLength = '20261121T140000Z'.length;

/** In the order they were claimed: a run's id tells the second, and files of one look were taken by name. */
function byArrival(left: ClaimedFile, right: ClaimedFile): number {
  const [first, second] = [left, right].map(({ runId, name }) => `${runId.slice(0, secondLength)} ${name}`);
  return (first ?? '') < (second ?? '') ? -1 : 1;
}

/**
 * Files with people's data are kept for a time and then deleted: archives, fix-files, reports (`rules.md`, "Secrets and
 * personal data"). What the ledger counted stays.
 */
type ExpireParts = Pick<RunParts, 'clock' | 'log' | 'folders'>;

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
