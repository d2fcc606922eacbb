/**
 * From a file to a run of its feed, once: a file at rest is copied into a private folder, entered as a run, and noted. The
 * original stays where it is.
 *
 * Content that was taken before is not taken again, with one exception: where its run failed as a whole, as with a broken
 * mapping, nothing of it was written. A schedule leaves it alone, since it would fail each time; if a person asks, it is
 * taken again.
 */
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Clock } from '#src/clock.ts';
import { messageOf, PatchbayError, systemCodeOf } from '#src/errors.ts';
import type { FeedSettings } from '#src/feeds/feeds.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { TickTrigger } from '#src/ledger/schedules.ts';
import type { SeenFile } from '#src/ledger/takes.ts';
import type { Logger } from '#src/log.ts';
import { newestRunOf, type SubmitParts, submitCopy } from '#src/runs/enter-run.ts';
import { removeOld } from '#src/runs/expire-files.ts';
import { type FileToWatch, findFile, type GrownFiles } from '#src/runs/grown-files.ts';
import { newRunId } from '#src/runs/run-files.ts';
import { type CopiedFile, copyIntoFolder, hashFile } from '#src/sources/check-out.ts';
import { type Look, lookAtFile } from '#src/sources/folder-entries.ts';
import { storageError, takeError } from './take-error.ts';

/** What files are entered with. */
export interface EnterParts {
  /** Why the feed is looked at: only for a request is content taken again whose run failed. */
  readonly trigger: TickTrigger;
  readonly ledger: Pick<Ledger, 'takes' | 'runs'>;
  readonly clock: Clock;
  /** The absolute path of a private folder for copies and downloads on their way to a run. Created if it is missing. */
  readonly downloads: string;
  readonly submit: SubmitParts;
  /** Where this process goes on after the take: a file that grows later is taken again. */
  readonly grown?: Pick<GrownFiles, 'watch'>;
}

/** What files of a folder are entered with. */
export interface FileEnterParts extends EnterParts {
  readonly ledger: Pick<Ledger, 'takes' | 'runs' | 'schedules'>;
  readonly log: Logger;
}

type EnteredFile =
  | { readonly kind: 'run'; readonly run: RunRecord }
  /** It was taken before; only its place on the disk has changed. */
  | { readonly kind: 'known' }
  /** It changed or disappeared while it was copied. */
  | { readonly kind: 'moved' }
  /** Nothing of it was copied. The error is `file` `fileTooLarge`. */
  | { readonly kind: 'tooLarge'; readonly error: PatchbayError };

/** @throws PatchbayError `file`: `fileUnreadable`, `diskFull`, `downloadFolderUnusable`; what `submitCopy` throws. */
export async function enterFile(parts: FileEnterParts, feed: FeedSettings, file: SeenFile): Promise<EnteredFile> {
  const entered = await enterSeen(parts, feed, file);
  if (entered.kind !== 'run' || parts.grown === undefined) return entered;
  const { run } = entered;
  // What is added later comes by itself, also where a person asked for the take.
  const due: FileEnterParts = { ...parts, trigger: 'due' };
  const toWatch: FileToWatch = {
    id: `${feed.name}:${file.path}`,
    find: () => findFile(file.path),
    mayTakeAgain: () => mayTake(parts, feed.name),
    takeAgain: async () => {
      const seen = await seeFile(file.path);
      const again = isSeen(seen) ? await enterSeen(due, feed, seen) : null;
      return again?.kind === 'run' ? again.run : null;
    },
    wayOut: 'its feed looks at it when it is due next',
  };
  await parts.grown
    .watch(toWatch, run)
    .catch((error: unknown) => parts.log.debug({ run: run.id, reason: messageOf(error) }, 'file is not watched'));
  return entered;
}

/** Not while a person has paused the schedule of the feed, unless one asked for the take; nor beside its tick: one take at a time for each feed. */
async function mayTake({ ledger: { schedules }, trigger }: FileEnterParts, feed: string): Promise<boolean> {
  const pausedAtMs = (await schedules.get(feed))?.pausedAtMs ?? null;
  if (pausedAtMs !== null && trigger !== 'request') return false;
  return (await schedules.openTicks()).every((tick) => tick.schedule !== feed || tick.state !== 'working');
}

async function enterSeen(parts: EnterParts, feed: FeedSettings, file: SeenFile): Promise<EnteredFile> {
  const { clock, downloads } = parts;
  const knownHash = await hashOfKnown(parts.ledger, feed, file);
  if (knownHash !== null && !(await isTakenAgain(parts, feed, knownHash))) {
    await note(parts, feed, file, knownHash);
    return { kind: 'known' };
  }
  let copy: CopiedFile;
  try {
    copy = await copyIntoFolder(file.path, downloads, newRunId(clock.nowMs()));
  } catch (error) {
    return copyTrouble(error, downloads);
  }
  // The copy must be what was at rest: the note must not be about a later file, or about a link that replaced the file.
  const after = await seeFile(file.path);
  if (!isSeen(after) || after.fingerprint !== file.fingerprint) {
    await rm(copy.path, { force: true });
    return { kind: 'moved' };
  }
  const { path, sha256 } = copy;
  const run = await enterOnce(parts, feed, { path, sha256, fileName: basename(file.path) });
  await note(parts, feed, file, sha256);
  return { kind: 'run', run };
}

export interface TakenFiles {
  readonly runIds: readonly string[];
  readonly moved: boolean;
  /** All that were at rest were taken, and there was at least one. */
  readonly done: boolean;
  /** These were passed over. */
  readonly tooLargeCount: number;
}

/**
 * In order, up to the first that moved: a later file must not be taken before an earlier one. One that is too large is passed over where others
 * are taken, and fails the take where none is.
 */
export async function enterFiles(
  parts: FileEnterParts,
  feed: FeedSettings,
  files: readonly SeenFile[],
  signal: AbortSignal,
): Promise<TakenFiles> {
  const runIds = new Set<string>();
  const tooLarge: SeenFile[] = [];
  let refusal: PatchbayError | null = null;
  for (const file of files) {
    signal.throwIfAborted();
    const entered = await enterFile(parts, feed, file);
    if (entered.kind === 'moved') return { runIds: [...runIds], moved: true, done: false, tooLargeCount: 0 };
    if (entered.kind === 'run') runIds.add(entered.run.id);
    if (entered.kind !== 'tooLarge') continue;
    tooLarge.push(file);
    refusal ??= entered.error;
  }
  if (refusal !== null && runIds.size === 0) throw refusal;
  await passOver(parts, feed, tooLarge);
  return { runIds: [...runIds], moved: false, done: files.length > 0, tooLargeCount: tooLarge.length };
}

/** Notes files as taken that are not. */
export async function passOver(parts: FileEnterParts, feed: FeedSettings, files: readonly SeenFile[]): Promise<void> {
  if (files.length === 0) return;
  await parts.ledger.takes.passOver(feed.name, files, parts.clock.nowMs());
  parts.log.info({ files: files.length }, 'files skipped');
}

/** A disk that is mounted again may number its files differently: size, time and content show that it is the known file. */
async function hashOfKnown(ledger: EnterParts['ledger'], feed: FeedSettings, file: SeenFile): Promise<string | null> {
  const known = await ledger.takes.file(feed.name, file.path);
  if (known === null || !sameButPlace(known.fingerprint, file.fingerprint)) return null;
  // If it cannot be read, copying it reports that.
  const sha256 = await hashFile(file.path).catch(() => null);
  return sha256 === known.sha256 ? sha256 : null;
}

async function note(
  { ledger, clock }: EnterParts,
  feed: FeedSettings,
  { path, fingerprint, modifiedAtMs }: SeenFile,
  sha256: string,
): Promise<void> {
  const takenAtMs = clock.nowMs();
  await ledger.takes.noteFile({
    feed: feed.name,
    path,
    fingerprint,
    modifiedAtMs: Math.min(modifiedAtMs, takenAtMs),
    sha256,
    takenAtMs,
  });
}

function copyTrouble(thrown: unknown, downloads: string): EnteredFile {
  const error = storageError(thrown, downloads);
  const code = error instanceof PatchbayError ? error.code : null;
  if (code === 'fileMissing' || code === 'changedWhileRead' || code === 'notAFile') return { kind: 'moved' };
  if (error instanceof PatchbayError && code === 'fileTooLarge') return { kind: 'tooLarge', error: tooLarge(error) };
  if (code === 'fileUnreadable' || systemCodeOf(error) === 'EIO') throw unreadable(error);
  throw error;
}

function tooLarge(cause: PatchbayError): PatchbayError {
  const message = `a file to take is longer than ${cause.facts.unpackedBytesMax} bytes`;
  return takeError('file', 'fileTooLarge', message, 'Split the export into several files.', cause);
}

function unreadable(cause: unknown): PatchbayError {
  const hint = 'Give the user that Patchbay runs as the right to read it.';
  return takeError('file', 'fileUnreadable', 'a file to take cannot be read', hint, cause);
}

interface PrivateFile {
  /** In the private folder; it is moved away or removed. */
  readonly path: string;
  /** Its name for people. */
  readonly fileName: string;
  readonly sha256: string;
}

/**
 * Enters a file of the private folder as a run; the caller notes then what was taken.
 *
 * Invariant: the beginning is in the ledger before the run is, and is removed by the note that follows the run. So if the
 * process dies between run and note, the same content finds its run when it comes again, even one that has ended since.
 * @throws what `submitCopy` throws; the file is removed then, too.
 */
export async function enterOnce(parts: EnterParts, feed: FeedSettings, file: PrivateFile): Promise<RunRecord> {
  const { takes, runs } = parts.ledger;
  const { path, sha256 } = file;
  try {
    const begun = await takes.begun(feed.name);
    if (begun?.sha256 === sha256) {
      const entered = await newestRunOf(runs, feed.name, sha256);
      if (entered !== null && entered.createdAtMs >= begun.begunAtMs) return entered;
    }
    await takes.begin(feed.name, { sha256, begunAtMs: parts.clock.nowMs() });
    const origin = parts.trigger === 'request' ? 'request' : 'schedule';
    return await submitCopy(parts.submit, { feed, ...file, origin });
  } finally {
    // A run's file has been moved away before.
    await rm(path, { force: true });
  }
}

/** Whether the newest run of that content in this feed failed. */
export async function hasFailed(
  { runs }: Pick<Ledger, 'runs'>,
  { name }: FeedSettings,
  sha256: string,
): Promise<boolean> {
  return (await newestRunOf(runs, name, sha256))?.state === 'failed';
}

async function isTakenAgain({ trigger, ledger }: EnterParts, feed: FeedSettings, sha256: string): Promise<boolean> {
  return trigger === 'request' && (await hasFailed(ledger, feed, sha256));
}

/** How to take the file again, for the message of a tick that took nothing. Begins with a semicolon. */
export function failedNote({ name }: FeedSettings, run: string): string {
  const feed = /^[\w.-]+$/.test(name) ? name : `"${name}"`;
  return `; ${run} failed: take it again with patchbay schedule run ${feed}`;
}

/** Of known files, those whose runs failed and that are newer than every other: taking an older one would restore old values. */
export async function newestFailed(
  ledger: EnterParts['ledger'],
  feed: FeedSettings,
  known: readonly SeenFile[],
): Promise<ReadonlySet<string>> {
  const failed = new Set<string>();
  for (const file of known.toSorted(compareAge).reverse()) {
    const taken = await ledger.takes.file(feed.name, file.path);
    // Skipped, or taken under that path before an older file came there.
    if (taken === null || taken.modifiedAtMs > file.modifiedAtMs) continue;
    if (!(await hasFailed(ledger, feed, taken.sha256))) break;
    failed.add(file.path);
  }
  return failed;
}

/**
 * Removes what a killed process left in the private folder: parts of downloads, and copies that did not become a run's file.
 * What was lost with that process is taken again.
 *
 * To be called by a process that has taken nothing yet: one process at a time takes files, so all that is in the folder then
 * is stray. The age of a file would not tell, since the wall clock may jump during a download.
 * @returns how many were removed. Never rejects: what cannot be removed stays.
 */
export async function removeStrayDownloads(downloads: string, log: Logger): Promise<number> {
  const removed = await removeOld(downloads, (entry) => entry.isFile(), { log });
  if (removed > 0) log.info({ files: removed }, 'unfinished downloads removed');
  return removed;
}

// Files as they are found, before any of them is taken. They are ordered by their last change, then by their path.

/** Looks at a path. @returns the file, or what is there instead. */
export async function seeFile(path: string): Promise<SeenFile | Exclude<Look, { kind: 'file' }>> {
  const look = await lookAtFile(path);
  return look.kind === 'file' ? seenFile(path, look.fingerprint) : look;
}

export function isSeen(found: SeenFile | Exclude<Look, { kind: 'file' }>): found is SeenFile {
  return 'fingerprint' in found;
}

function seenFile(path: string, fingerprint: string): SeenFile {
  const [, modifiedNs = '0'] = fingerprint.split(':');
  return { path, fingerprint, modifiedAtMs: Number(BigInt(modifiedNs) / 1_000_000n) };
}

/** Its fingerprint begins with its size. */
export function isEmpty({ fingerprint }: Pick<SeenFile, 'fingerprint'>): boolean {
  return fingerprint.startsWith('0:');
}

/** Negative where the left one comes first: it is older. */
export function compareAge(left: Pick<SeenFile, 'modifiedAtMs' | 'path'>, right: typeof left): number {
  if (left.modifiedAtMs !== right.modifiedAtMs) return left.modifiedAtMs - right.modifiedAtMs;
  if (left.path === right.path) return 0;
  return left.path < right.path ? -1 : 1;
}

/** Whether size and time are equal. The rest identifies the disk and the place on it, which change when it is mounted again. */
function sameButPlace(left: string, right: string): boolean {
  const of = (fingerprint: string): string => fingerprint.split(':').slice(0, 2).join(':');
  return of(left) === of(right);
}
