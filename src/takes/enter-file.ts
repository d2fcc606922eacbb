/**
 * Takes one file at rest: copied into our private folder, entered as a run, noted. The original stays where it is.
 */
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { PatchbayError, systemCodeOf } from '#src/errors.ts';
import type { FeedSettings } from '#src/feeds/feeds.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { SeenFile } from '#src/ledger/takes.ts';
import { newRunId } from '#src/runs/run-id.ts';
import { type CopiedFile, copyIntoFolder, hashFile } from '#src/sources/check-out.ts';
import { enterOnce } from './enter-once.ts';
import { isTakenAgain } from './failed-before.ts';
import type { TakeParts } from './parts.ts';
import { isSeen, sameButPlace, seeFile } from './seen-files.ts';
import { storageError, takeError } from './take-error.ts';

export type EnteredFile =
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
