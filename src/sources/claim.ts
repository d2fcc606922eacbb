/**
 * Takes a file for a run: out of the import import folder by rename, or as a copy of a file that the user named.
 *
 * Invariant: a claimed file belongs to one run, is called `<run>__<name>`, and nobody else writes to it.
 */

import { createHash } from 'node:crypto';
import { mkdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { systemCodeOf } from '#src/errors.ts';
import { fileError } from '#src/sources/file-error.ts';
import { copyDurably, moveFile, type Rename } from '#src/sources/move-file.ts';
import { safeFileName } from '#src/sources/safe-file-name.ts';
import { fingerprintOf } from '#src/sources/stability.ts';

export interface ClaimOptions {
  /** In the user's own words, where the file itself is called otherwise. */
  readonly name?: string;
  readonly rename?: Rename;
}

/** The claimed file's path. A second call for the same run finds it. Throws `fileMissing`, `notAFile` (file). */
export async function claimFile(
  from: string,
  claimedFolder: string,
  runId: string,
  options: ClaimOptions = {},
): Promise<string> {
  const path = claimedPath(options.name ?? from, claimedFolder, runId);
  await moveFile(from, path, options.rename);
  return path;
}

export interface CopiedFile {
  readonly path: string;
  /** Of the content, in hex. */
  readonly sha256: string;
  readonly bytes: number;
}

/** For `import FILE`: the original stays where it is. Throws `fileMissing`, `fileUnreadable`, `notAFile`, `changedWhileRead` (file). */
export async function copyIntoFolder(from: string, claimedFolder: string, runId: string): Promise<CopiedFile> {
  const name = basename(from);
  const before = await regularFile(from, name);
  await mkdir(claimedFolder, { recursive: true, mode: 0o700 });
  const path = claimedPath(from, claimedFolder, runId);
  const hash = createHash('sha256');
  let bytes = 0;
  const assertSame = async (): Promise<void> => {
    if ((await regularFile(from, name)) === before) return;
    const hint = 'Wait until the program that writes it has finished, then import it again.';
    throw fileError('changedWhileRead', `${name} changed while being read`, { file: name }, hint);
  };
  try {
    await copyDurably(from, path, {
      onChunk: (chunk) => {
        hash.update(chunk);
        bytes += chunk.length;
      },
      beforeRename: assertSame,
    });
  } catch (error) {
    throw unreadable(error, name);
  }
  return { path, sha256: hash.digest('hex'), bytes };
}

function claimedPath(from: string, folder: string, runId: string): string {
  return join(folder, `${runId}__${safeFileName(basename(from))}`);
}

/** The file's fingerprint. A link that the user named is followed; a FIFO is not opened. */
async function regularFile(path: string, name: string): Promise<string> {
  const stats = await stat(path, { bigint: true }).catch((error: unknown) => {
    throw unreadable(error, name);
  });
  if (stats.isFile()) return fingerprintOf(stats);
  throw fileError('notAFile', `${name} is not a regular file`, { file: name }, 'Name the file itself.');
}

function unreadable(error: unknown, name: string): unknown {
  const systemCode = systemCodeOf(error);
  if (systemCode === 'ENOENT') {
    return fileError('fileMissing', `${name} is not there`, { file: name }, 'Check the path.', error);
  }
  if (systemCode === 'EACCES' || systemCode === 'EPERM') {
    const hint = 'Give this user the right to read it.';
    return fileError('fileUnreadable', `${name} cannot be opened (${systemCode})`, { file: name }, hint, error);
  }
  return error;
}
