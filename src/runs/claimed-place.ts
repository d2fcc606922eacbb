/**
 * Where files lie that were claimed: `<claimed>/<run>__<name>` for `main`, `<claimed>/<feed>/<run>__<name>` for a named feed.
 * The place alone tells the feed, so that it is known also where the process died before the run was entered.
 */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { feedNameProblem } from '#src/config/feed-name.ts';
import { emptyIfMissing } from '#src/errors.ts';
import { runIdOf } from './run-id.ts';

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
