/**
 * Files that grow after they were taken. A program that pauses while it writes looks as if it had finished (`docs/contract.md`, "Data
 * folder"), and what it writes afterwards goes into the file: wherever that was moved to, or where a feed has copied it from (`take`). So each
 * file is looked at for some minutes more. One to which rows were added, and that is at rest again, is read whole, by a run of its own behind
 * the first one.
 *
 * Invariants: nothing is read again behind a newer file of the feed, whose values it would replace, nor what was changed in another way, as by
 * a person. What was taken is known in this process alone: nothing is watched across a restart, and what a path or a glob names is taken when its
 * feed is due next.
 */
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { messageOf, systemCodeOf } from '#src/errors.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { hashStart } from '#src/sources/check-out.ts';
import { type DroppedFile, type SubmitParts, takeGrown } from './enter-run.ts';
import { doneFileOf, failedFileOf } from './run-files.ts';

export interface GrownFiles {
  /** A file of an import folder was taken: it is watched from now on. @throws the system's errors. */
  taken(dropped: DroppedFile, run: RunRecord): Promise<void>;
  /** The same for a file from elsewhere; it takes the place of one of that id. @throws what its `find` throws. */
  watch(file: FileToWatch, run: RunRecord): Promise<void>;
  /** Looks once at each of the files, until the signal fires. @returns how many were taken again. */
  look(signal?: AbortSignal): Promise<number>;
}

/** A file that was taken, and how it is found and taken again. */
export interface FileToWatch {
  readonly id: string;
  /** Null where it is not there now. */
  find(): Promise<FoundFile | null>;
  /** Whether it may be read again now; if not, it is looked at again. Absent: always. */
  mayTakeAgain?(): Promise<boolean>;
  /** Reads it once more, whole, by a run of its own. Null where it changed meanwhile: it is looked at again. */
  takeAgain(found: FoundFile): Promise<RunRecord | null>;
  /** What brings in one that is not read again, as the end of a log line. */
  readonly wayOut: string;
}

export interface FoundFile {
  readonly path: string;
  readonly stats: Stats;
}

type RunOfFile = Pick<RunRecord, 'id' | 'fileName' | 'claimedPath' | 'importFolder'>;

interface WatchedFile extends FileToWatch {
  readonly feed: string;
  readonly inode: number;
  /** The run that read the file last, and what it read. */
  read: Pick<RunRecord, 'id' | 'bytes' | 'sha256'>;
  /** At the look before. */
  seenBytes: number;
  untilMs: number;
  timesRead: number;
}

/** How long a file is watched after it was taken, and after it has grown. */
const watchedMs = 300_000;
/** The ones taken last. */
const watchedMax = 1_000;
/** One that never ends, such as a log, is read no more than this. */
const timesReadMax = 4;

export function createGrownFiles(parts: SubmitParts): GrownFiles {
  const { clock, log, ledger } = parts;
  const watched = new Map<string, WatchedFile>();

  const giveUp = ({ id, feed, read, seenBytes, wayOut }: WatchedFile, why: string): false => {
    watched.delete(id);
    const facts = { run: read.id, feed, bytes: seenBytes, readBytes: read.bytes };
    log.warn(facts, `the file has grown since it was taken, and is not read again: ${why}; ${wayOut}`);
    return false;
  };
  const lookAt = async (file: WatchedFile, signal: AbortSignal | undefined): Promise<boolean> => {
    const { feed, read } = file;
    const found = await file.find();
    // It was taken meanwhile by another way, and is watched as it was then.
    if (watched.get(file.id) !== file) return false;
    const isOther = found !== null && found.stats.ino !== file.inode;
    // One that is not found is being moved: it is there at the next look. Another one in its place was made by a person.
    if (isOther || clock.monotonicMs() > file.untilMs) watched.delete(file.id);
    if (found === null || isOther || found.stats.size <= read.bytes) return false;
    const bytes = found.stats.size;
    if (bytes !== file.seenBytes) {
      file.seenBytes = bytes;
      file.untilMs = clock.monotonicMs() + watchedMs;
      watched.set(file.id, file);
      return false;
    }
    const [newest] = await ledger.runs.list({ feed, limit: 1 });
    if (newest?.id !== read.id) return giveUp(file, 'newer files of the feed have followed');
    if (newest.state === 'cancelling' || newest.state === 'cancelled') return giveUp(file, 'its run was cancelled');
    if (file.timesRead >= timesReadMax) return giveUp(file, `it was read ${timesReadMax} times`);
    if ((await file.mayTakeAgain?.()) === false)
      return clock.monotonicMs() > file.untilMs && giveUp(file, 'its schedule is paused, or is taking');
    if ((await hashStart(found.path, read.bytes)) !== read.sha256) return giveUp(file, 'it was changed, too');
    if (signal?.aborted) return false;
    const again = await file.takeAgain(found);
    if (again === null) return false;
    log.warn(
      { run: again.id, feed, before: read.id, bytes, readBytes: read.bytes },
      'the file has grown since it was taken: it is read again, whole',
    );
    file.read = { id: again.id, bytes: again.bytes, sha256: again.sha256 };
    file.timesRead += 1;
    return true;
  };
  const watch: GrownFiles['watch'] = async (file, { id, feed, bytes, sha256 }) => {
    const found = await file.find();
    if (found === null) return;
    const [inode, untilMs] = [found.stats.ino, clock.monotonicMs() + watchedMs];
    // The newest last: the first ones go where there are too many.
    watched.delete(file.id);
    watched.set(file.id, {
      ...{ ...file, feed, inode, untilMs, timesRead: 1 },
      ...{ read: { id, bytes, sha256 }, seenBytes: bytes },
    });
    const [oldest] = watched.keys();
    if (watched.size > watchedMax && oldest !== undefined) watched.delete(oldest);
  };

  return {
    watch,
    taken: (dropped, run) => {
      const { id, fileName, claimedPath, importFolder } = run;
      const place = { id, fileName, claimedPath, importFolder };
      const takeAgain: FileToWatch['takeAgain'] = ({ path }) => takeGrown(parts, dropped, path);
      return watch({ id, find: () => find(place), takeAgain, wayOut: 'drop it again if it is to count' }, run);
    },
    look: async (signal) => {
      let count = 0;
      for (const file of [...watched.values()]) {
        if (signal?.aborted) break;
        try {
          if (await lookAt(file, signal)) count += 1;
        } catch (error) {
          // It must not delay the others, and is tried again until its time is over.
          const isOver = clock.monotonicMs() > file.untilMs;
          if (isOver && file.seenBytes > file.read.bytes) giveUp(file, messageOf(error));
          else if (isOver) watched.delete(file.id);
          else log.debug({ run: file.read.id, reason: messageOf(error) }, 'file that has grown not read again');
        }
      }
      return count;
    },
  };
}

/** Where a file of an import folder is: checked out, or archived. */
async function find(run: RunOfFile): Promise<FoundFile | null> {
  const places = [run.claimedPath, doneFileOf(run), failedFileOf(run).path];
  for (const path of places) {
    const found = await findFile(path);
    if (found !== null) return found;
  }
  return null;
}

/** A regular file, which is no link; null where there is none. @throws the system's errors. */
export async function findFile(path: string): Promise<FoundFile | null> {
  const stats = await lstat(path).catch((error: unknown) => {
    if (systemCodeOf(error) === 'ENOENT') return null;
    throw error;
  });
  return stats?.isFile() === true ? { path, stats } : null;
}
