/**
 * What a killed process left in the private folder: parts of downloads, and copies that no run took over. Nothing else
 * lies there, so what nobody has written to for an hour is a stray. Looked for at each take, the first after a start
 * included; what was lost with it is taken again.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TakeParts } from './parts.ts';

const strayAfterMs = 3_600_000;

/** @returns how many were removed. */
export async function removeStrayDownloads({
  folders,
  clock,
  log,
}: Pick<TakeParts, 'folders' | 'clock' | 'log'>): Promise<number> {
  let removed = 0;
  // Without the folder nothing was ever taken.
  for (const name of await readdir(folders.downloads).catch(() => [])) {
    const path = join(folders.downloads, name);
    const stats = await stat(path).catch(() => null);
    if (stats?.isFile() !== true || stats.ctimeMs >= clock.nowMs() - strayAfterMs) continue;
    await rm(path, { force: true });
    removed += 1;
  }
  if (removed > 0) log.info({ files: removed }, 'unfinished downloads removed');
  return removed;
}
