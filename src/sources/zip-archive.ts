/**
 * A zip archive: what it holds, and the bytes of one entry, unpacked, with limits.
 *
 * Invariants: names are only compared and shown, never used as paths. Sizes that the archive states are not trusted: an entry
 * that unpacks to another size, to more than the limit, or to far more than it takes up, is refused, and so is one whose
 * checksum is wrong. Memory stays flat whatever an entry unpacks to.
 */
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';
import { fileError, messageOf, PatchbayError } from '#src/errors.ts';
import type { SourceLimits } from './format-reader.ts';
import type { SourceFile } from './source-file.ts';

/** More than any workbook or export has. */
const entriesMax = 10_000;
const nameCharsMax = 200;

export interface ZipEntry {
  /** As the archive holds it, with `/` between folders: for comparison and messages only. */
  readonly name: string;
  /** What it takes up in the archive. */
  readonly packedBytes: number;
  readonly isEncrypted: boolean;
}

export interface ZipArchive {
  /** The user's name for it. */
  readonly name: string;
  /** Without folders, in the archive's order. */
  readonly entries: readonly ZipEntry[];
  /**
   * The bytes of an entry, from its start, as often as needed. Where the reader stops early, the rest is not checked.
   * Throws PatchbayError `file` `zipEncrypted`, `zipDamaged`, `zipBomb`, `zipMethodUnknown`, `changedWhileRead`.
   */
  read(entry: ZipEntry): AsyncGenerator<Buffer>;
}

/** The first bytes of an archive with and without entries. */
export function isZip(start: Uint8Array): boolean {
  return (
    start[0] === 0x50 && start[1] === 0x4b && ((start[2] === 3 && start[3] === 4) || (start[2] === 5 && start[3] === 6))
  );
}

/** Reads the archive's directory. The file stays the caller's to close. @throws PatchbayError `file` `zipDamaged`, `zipTooManyEntries`. */
export async function openZip(file: SourceFile, limits: SourceLimits): Promise<ZipArchive> {
  const found = new Map<ZipEntry, Entry>();
  const zip = await asFileError(file, async () => {
    const opened = await fromRandomAccessReaderPromise(new FileReader(file), file.byteCount, { autoClose: false });
    if (opened.entryCount > entriesMax) throw tooManyEntries(file.name);
    // Ends with the directory, whose length the library checks; an entry more than was stated is damage.
    for await (const entry of opened.eachEntry()) {
      if (found.size >= entriesMax) throw tooManyEntries(file.name);
      if (entry.fileName.endsWith('/')) continue;
      found.set(
        { name: shownName(entry.fileName), packedBytes: entry.compressedSize, isEncrypted: isEncrypted(entry) },
        entry,
      );
    }
    return opened;
  });
  return {
    name: file.name,
    entries: [...found.keys()],
    read: (entry) => {
      const stored = found.get(entry);
      if (stored === undefined) throw new PatchbayError('bug', 'entryForeign', 'the entry belongs to another archive');
      return unpacked(file, zip, stored, limits);
    },
  };
}

/** Lets the library read from the open file, so that it never opens a path itself. */
class FileReader extends RandomAccessReader {
  readonly #file: SourceFile;

  constructor(file: SourceFile) {
    super();
    this.#file = file;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#file.range(start, end), { objectMode: false });
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, byteCount?: number) => void,
  ): void {
    this.#copy(buffer, offset, length, position).then(
      (byteCount) => callback(null, byteCount),
      (error: Error) => callback(error),
    );
  }

  async #copy(buffer: Buffer, offset: number, length: number, position: number): Promise<number> {
    let byteCount = 0;
    for await (const chunk of this.#file.range(position, position + length)) {
      byteCount += chunk.copy(buffer, offset + byteCount);
    }
    return byteCount;
  }
}

function shownName(name: string): string {
  return name
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, nameCharsMax);
}

function isEncrypted(entry: Entry): boolean {
  return (entry.generalPurposeBitFlag & 1) === 1;
}

async function* unpacked(file: SourceFile, zip: ZipFile, entry: Entry, limits: SourceLimits): AsyncGenerator<Buffer> {
  const name = shownName(entry.fileName);
  if (isEncrypted(entry)) throw encrypted(file.name, name);
  if (!entry.canDecodeFileData()) throw methodUnknown(file.name, name, entry.compressionMethod);
  const stream = await asFileError(file, () => zip.openReadStreamPromise(entry));
  let byteCount = 0;
  let checksum = 0;
  try {
    // Ends with the entry, whose length the library holds against the stated one, or at the first limit.
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      byteCount += chunk.length;
      if (byteCount > limits.unpackedBytesMax) throw tooLarge(file.name, name, limits);
      const ratio = byteCount / Math.max(1, entry.compressedSize);
      if (byteCount > limits.gzipRatioFloorBytes && ratio > limits.gzipRatioMax) throw bomb(file.name, name, limits);
      checksum = crc32(chunk, checksum);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof PatchbayError ? error : damaged(file.name, error);
  } finally {
    stream.destroy();
  }
  if (checksum !== entry.crc32) throw damaged(file.name, new Error(`the checksum of ${name} is wrong`));
}

async function asFileError<Result>(file: SourceFile, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof PatchbayError ? error : damaged(file.name, error);
  }
}

const againHint = 'Export the file again, or unpack it and drop the file that is inside.';

/** The library's message says where; ours says what that means. */
function damaged(name: string, cause: unknown): PatchbayError {
  const why = messageOf(cause);
  if (/strong encryption/i.test(why)) return encrypted(name, 'it');
  const isCutOff = /end of central directory|unexpected EOF|file bounds|not enough bytes/i.test(why);
  const what = isCutOff ? 'is cut off or damaged: its zip directory or data is incomplete' : `is damaged: ${tidy(why)}`;
  return fileError('zipDamaged', `${name} ${what}`, { file: name }, againHint, cause);
}

function tidy(message: string): string {
  return message
    .replace(/\p{Cc}+/gu, ' ')
    .toWellFormed()
    .slice(0, nameCharsMax);
}

function encrypted(name: string, entry: string): PatchbayError {
  const message = `${name} is protected: ${entry} can only be read with a password`;
  return fileError(
    'zipEncrypted',
    message,
    { file: name },
    'Unpack it with the password and drop the file that is inside.',
  );
}

function methodUnknown(name: string, entry: string, method: number): PatchbayError {
  const message = `${name}: ${entry} is packed by a method that is not supported (${method})`;
  return fileError('zipMethodUnknown', message, { file: name, method }, 'Unpack it and drop the file that is inside.');
}

function tooManyEntries(name: string): PatchbayError {
  const message = `${name} holds more than ${entriesMax} files`;
  return fileError('zipTooManyEntries', message, { file: name, entriesMax }, 'Unpack it and drop the files you want.');
}

function tooLarge(name: string, entry: string, limits: SourceLimits): PatchbayError {
  const message = `${name}: ${entry} is longer than ${limits.unpackedBytesMax} bytes when unpacked`;
  const facts = { file: name, unpackedBytesMax: limits.unpackedBytesMax };
  return fileError('zipBomb', message, facts, 'Split the export into several files.');
}

function bomb(name: string, entry: string, limits: SourceLimits): PatchbayError {
  const message = `${name}: ${entry} unpacks to more than ${limits.gzipRatioMax} times its size`;
  const facts = { file: name, zipRatioMax: limits.gzipRatioMax };
  const hint = 'No contact export packs that well. If it is one, unpack it and drop what is inside.';
  return fileError('zipBomb', message, facts, hint);
}
