/**
 * Watches the import folder, or a feed's folder in it, and hands over each file once it is at rest; the files of one scan
 * in the order of their names.
 *
 * Terms: a *scan* looks once at every entry of the folder (not below it). A file is *at rest* when two looks, one second
 * apart or more, found the same size, mtime and inode (docs/contract.md, "Data folder"). chokidar only starts the next scan
 * early: where it sees nothing (network shares, lost events), the interval finds the file all the same.
 *
 * Invariants: one scan at a time; a file is handed over again only after it changed or its hand-over failed, and then with
 * growing pauses; no link is followed and nothing blocks; 100,000 files need no more handles than one.
 */
import { join } from 'node:path';
import { watch } from 'chokidar';
import type { Clock } from '#src/clock.ts';
import { messageOf, systemCodeOf } from '#src/errors.ts';
import { fileTag, type Logger } from '#src/log.ts';
import { classifyFileName } from './file-name.ts';
import {
  type EntryPath,
  type FolderEntry,
  isIgnored,
  type LookAtFile,
  listFolder,
  lookAtFile,
} from './folder-entries.ts';

/** How long a file must stay the same. */
const restMs = 1_000;
const pauseMinMs = 2_000;
const pauseMaxMs = 300_000;

interface RestingFile {
  readonly path: EntryPath;
  /** As text, for people: two files may have the same. */
  readonly name: string;
  readonly bytes: number;
}

/** A file at rest whose name has an ending that is not read. */
export interface RefusedFile extends RestingFile {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

interface ImportFolderOptions {
  readonly folder: string;
  /** Never looked into, even where it lies inside the import folder. */
  readonly checkedOutFolder: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Normally checks the file out. What it throws is logged, and the file is handed over again later. */
  readonly onFile: (file: RestingFile) => Promise<void>;
  /** Normally checks the file out as well; its run then fails with the reason. Without it the file stays in place. */
  readonly onRefused?: (file: RefusedFile) => Promise<void>;
  /** Gets the names of the folders inside, in order, after each whole scan. Without it they are left alone. */
  readonly onFolders?: (names: readonly string[]) => void;
  /** Users may remove the folder at any time: a missing folder is not logged. */
  readonly mayVanish?: boolean;
  /** Between two scans when nothing happens. */
  readonly intervalMs: number;
  readonly look?: LookAtFile;
}

export interface ImportFolder {
  /** Scans the folder now. Resolves when every file found at rest has been handed over. @throws the system's errors. */
  scan(): Promise<void>;
  /** Waits for a scan in progress. */
  close(): Promise<void>;
}

/** Starts at once. A scan that fails as a whole (folder gone, disk away) is logged, and the next one tries again. */
export function watchImportFolder(options: ImportFolderOptions): ImportFolder {
  const { folder, clock, log, intervalMs } = options;
  const stop = new AbortController();
  const scanner = createScanner(options, stop.signal);
  let queue: Promise<unknown> = Promise.resolve();
  const scan = (): Promise<void> => {
    const next = queue.then(() => scanner.scan());
    // The caller of this scan gets its error; the next scan only waits for its end.
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
  watcher.on('error', (error) =>
    log.warn({ reason: messageOf(error) }, 'import folder is not watched, only scanned at intervals'),
  );

  const sleep = async (ms: number, mayWake: boolean): Promise<void> => {
    const early = new AbortController();
    const either = AbortSignal.any([early.signal, stop.signal]);
    if (mayWake) wake = () => early.abort();
    // The only rejection is the abort, which wakes the loop or ends it; the loop checks which.
    await clock.sleep(ms, either).catch(() => {});
    wake = () => {};
  };

  const loop = async (): Promise<void> => {
    // Ends when `close` is called.
    while (!stop.signal.aborted) {
      await scan().catch((error: unknown) => {
        if (options.mayVanish === true && systemCodeOf(error) === 'ENOENT') return;
        log.warn({ reason: messageOf(error) }, 'import folder cannot be read');
      });
      // A little more than the rest, since timers may fire early.
      if (scanner.isWaiting()) await sleep(restMs + 50, false);
      else await sleep(intervalMs, true);
    }
  };
  const running = loop();

  return {
    scan,
    close: async () => {
      stop.abort();
      await watcher.close();
      await running;
      await queue;
    },
  };
}

/** A file found at rest that waits for its turn. */
interface FoundAtRest {
  readonly entry: FolderEntry;
  readonly known: KnownFile;
  readonly seenAtMs: number;
  readonly file: RestingFile;
}

interface Scanner {
  scan(): Promise<void>;
  /** Whether the last scan saw files that may be at rest a second later. */
  isWaiting(): boolean;
}

function createScanner(options: ImportFolderOptions, stop: AbortSignal): Scanner {
  const { folder, clock, log } = options;
  const look = options.look ?? lookAtFile;
  const memory = createKnownFiles();
  let waiting = false;
  let resting: FoundAtRest[] = [];
  let folders: string[] = [];

  const visit = async (entry: FolderEntry): Promise<void> => {
    if (isIgnored(entry) || join(folder, entry.name) === options.checkedOutFolder) return;
    const known = memory.seen(entry.id);
    if (clock.monotonicMs() < known.retryAtMs) return;
    const found = await look(entry.path);
    switch (found.kind) {
      case 'gone':
        return;
      case 'folder':
        if (options.onFolders !== undefined && entry.isUtf8) return void folders.push(entry.name);
        return logOnce(known, 'folder', () =>
          log.warn({ file: fileTag(entry.name) }, 'subfolder left alone: files in it are not taken'),
        );
      case 'special':
        return logOnce(known, found.what, () =>
          log.warn({ file: fileTag(entry.name), what: found.what }, 'not a regular file, left in place'),
        );
      case 'unreadable':
        memory.backOff(known, clock.monotonicMs());
        log.warn(
          { file: fileTag(entry.name), reason: found.reason, retryMs: known.pauseMs },
          'file cannot be read, left in place',
        );
        return;
      case 'file':
        if (!memory.isAtRest(known, found.fingerprint, clock.monotonicMs())) {
          waiting ||= known.state === 'moving';
          return;
        }
        resting.push({
          entry,
          known,
          seenAtMs: clock.monotonicMs(),
          file: { path: entry.path, name: entry.name, bytes: found.bytes },
        });
    }
  };

  /** A file may have waited for many others before its turn, and have changed meanwhile. */
  const isStillAtRest = async ({ entry, known, seenAtMs }: FoundAtRest): Promise<boolean> => {
    if (clock.monotonicMs() - seenAtMs < restMs) return true;
    const now = await look(entry.path);
    return now.kind === 'file' && memory.isAtRest(known, now.fingerprint, clock.monotonicMs());
  };

  const handOver = async ({ known, file }: FoundAtRest): Promise<void> => {
    const named = classifyFileName(file.name);
    try {
      if (named.kind === 'take') await options.onFile(file);
      else if (named.kind === 'refuse') {
        log.warn({ file: fileTag(file.name), code: named.code }, 'file refused');
        await options.onRefused?.({ ...file, code: named.code, message: named.message, hint: named.hint });
      }
      memory.handedOver(known);
    } catch (error) {
      memory.backOff(known, clock.monotonicMs());
      log.warn(
        { file: fileTag(file.name), reason: messageOf(error), retryMs: known.pauseMs },
        'file could not be taken',
      );
    }
  };

  return {
    scan: async () => {
      waiting = false;
      [resting, folders] = [[], []];
      memory.beginScan();
      for await (const slice of listFolder(folder)) {
        for (const entry of slice) {
          if (stop.aborted) return;
          await visit(entry);
        }
      }
      memory.forgetUnseen();
      for (const one of resting.toSorted((left, right) => (left.file.name < right.file.name ? -1 : 1))) {
        if (stop.aborted) return;
        if (await isStillAtRest(one)) await handOver(one);
        else waiting = true;
      }
      options.onFolders?.(folders.toSorted());
    },
    isWaiting: () => waiting,
  };
}

/** Logs a finding about an entry once, until another one takes its place. */
function logOnce(known: KnownFile, finding: string, log: () => void): void {
  if (known.lastFinding !== finding) log();
  known.lastFinding = finding;
}

interface KnownFile {
  /** `moving` until it was at rest, then `handed` over; it moves again when it changes. */
  state: 'moving' | 'handed';
  fingerprint: string;
  /** Monotonic: since when the fingerprint is the same. */
  sinceMs: number;
  /** Monotonic: the entry is left alone until then. */
  retryAtMs: number;
  pauseMs: number;
  lastFinding: string;
  /** The number of the scan that saw it last. */
  scan: number;
}

/** What is remembered of each entry between scans: a few words per file, forgotten when the file is gone. */
interface KnownFiles {
  beginScan(): void;
  /** The entry's memory, made at first sight. */
  seen(id: string): KnownFile;
  /** Notes this look; true where the file is at rest and was not handed over in this state. */
  isAtRest(file: KnownFile, fingerprint: string, nowMs: number): boolean;
  handedOver(file: KnownFile): void;
  /** Leaves the entry alone for a while: 2 s, then twice as long each time, up to 5 minutes. */
  backOff(file: KnownFile, nowMs: number): void;
  forgetUnseen(): void;
}

function createKnownFiles(): KnownFiles {
  const files = new Map<string, KnownFile>();
  let scan = 0;
  return {
    beginScan: () => {
      scan++;
    },
    seen: (id) => {
      const file = files.get(id) ?? newKnownFile();
      file.scan = scan;
      files.set(id, file);
      return file;
    },
    isAtRest: (file, fingerprint, nowMs) => {
      if (file.fingerprint !== fingerprint) {
        Object.assign(file, { state: 'moving', fingerprint, sinceMs: nowMs });
        return false;
      }
      return file.state === 'moving' && nowMs - file.sinceMs >= restMs;
    },
    handedOver: (file) => {
      file.state = 'handed';
      file.pauseMs = 0;
    },
    backOff: (file, nowMs) => {
      file.pauseMs = Math.min(pauseMaxMs, Math.max(pauseMinMs, file.pauseMs * 2));
      file.retryAtMs = nowMs + file.pauseMs;
    },
    forgetUnseen: () => {
      for (const [id, file] of files) if (file.scan !== scan) files.delete(id);
    },
  };
}

function newKnownFile(): KnownFile {
  return { state: 'moving', fingerprint: '', sinceMs: 0, retryAtMs: 0, pauseMs: 0, lastFinding: '', scan: 0 };
}
