/**
 * The bytes of a file after unpacking, with the limits on them.
 *
 * Invariant: a gzip file is read to its last byte or refused. What is cut off, followed by junk, or unpacks to far
 * more than a contact export can, never yields a quiet, shorter file.
 */
import { pipeline, Readable } from 'node:stream';
import { createGunzip, type Gunzip } from 'node:zlib';
import { messageOf, PatchbayError, systemCodeOf } from '#src/errors.ts';
import { fileError } from '#src/sources/file-error.ts';
import type { SourceFile } from '#src/sources/source-file.ts';
import type { SourceLimits } from '#src/sources/source-limits.ts';

const unpackHint = 'Make the export again, or unpack the file and drop what is inside.';

/** Throws `file` errors: `fileTooLarge`, `gzipInvalid`, `gzipTruncated`, `gzipTrailingJunk`, `gzipDamaged`, `gzipBomb`. */
export async function* unpackedBytes(file: SourceFile, gzip: boolean, limits: SourceLimits): AsyncGenerator<Buffer> {
  let byteCount = 0;
  // Ends with the file: each turn takes one more piece of it.
  for await (const chunk of gzip ? gunzip(file) : file.chunks()) {
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

function tooLarge(file: SourceFile, gzip: boolean, limits: SourceLimits): PatchbayError {
  const message = `${file.name} is longer than ${limits.unpackedBytesMax} bytes${gzip ? ' when unpacked' : ''}`;
  const facts = { file: file.name, unpackedBytesMax: limits.unpackedBytesMax };
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
