/**
 * One regular file, opened for reading: its bytes from the start, as often as needed; unpacked, with limits; and whether
 * the file stayed the same.
 *
 * Invariants: opening never blocks, since a FIFO or a device is recognised by `fstat` after a non-blocking open and
 * refused. A gzip file is read to its last byte or refused: one that is cut off, is followed by junk, or unpacks to far
 * more than a contact export can, never becomes a shorter file without an error.
 */
import { constants, type FileHandle, open, stat } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createGunzip, type Gunzip } from 'node:zlib';
import { fileError, messageOf, PatchbayError, systemCodeOf } from '#src/errors.ts';
import { namedFormat } from './file-name.ts';
import { fingerprintOf } from './folder-entries.ts';
import { defaultSourceLimits, type SourceLimits } from './format-reader.ts';

const chunkBytes = 256 * 1024;

export interface SourceFile {
  /** The user's name for it. */
  readonly name: string;
  /** Its size on disk when it was opened. */
  readonly byteCount: number;
  /** The bytes from the beginning, in buffers of at most 256 KiB: fresh ones, or one that each turn fills anew. */
  chunks(buffers?: 'fresh' | 'one'): AsyncGenerator<Buffer>;
  /** The bytes from `start` up to `end`, which is not included, in the same way. */
  range(start: number, end: number): AsyncGenerator<Buffer>;
  /** @throws PatchbayError `file` `changedWhileRead` where size, mtime or inode differ from those at opening. */
  assertUnchanged(): Promise<void>;
  close(): Promise<void>;
}

/** The caller closes it. @throws PatchbayError `file` `fileMissing`, `fileUnreadable`, `notAFile`. */
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
      chunks: (buffers = 'fresh') => readChunks(handle, 0, byteCount, name, buffers),
      range: (start, end) => readChunks(handle, start, Math.min(end, byteCount), name),
      assertUnchanged: async () => {
        // A file that can no longer be looked at is not the file that was opened.
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
    if (systemCode === 'ENXIO' || systemCode === 'EISDIR') throw notAFile(name);
    const known = openingError(error, path, name);
    if (known instanceof PatchbayError) throw known;
    const why = `${name} cannot be opened (${systemCode ?? 'unknown reason'})`;
    throw fileError('fileUnreadable', why, { file: name }, `Check the file and its disk: ${path}`, error);
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
  const hint = 'Wait until the program that writes it has finished; it is then read again.';
  return fileError('changedWhileRead', `${name} changed while being read`, { file: name }, hint);
}

/**
 * The next piece is read while the one at hand is used: with `one` into the other of two buffers, in turn. Memory that was never used
 * costs more than reading a file into it.
 *
 * Ends at `end`, which is at most the size the file had when it was opened. @throws PatchbayError `changedWhileRead` where the file
 * became shorter.
 */
async function* readChunks(
  handle: FileHandle,
  start: number,
  end: number,
  name: string,
  buffers: 'fresh' | 'one' = 'fresh',
): AsyncGenerator<Buffer> {
  const used: Buffer[] = [];
  const readAt = (position: number) => {
    const length = Math.min(chunkBytes, end - position);
    const buffer = used.length === 2 ? (used.shift() as Buffer) : Buffer.allocUnsafe(length);
    if (buffers === 'one') used.push(buffer);
    const reading = handle.read(buffer, 0, length, position);
    // Where no more pieces are asked for, the last one may fail without a word.
    reading.catch(() => undefined);
    return reading;
  };
  let position = start;
  let next = position < end ? readAt(position) : null;
  while (next !== null) {
    const { bytesRead, buffer } = await next;
    if (bytesRead === 0) throw changedWhileRead(name);
    position += bytesRead;
    next = position < end ? readAt(position) : null;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Bytes in memory that are read like a file: the content of `within`, unpacked. */
export function fileInMemory(name: string, bytes: Buffer, within: SourceFile): SourceFile {
  const range = async function* (start: number, end: number): AsyncGenerator<Buffer> {
    for (let position = start; position < Math.min(end, bytes.length); position += chunkBytes) {
      yield bytes.subarray(position, Math.min(position + chunkBytes, end, bytes.length));
    }
  };
  return {
    name,
    byteCount: bytes.length,
    chunks: () => range(0, bytes.length),
    range,
    assertUnchanged: () => within.assertUnchanged(),
    close: () => within.close(),
  };
}

const unpackHint = 'Export the file again, or unpack it and drop what is inside.';

/**
 * @param buffers `one`: a chunk is gone as soon as the next one is asked for.
 * @throws PatchbayError `file` `fileTooLarge`, `gzipInvalid`, `gzipTruncated`, `gzipTrailingJunk`, `gzipDamaged`,
 * `gzipBomb`.
 */
export async function* unpackedBytes(
  file: SourceFile,
  gzip: boolean,
  limits: SourceLimits,
  buffers: 'fresh' | 'one' = 'fresh',
): AsyncGenerator<Buffer> {
  let byteCount = 0;
  // Ends with the file: each turn takes one more piece of it.
  for await (const chunk of gzip ? gunzip(file) : file.chunks(buffers)) {
    byteCount += chunk.length;
    if (byteCount > limits.unpackedBytesMax) throw tooLarge(file, gzip, limits);
    const ratio = byteCount / file.byteCount;
    if (gzip && byteCount > limits.gzipRatioFloorBytes && ratio > limits.gzipRatioMax) throw bomb(file, limits);
    yield chunk;
  }
}

async function* gunzip(file: SourceFile): AsyncGenerator<Buffer> {
  const stream = createGunzip({ chunkSize: 64 * 1024 });
  let packedStart: Buffer | null = null;
  const packed = async function* () {
    for await (const chunk of file.chunks()) {
      packedStart ??= chunk.subarray(0, 2);
      yield chunk;
    }
  };
  // The error arrives through the iteration below; the callback only keeps it from being called unhandled.
  pipeline(Readable.from(packed(), { objectMode: false }), stream, () => {});
  try {
    yield* stream as AsyncIterable<Buffer>;
  } catch (error) {
    throw gzipError(file, packedStart, error);
  }
  assertWholeFileUsed(file, stream);
}

/** zlib is silent about bytes after the last member where they begin with a zero. */
function assertWholeFileUsed(file: SourceFile, stream: Gunzip): void {
  if (stream.bytesWritten < file.byteCount) throw trailingJunk(file);
}

function gzipError(file: SourceFile, start: Buffer | null, error: unknown): unknown {
  if (error instanceof PatchbayError) return error;
  const facts = { file: file.name };
  const isGzip = start !== null && start[0] === 0x1f && start[1] === 0x8b;
  if (file.byteCount >= 2 && !isGzip) {
    const hint = 'Take the ending .gz off its name, or pack it again.';
    return fileError('gzipInvalid', `${file.name} is named .gz but is not a gzip file`, facts, hint, error);
  }
  const systemCode = systemCodeOf(error);
  if (systemCode === 'Z_BUF_ERROR') {
    return fileError('gzipTruncated', `${file.name} is cut off: its gzip data does not end`, facts, unpackHint, error);
  }
  if (systemCode === 'Z_DATA_ERROR' && messageOf(error) === 'incorrect header check') return trailingJunk(file);
  if (systemCode?.startsWith('Z_')) {
    return fileError('gzipDamaged', `${file.name} is damaged: ${messageOf(error)}`, facts, unpackHint, error);
  }
  return error;
}

function trailingJunk(file: SourceFile): PatchbayError {
  const message = `${file.name} holds bytes after the end of its gzip data`;
  return fileError('gzipTrailingJunk', message, { file: file.name }, unpackHint);
}

/**
 * For a file that is copied before it is read. An archive may hold more than what is read of it.
 * @param name the user's name for it. @throws PatchbayError `file` `fileTooLarge`.
 */
export function requireSize(name: string, byteCount: number): void {
  const format = namedFormat(name)?.format;
  if (byteCount <= defaultSourceLimits.unpackedBytesMax || format === 'xlsx' || format === 'zip') return;
  throw tooLarge({ name }, false, defaultSourceLimits);
}

function tooLarge({ name }: Pick<SourceFile, 'name'>, gzip: boolean, limits: SourceLimits): PatchbayError {
  const message = `${name} is longer than ${limits.unpackedBytesMax} bytes${gzip ? ' when unpacked' : ''}`;
  const facts = { file: name, unpackedBytesMax: limits.unpackedBytesMax };
  return fileError(gzip ? 'gzipBomb' : 'fileTooLarge', message, facts, 'Split the export into several files.');
}

function bomb(file: SourceFile, limits: SourceLimits): PatchbayError {
  const message = `${file.name} unpacks to more than ${limits.gzipRatioMax} times its size`;
  const facts = { file: file.name, gzipRatioMax: limits.gzipRatioMax, packedBytes: file.byteCount };
  return fileError(
    'gzipBomb',
    message,
    facts,
    'No contact export packs that well. If it is one, unpack it and drop what is inside.',
  );
}

/**
 * What is wrong with a path that a person gave, in words: the system's own errors are for those who know its codes.
 * @returns the error for what the system said when a file was to be opened or looked at: `file` `fileMissing`, `fileUnreadable`; any other as it is.
 * @param name the user's name for it.
 */
export function openingError(error: unknown, path: string, name: string): unknown {
  const facts = { file: name };
  const where = `Check the path: ${path}`;
  switch (systemCodeOf(error)) {
    case 'ENOENT':
      return fileError('fileMissing', `${name} is not there`, facts, where, error);
    case 'ENOTDIR':
      return fileError(
        'fileMissing',
        `${name} is not there: a part of its path is a file, not a folder`,
        facts,
        where,
        error,
      );
    case 'ENAMETOOLONG':
      return fileError('fileMissing', `${name} is not there: the name is too long`, facts, where, error);
    case 'ELOOP': {
      const hint = `Fix the links, or name the file itself: ${path}`;
      return fileError('fileUnreadable', `${name} cannot be opened: its links lead in a circle`, facts, hint, error);
    }
    case 'EACCES':
    case 'EPERM': {
      const hint = `Give this user the right to read it, and to enter the folders above it: ${path}`;
      return fileError('fileUnreadable', `${name} cannot be opened (${systemCodeOf(error)})`, facts, hint, error);
    }
    default:
      return error;
  }
}

/** Before the ending of its name is looked at. @throws PatchbayError `file`: `fileMissing`, `fileUnreadable`; the system's errors. */
export async function requireThere(path: string, name: string): Promise<void> {
  await stat(path).catch((error: unknown) => {
    throw openingError(error, path, name);
  });
}
