/**
 * Waits until files are at rest, so that an export that is still being written is not taken: two looks, one second apart,
 * find the same (`src/sources/folder-entries.ts`).
 */
import type { SeenFile } from '#src/ledger/takes.ts';
import { limitsOf, type TakeParts } from './parts.ts';
import { isSeen, seeFile } from './seen-files.ts';

export interface RestingFiles {
  /** At rest, in the order given, up to the first that is not. Those that have gone are left out. */
  readonly resting: readonly SeenFile[];
  readonly moving: boolean;
}

/** Ends when all are at rest, or after `restWaitMaxMs`. Rejects when the signal fires. */
export async function restFiles(
  parts: TakeParts,
  files: readonly SeenFile[],
  signal: AbortSignal,
): Promise<RestingFiles> {
  const { restMs, restWaitMaxMs } = limitsOf(parts);
  let last: readonly SeenFile[] = files;
  let resting: readonly SeenFile[] = [];
  for (let waitedMs = 0; waitedMs < restWaitMaxMs && resting.length < last.length; waitedMs += restMs) {
    await parts.clock.sleep(restMs, signal);
    const now: SeenFile[] = [];
    for (const file of last) {
      const found = await seeFile(file.path);
      if (isSeen(found)) now.push(found);
    }
    const before = new Map(last.map(({ path, fingerprint }) => [path, fingerprint]));
    const firstMoving = now.findIndex(({ path, fingerprint }) => before.get(path) !== fingerprint);
    resting = firstMoving < 0 ? now : now.slice(0, firstMoving);
    last = now;
  }
  return { resting, moving: resting.length < last.length };
}
