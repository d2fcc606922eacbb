/**
 * What a file is by its content: text, a workbook, or an archive with one of them inside. The name decides between kinds of text
 * only, since a workbook that is called .csv is still a workbook.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { fileError, PatchbayError } from '#src/errors.ts';
import { type Named, namedFormat, unpackHint, wayOutOf } from './file-name.ts';
import type { SourceLimits } from './format-reader.ts';
import { fileInMemory, type SourceFile } from './source-file.ts';
import { isZip, openZip, type ZipArchive, type ZipEntry } from './zip-archive.ts';

/** `notes` are for the tail of what is read. */
type Content =
  | { readonly kind: 'text'; readonly file: SourceFile; readonly named: Named; readonly notes: readonly Problem[] }
  | { readonly kind: 'workbook'; readonly archive: ZipArchive; readonly notes: readonly Problem[] };

/** A workbook inside an archive is read from memory. */
const innerWorkbookBytesMax = 64 * 1024 * 1024;

/** @throws PatchbayError `file`, as zip-archive.ts does; `formatUnknown`, `zipEmpty`, `zipSeveral`, `zipInvalid`, `xlsxEncrypted`, `xlsxTooLarge`. */
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

// What an archive is by the names inside: a workbook, one file to read, or something that is refused with the way out
// (docs/contract.md, "Data folder").

type ZipContent =
  | { readonly kind: 'workbook' }
  /** `others` are files beside it that are not read. */
  | { readonly kind: 'file'; readonly entry: ZipEntry; readonly named: Named; readonly others: readonly ZipEntry[] };

const namesShownMax = 20;

/** Files that other programs write as zip archives, by an entry that each of them has. */
const programs: readonly (readonly [entry: RegExp, what: string, ending: string])[] = [
  [/^xl\/workbook\.bin$/i, 'a binary Excel workbook', '.xlsb'],
  [/^index\/document\.iwa$|^index\.zip$/i, 'a Numbers workbook', '.numbers'],
  [/^mimetype$/, 'an OpenDocument file', '.ods'],
  [/^word\/document\.xml$/i, 'a Word document', '.docx'],
  [/^ppt\/presentation\.xml$/i, 'a PowerPoint presentation', '.pptx'],
];

/** @throws PatchbayError `file` `formatUnknown`, `zipEmpty`, `zipSeveral`. */
function zipContent(archive: ZipArchive): ZipContent {
  const { name, entries } = archive;
  for (const [pattern, what, ending] of programs) {
    if (entries.some((entry) => pattern.test(entry.name))) {
      throw fileError('formatUnknown', `${name} is ${what}, which cannot be read`, { file: name }, wayOutOf(ending));
    }
  }
  if (isWorkbook(entries)) return { kind: 'workbook' };
  const visible = entries.filter((entry) => !isLitter(entry.name));
  const readable = visible.flatMap((entry) => {
    const named = namedFormat(baseName(entry.name));
    return named === null || named.gzip || named.format === 'zip' ? [] : [{ entry, named }];
  });
  const exports = readable.filter(({ entry }) => !isAccompanying(entry.name));
  const chosen = exports.length === 0 ? readable : exports;
  const [only] = chosen;
  if (only === undefined) throw nothingReadable(name, visible);
  if (chosen.length > 1)
    throw several(
      name,
      chosen.map(({ entry }) => entry),
    );
  return { kind: 'file', ...only, others: visible.filter((entry) => entry !== only.entry) };
}

/** By the folder of its parts, also where parts are missing; they may be named otherwise. */
function isWorkbook(entries: readonly ZipEntry[]): boolean {
  const names = entries.map((entry) => entry.name.toLowerCase());
  if (names.some((name) => name.startsWith('xl/worksheets/') || name === 'xl/workbook.xml')) return true;
  return names.includes('[content_types].xml') && names.some((name) => /(^|\/)workbook\.xml$/.test(name));
}

/** What file managers leave behind. */
function isLitter(name: string): boolean {
  const base = baseName(name);
  return /^__macosx\//i.test(name) || /^[._~]/.test(base) || /^(?:thumbs\.db|desktop\.ini)$/i.test(base) || base === '';
}

/** A text for people beside the export. */
function isAccompanying(name: string): boolean {
  return /^(?:read[ _-]?me|licen[cs]e|instructions|about|legal|terms|notice)[^/]*\.txt$/i.test(baseName(name));
}

function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** `a, b and 3 more`. */
function listEntries(entries: readonly ZipEntry[]): string {
  const names = entries.slice(0, namesShownMax).map(({ name }) => name);
  const more = entries.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function nothingReadable(name: string, entries: readonly ZipEntry[]): PatchbayError {
  const facts = { file: name, fileCount: entries.length };
  if (entries.length === 0) {
    return fileError('zipEmpty', `${name} is an archive without a file`, facts, 'Export the file again.');
  }
  const message = `${name} holds no file that can be read, but: ${listEntries(entries)}`;
  return fileError('zipEmpty', message, facts, unpackHint);
}

function several(name: string, entries: readonly ZipEntry[]): PatchbayError {
  const message = `${name} holds ${entries.length} files that can be read: ${listEntries(entries)}`;
  const areCards = entries.every((entry) => namedFormat(baseName(entry.name))?.format === 'vcf');
  const hint = areCards
    ? 'Unpack it and join the cards to one file (cat *.vcf > all.vcf); as files of one feed they need kind: delta.'
    : 'Unpack it and drop the files you want; each may need a folder or a mapping of its own.';
  return fileError('zipSeveral', message, { file: name, fileCount: entries.length }, hint);
}
