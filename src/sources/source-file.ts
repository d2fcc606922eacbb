/**
 * One regular file, opened for reading: its bytes from the start, as often as asked, and whether it stayed the same.
 *
 * Opening never blocks: a FIFO or a device is recognised by `fstat` after a non-blocking open and refused.
 */

import { constants, type FileHandle, open, stat } from 'node:fs/promises';
import { systemCodeOf } from '#src/errors.ts';
import { fileError } from '#src/sources/file-error.ts';
import { fingerprintOf } from '#src/sources/stability.ts';

const chunkBytes = 256 * 1024;

export interface SourceFile {
  /** The user's name for it. */
  readonly name: string;
  /** Its size on disk when it was opened. */
  readonly byteCount: number;
  /** The bytes from the beginning, in fresh buffers of at most 256 KiB. */
  chunks(): AsyncGenerator<Buffer>;
  /** Throws `changedWhileRead` where size, mtime or inode differ from those at opening. */
  assertUnchanged(): Promise<void>;
  close(): Promise<void>;
}

/** Opens `path`. Throws `file` errors: `fileMissing`, `fileUnreadable`, `notAFile`. Whoever opens, closes. */
export async function openSourceFile(path: string, name: string): Promise<SourceFile> {
  const handle = await openNonBlocking(path, name);
  try {
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) throw notAFile(name);
    const before = fingerprintOf(stats);
    const byteCount = Number(stats.size);
    return {
      name,
      byteCount,
      chunks: () => readChunks(handle, byteCount, name),
      assertUnchanged: async () => {
        const now = await stat(path, { bigint: true }).catch(() => null);
        if (now === null || fingerprintOf(now) !== before) throw changedWhileRead(name);
      },
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openNonBlocking(path: string, name: string): Promise<FileHandle> {
  try {
    // O_NONBLOCK does not exist on Windows, nor do FIFOs that could block there.
    return await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const systemCode = systemCodeOf(error);
    if (systemCode === 'ENOENT') {
      throw fileError('fileMissing', `${name} is not there`, { file: name }, 'Check the path.', error);
    }
    if (systemCode === 'ENXIO' || systemCode === 'EISDIR') throw notAFile(name);
    const why = `${name} cannot be opened (${systemCode ?? 'unknown reason'})`;
    throw fileError('fileUnreadable', why, { file: name }, 'Give this user the right to read it.', error);
  }
}

function notAFile(name: string): Error {
  return fileError(
    'notAFile',
    `${name} is not a regular file`,
    { file: name },
    'Drop the file itself, not a folder or a link to it.',
  );
}

function changedWhileRead(name: string): Error {
  const hint = 'Wait until the program that writes it has finished; it is read again at the next look.';
  return fileError('changedWhileRead', `${name} changed while being read`, { file: name }, hint);
}

/** Ends at the size the file had when it was opened, or earlier where it became shorter. */
async function* readChunks(handle: FileHandle, byteCount: number, name: string): AsyncGenerator<Buffer> {
  let position = 0;
  while (position < byteCount) {
    const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, byteCount - position));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) throw changedWhileRead(name);
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
