/**
 * Files that grow after they were taken. A program that pauses while it writes looks as if it had finished (`docs/contract.md`, "Data
 * folder"), and what it writes afterwards goes into the file wherever that was moved to. So each file is looked at for some minutes more. One
 * that has grown, and is at rest again, is read whole, by a run of its own behind the first one.
 *
 * What was taken is known in this process alone: nothing is watched across a restart.
 */
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { archiveFolders } from '#src/config/data-folders.ts';
import { systemCodeOf } from '#src/errors.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { pathOfRun } from '#src/sources/check-out.ts';
import { type DroppedFile, type SubmitParts, takeGrown } from './enter-run.ts';

export interface GrownFiles {
  /** A file of an import folder was taken: it is watched from now on. */
  taken(dropped: DroppedFile, run: RunRecord): Promise<void>;
  /** Looks once at each of the files. @returns how many were taken again. @throws what `takeGrown` throws, of the first one: the next look tries it again. */
  look(): Promise<number>;
}

interface WatchedFile {
  readonly dropped: DroppedFile;
  readonly run: Pick<RunRecord, 'id' | 'feed' | 'fileName' | 'claimedPath' | 'importFolder'>;
  readonly inode: number;
  /** How much of it was read. */
  readBytes: number;
  /** At the look before. */
  seenBytes: number;
  untilMs: number;
}

/** How long a file is watched after it was taken, and after it has grown. */
const watchedMs = 300_000;
/** The ones taken last. */
const watchedMax = 1_000;

export function createGrownFiles(parts: SubmitParts): GrownFiles {
  const { clock, log } = parts;
  const watched = new Map<string, WatchedFile>();

  const lookAt = async (file: WatchedFile): Promise<boolean> => {
    const found = await find(file.run);
    const isOver = clock.monotonicMs() > file.untilMs;
    if (found === null || found.stats.ino !== file.inode || found.stats.size <= file.readBytes) {
      // One that is not found is being moved: it is there at the next look. Another one in its place was made by a person.
      if (isOver || (found !== null && found.stats.ino !== file.inode)) watched.delete(file.run.id);
      return false;
    }
    const bytes = found.stats.size;
    if (bytes !== file.seenBytes) {
      file.seenBytes = bytes;
      file.untilMs = clock.monotonicMs() + watchedMs;
      return false;
    }
    const again = await takeGrown(parts, file.dropped, found.path);
    log.warn(
      { run: again.id, feed: again.feed, before: file.run.id, bytes, readBytes: file.readBytes },
      'the file has grown since it was taken: it is read again, whole',
    );
    file.readBytes = bytes;
    return true;
  };

  return {
    taken: async (dropped, run) => {
      const found = await find(run);
      if (found === null) return;
      const untilMs = clock.monotonicMs() + watchedMs;
      watched.set(run.id, {
        dropped,
        run,
        inode: found.stats.ino,
        readBytes: run.bytes,
        seenBytes: run.bytes,
        untilMs,
      });
      const [oldest] = watched.keys();
      if (watched.size > watchedMax && oldest !== undefined) watched.delete(oldest);
    },
    look: async () => {
      let count = 0;
      for (const file of [...watched.values()]) if (await lookAt(file)) count += 1;
      return count;
    },
  };
}

/** Where the file is: checked out, or archived. */
async function find(run: WatchedFile['run']): Promise<{ readonly path: string; readonly stats: Stats } | null> {
  const { done, failed } = archiveFolders(run.importFolder);
  const places = [run.claimedPath, ...[done, failed].map((folder) => pathOfRun(folder, run.id, run.fileName))];
  for (const path of places) {
    const stats = await lstat(path).catch((error: unknown) => {
      if (systemCodeOf(error) === 'ENOENT') return null;
      throw error;
    });
    if (stats?.isFile() === true) return { path, stats };
  }
  return null;
}
