/**
 * Takes one file at rest: copied into our private folder, entered as a run, noted. The original stays where it is.
 */
import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { emptyIfMissing, messageOf, PatchbayError, systemCodeOf } from '#src/errors.ts';
import type { FeedSettings } from '#src/feeds/feeds.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { SeenFile } from '#src/ledger/takes.ts';
import { submitCopy } from '#src/runs/enter-run.ts';
import { newRunId } from '#src/runs/run-files.ts';
import { type CopiedFile, copyIntoFolder, hashFile } from '#src/sources/check-out.ts';
import type { TakeParts } from './parts.ts';
import { compareAge, isSeen, sameButPlace, seeFile } from './seen-file.ts';
import { storageError, takeError } from './take-error.ts';

type EnteredFile =
  | { readonly kind: 'run'; readonly run: RunRecord }
  /** It was taken already; only its place on the disk is another. */
  | { readonly kind: 'known' }
  /** It changed or went while it was copied. */
  | { readonly kind: 'moved' };

/** @throws PatchbayError `file`: `fileUnreadable`, `diskFull`, `downloadFolderUnusable`; what `submitCopy` throws. */
export async function enterFile(parts: TakeParts, feed: FeedSettings, file: SeenFile): Promise<EnteredFile> {
  const { ledger, clock, folders } = parts;
  const knownHash = await hashOfKnown(parts, feed, file);
  if (knownHash !== null && !(await isTakenAgain(parts, feed, knownHash))) {
    await note(parts, feed, file, knownHash);
    return { kind: 'known' };
  }
  let copy: CopiedFile;
  try {
    copy = await copyIntoFolder(file.path, folders.downloads, newRunId(clock.nowMs()));
  } catch (error) {
    return copyTrouble(error, folders.downloads);
  }
  // What was copied is what was at rest: the note must not speak of a later one, nor a link have come in its place.
  const after = await seeFile(file.path);
  if (!isSeen(after) || after.fingerprint !== file.fingerprint) {
    await rm(copy.path, { force: true });
    return { kind: 'moved' };
  }
  const { path, sha256 } = copy;
  const run = await enterOnce(parts, feed, { path, sha256, fileName: basename(file.path) });
  await note({ ledger, clock }, feed, file, sha256);
  return { kind: 'run', run };
}

/** Disks that are mounted anew may number their files anew: size, time and content tell that it is the one we know. */
async function hashOfKnown({ ledger }: TakeParts, feed: FeedSettings, file: SeenFile): Promise<string | null> {
  const known = await ledger.takes.file(feed.name, file.path);
  if (known === null || !sameButPlace(known.fingerprint, file.fingerprint)) return null;
  // Where it cannot be read, copying it will say so.
  const sha256 = await hashFile(file.path).catch(() => null);
  return sha256 === known.sha256 ? sha256 : null;
}

async function note(
  { ledger, clock }: Pick<TakeParts, 'ledger' | 'clock'>,
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
  if (code === 'fileUnreadable' || systemCodeOf(error) === 'EIO') throw unreadable(error);
  throw error;
}

function unreadable(cause: unknown): PatchbayError {
  const hint = 'Give the user that Patchbay runs as the right to read it.';
  return takeError('file', 'fileUnreadable', 'a file that is to be taken cannot be read', hint, cause);
}

/**
 * From a file in our private folder to a run of the feed, once.
 *
 * Invariant: the beginning is in the ledger before the run is, and goes with the note that follows the run. So where the
 * process dies between run and note, the same content that comes again finds its run, even one that has ended meanwhile.
 */
interface PrivateFile {
  /** Ours: it is moved away, or removed. */
  readonly path: string;
  /** Its name for people. */
  readonly fileName: string;
  readonly sha256: string;
}

/** Whoever calls notes what was taken. Throws what `submitCopy` throws; the file is gone then. */
export async function enterOnce(parts: TakeParts, feed: FeedSettings, file: PrivateFile): Promise<RunRecord> {
  const { takes, runs } = parts.ledger;
  const { path, sha256 } = file;
  try {
    const begun = await takes.begun(feed.name);
    if (begun?.sha256 === sha256) {
      const entered = (await runs.list({ feed: feed.name, sha256, limit: 1 })).at(0) ?? null;
      if (entered !== null && entered.createdAtMs >= begun.begunAtMs) return entered;
    }
    await takes.begin(feed.name, { sha256, begunAtMs: parts.clock.nowMs() });
    return await submitCopy(parts.submit, { feed, ...file });
  } finally {
    // Where it became a run's file it lies elsewhere by now.
    await rm(path, { force: true });
  }
}

// Content that was taken before, and whose run failed as a whole, as with a broken mapping: nothing of it was written.
//
// A schedule leaves it alone, since it would fail each time. Where a person asks, it counts as not taken.

/** Whether the newest run of that content in this feed failed. */
export async function hasFailed(
  { ledger }: Pick<TakeParts, 'ledger'>,
  { name }: FeedSettings,
  sha256: string,
): Promise<boolean> {
  return (await ledger.runs.list({ feed: name, sha256, limit: 1 })).at(0)?.state === 'failed';
}

async function isTakenAgain(parts: TakeParts, feed: FeedSettings, sha256: string): Promise<boolean> {
  return parts.trigger === 'request' && (await hasFailed(parts, feed, sha256));
}

/** How to have it taken again, for the message of a tick that took nothing. Begins with a semicolon. */
export function failedNote({ name }: FeedSettings, run: string): string {
  const feed = /^[\w.-]+$/.test(name) ? name : `"${name}"`;
  return `; ${run} failed, and it is taken again by: patchbay schedule run ${feed}`;
}

/**
 * Of files that are known, those that failed, up to the newest that did not: to take one that is older than that would bring
 * the past back.
 */
export async function newestFailed(
  parts: TakeParts,
  feed: FeedSettings,
  known: readonly SeenFile[],
): Promise<ReadonlySet<string>> {
  const failed = new Set<string>();
  for (const file of known.toSorted(compareAge).reverse()) {
    const taken = await parts.ledger.takes.file(feed.name, file.path);
    // Passed over, or taken under that path before something older came there.
    if (taken === null || taken.modifiedAtMs > file.modifiedAtMs) continue;
    if (!(await hasFailed(parts, feed, taken.sha256))) break;
    failed.add(file.path);
  }
  return failed;
}

// What a killed process left in the private folder: parts of downloads, and copies that no run took over. What was lost
// with it is taken again.
//
// Nothing else lies there, and one process at a time takes files: before its first take, all that lies there is stray. By
// age it could not be told, since the wall clock may jump while something is downloaded.

/** For a process that has taken nothing yet. Never rejects: what cannot be removed stays. @returns how many were removed. */
export async function removeStrayDownloads({ folders, log }: Pick<TakeParts, 'folders' | 'log'>): Promise<number> {
  let removed = 0;
  try {
    for (const entry of await readdir(folders.downloads, { withFileTypes: true }).catch(emptyIfMissing)) {
      if (!entry.isFile()) continue;
      await rm(join(folders.downloads, entry.name), { force: true });
      removed += 1;
    }
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'unfinished downloads not removed');
  }
  if (removed > 0) log.info({ files: removed }, 'unfinished downloads removed');
  return removed;
}
