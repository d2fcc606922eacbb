/**
 * What a file is by its content: text, a workbook, or an archive with one of them inside. The name decides between kinds of text
 * only, since a workbook that is called .csv is still a workbook.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { fileError, PatchbayError } from '#src/errors.ts';
import type { Named } from './file-name.ts';
import type { SourceLimits } from './format-reader.ts';
import { fileInMemory, type SourceFile } from './source-file.ts';
import { isZip, openZip, type ZipArchive, type ZipEntry } from './zip-archive.ts';
import { listEntries, zipContent } from './zip-content.ts';

/** `notes` are for the tail of what is read. */
export type Content =
  | { readonly kind: 'text'; readonly file: SourceFile; readonly named: Named; readonly notes: readonly Problem[] }
  | { readonly kind: 'workbook'; readonly archive: ZipArchive; readonly notes: readonly Problem[] };

/** A workbook inside an archive is read from memory. */
const innerWorkbookBytesMax = 64 * 1024 * 1024;

/** @throws PatchbayError `file`, as zip-archive.ts and zip-content.ts do; `zipInvalid`, `xlsxEncrypted`, `xlsxTooLarge`. */
export async function lookInside(file: SourceFile, named: Named, limits: SourceLimits): Promise<Content> {
  const asItIs: Content = { kind: 'text', file, named, notes: [] };
  if (named.gzip) return asItIs;
  const start = await firstBytes(file);
  if (isZip(start)) return inArchive(file, named, limits);
  if (isCompoundFile(start) && (await holdsEncryptedPackage(file))) throw encrypted(file.name);
  if (named.format === 'zip') throw notAnArchive(file.name);
  if (named.format !== 'xlsx' || start.length === 0)
    return { ...asItIs, named: { ...named, format: textFormat(named) } };
  const text: Named = { format: 'csv', gzip: false };
  return { ...asItIs, named: text, notes: [byContent(file.name, 'is text and no Excel workbook; it was read as CSV')] };
}

/** An empty workbook has no format of its own. */
function textFormat({ format }: Named): Named['format'] {
  return format === 'xlsx' ? 'csv' : format;
}

async function inArchive(file: SourceFile, named: Named, limits: SourceLimits): Promise<Content> {
  const archive = await openZip(file, limits);
  const content = zipContent(archive);
  if (content.kind === 'workbook') {
    const isExpected = named.format === 'xlsx';
    return {
      kind: 'workbook',
      archive,
      notes: isExpected ? [] : [byContent(file.name, 'is an Excel workbook and was read as one')],
    };
  }
  const { entry, named: inner, others } = content;
  const name = `${entry.name} in ${file.name}`;
  const notes = others.length === 0 ? [] : [leftOut(file.name, entry, others)];
  if (inner.format !== 'xlsx')
    return { kind: 'text', file: entryFile(archive, entry, name, file), named: inner, notes };
  const bytes = await wholeEntry(archive, entry, name);
  const workbook = await openZip(fileInMemory(name, bytes, file), limits);
  if (zipContent(workbook).kind !== 'workbook') throw nested(name);
  return { kind: 'workbook', archive: workbook, notes };
}

/** An entry as a file that is read from its beginning to its end. */
function entryFile(archive: ZipArchive, entry: ZipEntry, name: string, file: SourceFile): SourceFile {
  return {
    name,
    byteCount: entry.packedBytes,
    chunks: () => archive.read(entry),
    range: () => {
      throw new PatchbayError('bug', 'entryRange', 'an entry of an archive can only be read as a whole');
    },
    assertUnchanged: () => file.assertUnchanged(),
    close: () => file.close(),
  };
}

async function wholeEntry(archive: ZipArchive, entry: ZipEntry, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let byteCount = 0;
  // Ends with the entry, or at the limit.
  for await (const chunk of archive.read(entry)) {
    byteCount += chunk.length;
    if (byteCount > innerWorkbookBytesMax) {
      const message = `${name} is too large to be read inside an archive: more than ${innerWorkbookBytesMax} bytes`;
      throw fileError('xlsxTooLarge', message, { file: name }, 'Unpack it and drop the workbook itself.');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function firstBytes(file: SourceFile): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of file.range(0, 8)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The container of old Office files, and of new ones with a password. */
function isCompoundFile(start: Uint8Array): boolean {
  return [0xd0, 0xcf, 0x11, 0xe0].every((byte, index) => start[index] === byte);
}

/** The name of the stream that holds the workbook, as the container's directory writes it. */
const encryptedPackage = Buffer.from('EncryptedPackage', 'utf16le');

async function holdsEncryptedPackage(file: SourceFile): Promise<boolean> {
  let carry: Buffer = Buffer.alloc(0);
  // Ends with the file: the directory may be anywhere in it.
  for await (const chunk of file.chunks()) {
    const piece = Buffer.concat([carry, chunk]);
    if (piece.includes(encryptedPackage)) return true;
    carry = piece.subarray(Math.max(0, piece.length - encryptedPackage.length));
  }
  return false;
}

function encrypted(name: string): PatchbayError {
  const hint =
    'Open it in the spreadsheet program, remove the password (File, Info, Protect Workbook), and save it again.';
  return fileError('xlsxEncrypted', `${name} is an Excel workbook with a password`, { file: name }, hint);
}

function notAnArchive(name: string): PatchbayError {
  const hint = 'Give the file the ending of what it holds, such as .csv, or make the archive again.';
  return fileError('zipInvalid', `${name} is named .zip but is not a zip archive`, { file: name }, hint);
}

function nested(name: string): PatchbayError {
  const hint = 'Unpack both and drop the file that is inside.';
  return fileError('zipNested', `${name} is an archive inside another one`, { file: name }, hint);
}

function byContent(name: string, what: string): Problem {
  const hint = 'Nothing to do if that is right; otherwise export it again.';
  return { code: 'formatByContent', line: 1, field: null, value: null, message: `${name} ${what}`, hint };
}

function leftOut(name: string, { name: entry }: ZipEntry, others: readonly ZipEntry[]): Problem {
  const message = `of ${name} only ${entry} was read, not ${listEntries(others)}`;
  const hint = 'Nothing to do if that is right; otherwise unpack the archive and drop the files you want.';
  return { code: 'otherFiles', line: 1, field: null, value: null, message, hint };
}
