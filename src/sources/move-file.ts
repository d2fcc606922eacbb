/**
 * Moves a regular file so that a crash at any instant leaves it whole under one of the two names.
 *
 * Invariant: the target appears by rename, complete and on disk. Across devices: copy to a temporary name, fsync,
 * rename, then unlink the original. A second call after a crash finds the target and succeeds.
 */

import { createReadStream } from 'node:fs';
import { chmod, lstat, mkdir, rename as renameOnDisk, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemCodeOf } from '#src/errors.ts';
import { fileError } from '#src/sources/file-error.ts';
import { ownerOnlyFileMode, ownerOnlyFolderMode, syncFolder, writeWholeFile } from '#src/whole-file.ts';

export type Rename = (from: string, to: string) => Promise<void>;

/** Makes the parents of `to`. Throws `notAFile`, `fileMissing` (file), and the system's errors such as ENOSPC. */
export async function moveFile(from: string, to: string, rename: Rename = renameOnDisk): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: ownerOnlyFolderMode });
  if (!(await isThere(from))) {
    if (await isThere(to)) return;
    throw fileError('fileMissing', `${from} is not there any more`, { file: from }, 'Drop it again.');
  }
  try {
    await rename(from, to);
  } catch (error) {
    if (systemCodeOf(error) !== 'EXDEV') throw error;
    await copyDurably(from, to);
    await unlink(from);
  }
  await ownerOnly(to);
  await syncFolder(dirname(to));
}

export interface CopyWatch {
  /** Sees each piece that is copied. */
  readonly onChunk?: (chunk: Buffer) => void;
  /** Called when all is copied; what it throws undoes the copy. */
  readonly beforeRename?: () => Promise<void>;
}

/** The copy appears under `to` complete or not at all. Throws the system's errors, and what `watch` throws. */
export function copyDurably(from: string, to: string, watch: CopyWatch = {}): Promise<void> {
  return writeWholeFile(to, copied(from, watch));
}

async function* copied(from: string, watch: CopyWatch): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(from)) {
    watch.onChunk?.(chunk);
    yield chunk;
  }
  await watch.beforeRename?.();
}

async function isThere(path: string): Promise<boolean> {
  try {
    const stats = await lstat(path);
    if (!stats.isFile()) {
      const hint = 'Drop the file itself, not a folder or a link to it.';
      throw fileError('notAFile', `${path} is not a regular file`, { file: path }, hint);
    }
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** A file that belongs to another user can be moved but not changed: that is no reason to refuse it. */
async function ownerOnly(path: string): Promise<void> {
  await chmod(path, ownerOnlyFileMode).catch((error: unknown) => {
    if (systemCodeOf(error) !== 'EPERM') throw error;
  });
}
