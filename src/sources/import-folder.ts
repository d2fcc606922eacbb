/**
 * The import folder, or a feed's folder in it: notices files at rest and hands each over once, those of one look in the
 * order of their names.
 *
 * Terms: a *sweep* looks once at every entry of the folder (not below it). A file is *at rest* when two looks, one
 * second apart or more, found the same size, mtime and inode. chokidar only wakes the sweep up early: where it is
 * blind (network shares, lost events), the interval finds the file all the same.
 *
 * Invariant: one sweep at a time; a file is handed over again only when it changed or its hand-over failed, and then
 * with growing pauses; no link is followed and nothing blocks; 100,000 files need no more handles than one.
 */
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { watch } from 'chokidar';
import type { Clock } from '#src/clock.ts';
import { messageOf, systemCodeOf } from '#src/errors.ts';
import { fileTag, type Logger } from '#src/log.ts';
import { classifyFileName } from '#src/sources/file-format.ts';
import { createKnownFiles, type KnownFile } from '#src/sources/known-files.ts';
import { type FolderEntry, listFolder } from '#src/sources/list-folder.ts';
import { safeFileName } from '#src/sources/safe-file-name.ts';
import { type LookAtFile, lookAtFile, restMs } from '#src/sources/stability.ts';

export interface RestingFile {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
}

/** A file at rest whose name is not one of ours. */
export interface RefusedFile extends RestingFile {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export interface ImportFolderOptions {
  readonly folder: string;
  /** Where claimed files lie: never looked into, even where it lies inside the import folder. */
  readonly claimedFolder: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Takes the file, normally by `claimFile`. What it throws is logged, and it is asked again later. */
  readonly onFile: (file: RestingFile) => Promise<void>;
  /** Takes a file that cannot be read at all, normally to `_failed`. Without it the file stays in place. */
  readonly onRefused?: (file: RefusedFile) => Promise<void>;
  /** Told after each whole sweep which folders lie in it, by name, in order. Without it they are left alone. */
  readonly onFolders?: (names: readonly string[]) => void;
  /** A person may take it away at any time: that it is gone is no trouble. */
  readonly mayVanish?: boolean;
  /** Between two sweeps when nothing happens. */
  readonly intervalMs: number;
  readonly look?: LookAtFile;
}

export interface ImportFolder {
  /** Looks at the folder now. Resolves when every file found at rest has been handed over. */
  sweep(): Promise<void>;
  /** Waits for a sweep at work. */
  close(): Promise<void>;
}

/** Starts at once. Sweeps that fail as a whole (folder gone, disk away) are logged and tried again. */
export function watchImportFolder(options: ImportFolderOptions): ImportFolder {
  const { folder, clock, log, intervalMs } = options;
  const stop = new AbortController();
  const sweeper = createSweeper(options, stop.signal);
  let queue: Promise<unknown> = Promise.resolve();
  const sweep = (): Promise<void> => {
    const next = queue.then(() => sweeper.sweep());
    // Whoever asked for this sweep gets its error; the next one only waits for its end.
    queue = next.catch(() => {});
    return next;
  };

  let wake: () => void = () => {};
  // All entries are ignored, so that only the folder itself is watched: one handle, however many files lie in it.
  const watcher = watch(folder, {
    depth: 0,
    ignoreInitial: true,
    followSymlinks: false,
    ignored: (path) => path !== folder,
  });
  watcher.on('raw', () => wake());
  watcher.on('error', (error) => log.warn({ reason: messageOf(error) }, 'import folder is not watched, only swept'));

  const sleep = async (ms: number, mayWake: boolean): Promise<void> => {
    const early = new AbortController();
    const either = AbortSignal.any([early.signal, stop.signal]);
    if (mayWake) wake = () => early.abort();
    // The one rejection is the abort, which wakes the loop or ends it: the loop looks which.
    await clock.sleep(ms, either).catch(() => {});
    wake = () => {};
  };

  const loop = async (): Promise<void> => {
    // Ends when `close` is called.
    while (!stop.signal.aborted) {
      await sweep().catch((error: unknown) => {
        if (options.mayVanish === true && systemCodeOf(error) === 'ENOENT') return;
        log.warn({ reason: messageOf(error) }, 'import folder cannot be read');
      });
      // A little more than the rest, since timers may fire early.
      if (sweeper.isWaiting()) await sleep(restMs + 50, false);
      else await sleep(intervalMs, true);
    }
  };
  const running = loop();

  return {
    sweep,
    close: async () => {
      stop.abort();
      await watcher.close();
      await running;
      await queue;
    },
  };
}

/** A file found at rest that waits for its turn. */
interface Resting {
  readonly entry: FolderEntry;
  readonly file: KnownFile;
  readonly seenAtMs: number;
  readonly found: RestingFile;
}

/** A folder may end in `.tmp` and be meant: its name is told by whoever watches folders. */
function isIgnored({ name, isFolder }: FolderEntry): boolean {
  return classifyFileName(name).kind === 'ignore' && !(isFolder && /^[^._]/.test(name));
}

interface Sweeper {
  sweep(): Promise<void>;
  /** Whether the last sweep saw files that may be at rest a second later. */
  isWaiting(): boolean;
}

function createSweeper(options: ImportFolderOptions, stop: AbortSignal): Sweeper {
  const { folder, clock, log } = options;
  const look = options.look ?? lookAtFile;
  const known = createKnownFiles();
  let waiting = false;
  let resting: Resting[] = [];
  let folders: string[] = [];

  const visit = async (entry: FolderEntry): Promise<void> => {
    const path = join(folder, entry.name);
    if (isIgnored(entry) || path === options.claimedFolder) return;
    const file = known.seen(entry.id);
    if (clock.monotonicMs() < file.retryAtMs) return;
    const found = await look(entry.path);
    switch (found.kind) {
      case 'gone':
        return;
      case 'folder':
        if (options.onFolders !== undefined && entry.isUtf8) return void folders.push(entry.name);
        return once(file, 'folder', () =>
          log.warn({ file: fileTag(entry.name) }, 'subfolder left alone: files in it are not taken'),
        );
      case 'special':
        return once(file, found.what, () => {
          log.warn({ file: fileTag(entry.name), what: found.what }, 'not a regular file, left in place');
        });
      case 'unreadable':
        known.backOff(file, clock.monotonicMs());
        log.warn(
          { file: fileTag(entry.name), reason: found.reason, retryMs: file.pauseMs },
          'file cannot be read, left in place',
        );
        return;
      case 'file':
        if (!known.isAtRest(file, found.fingerprint, clock.monotonicMs())) {
          waiting ||= file.state === 'moving';
          return;
        }
        resting.push({
          entry,
          file,
          seenAtMs: clock.monotonicMs(),
          found: { path, name: entry.name, bytes: found.bytes },
        });
    }
  };

  /** Before it is its turn, a file may have waited for many others. */
  const isStillAtRest = async ({ entry, file, seenAtMs }: Resting): Promise<boolean> => {
    if (clock.monotonicMs() - seenAtMs < restMs) return true;
    const now = await look(entry.path);
    return now.kind === 'file' && known.isAtRest(file, now.fingerprint, clock.monotonicMs());
  };

  const handOver = async (entry: FolderEntry, file: KnownFile, resting: RestingFile): Promise<void> => {
    const named = classifyFileName(resting.name);
    try {
      if (!entry.isUtf8) {
        await rename(entry.path, join(folder, safeFileName(resting.name)));
        log.warn({ file: fileTag(safeFileName(resting.name)) }, 'file name was not UTF-8, renamed');
        waiting = true;
      } else if (named.kind === 'take') await options.onFile(resting);
      else if (named.kind === 'refuse') {
        log.warn({ file: fileTag(resting.name), code: named.code }, 'file refused');
        await options.onRefused?.({ ...resting, code: named.code, message: named.message, hint: named.hint });
      }
      known.handedOver(file);
    } catch (error) {
      known.backOff(file, clock.monotonicMs());
      log.warn(
        { file: fileTag(resting.name), reason: messageOf(error), retryMs: file.pauseMs },
        'file could not be taken',
      );
    }
  };

  return {
    sweep: async () => {
      waiting = false;
      [resting, folders] = [[], []];
      known.beginSweep();
      for await (const slice of listFolder(folder)) {
        for (const entry of slice) {
          if (stop.aborted) return;
          await visit(entry);
        }
      }
      known.forgetUnseen();
      // Names in a folder differ: what has the same name comes in another look.
      for (const one of resting.toSorted((left, right) => (left.found.name < right.found.name ? -1 : 1))) {
        if (stop.aborted) return;
        if (await isStillAtRest(one)) await handOver(one.entry, one.file, one.found);
        else waiting = true;
      }
      options.onFolders?.(folders.toSorted());
    },
    isWaiting: () => waiting,
  };
}

/** Says a thing about an entry once, until something else is the matter with it. */
function once(file: KnownFile, what: string, say: () => void): void {
  if (file.told !== what) say();
  file.told = what;
}
