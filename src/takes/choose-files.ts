/**
 * Which files of a glob are taken. Pure.
 *
 * - `full`: each file holds everything, so only the newest counts, and nothing older than what was taken last is ever
 *   taken: it would bring the past back.
 * - `delta`: each file holds a part, so all count, oldest first.
 */
import type { SeenFile } from '#src/ledger/takes.ts';
import { compareAge } from './seen-files.ts';

export interface ChosenFiles {
  /** In the order in which they are to be taken. */
  readonly take: readonly SeenFile[];
  /** Never to be taken. */
  readonly passOver: readonly SeenFile[];
  /** Left for the next time. */
  readonly waitingCount: number;
}

export interface Choice {
  readonly kind: 'full' | 'delta';
  /** Files that were neither taken nor passed over as they are. */
  readonly files: readonly SeenFile[];
  /** What the feed took last, by modification time; null where it took none. */
  readonly newestTaken: Pick<SeenFile, 'modifiedAtMs' | 'path'> | null;
  readonly filesMax: number;
}

export function chooseFiles({ kind, files, newestTaken, filesMax }: Choice): ChosenFiles {
  const inOrder = files.toSorted(compareAge);
  if (kind === 'delta') {
    const take = inOrder.slice(0, filesMax);
    return { take, passOver: [], waitingCount: inOrder.length - take.length };
  }
  const newest = inOrder.at(-1);
  if (newest === undefined) return { take: [], passOver: [], waitingCount: 0 };
  if (newestTaken !== null && compareAge(newest, newestTaken) <= 0) {
    return { take: [], passOver: inOrder, waitingCount: 0 };
  }
  return { take: [newest], passOver: inOrder.slice(0, -1), waitingCount: 0 };
}
