/**
 * Moves a regular file so that a crash at any instant leaves it whole under one of the two names.
 *
 * Invariant: the target appears by rename, complete and on disk. Across devices: copy to a temporary name, fsync,
 * rename, then unlink the original. A second call after a crash finds the target and succeeds.
 */
import { randomUUID } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { chmod, lstat, mkdir, open, rename as renameOnDisk, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileError, systemCodeOf } from '#src/sources/file-error.ts';

/** Owner only: dropped files are personal data (rules.md, "Secrets and personal data"). */
export const fileMode = 0o600;
const folderMode = 0o700;

export type Rename = (from: string, to: string) => Promise<void>;

/** Makes the parents of `to`. Throws `notAFile`, `fileMissing` (file), and the system's errors such as ENOSPC. */
export async function moveFile(from: string, to: string, rename: Rename = renameOnDisk): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: folderMode });
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

/** Copies to a temporary name beside `to`, fsyncs and renames. A failed copy leaves nothing behind. */
export async function copyDurably(from: string, to: string, watch: CopyWatch = {}): Promise<void> {
  const temporary = join(dirname(to), `.${randomUUID()}.part`);
  const handle = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, fileMode);
  try {
    try {
      for await (const chunk of createReadStream(from)) {
        watch.onChunk?.(chunk);
        await handle.writeFile(chunk);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await watch.beforeRename?.();
    await renameOnDisk(temporary, to);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
  await syncFolder(dirname(to));
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
  await chmod(path, fileMode).catch((error: unknown) => {
    if (systemCodeOf(error) !== 'EPERM') throw error;
  });
}

/** Makes the new name itself durable. Some systems cannot sync a folder; the file is safe there all the same. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY).catch(() => null);
  await handle?.sync().catch(() => {});
  await handle?.close();
}
