/**
 * Bytes to text: which encoding a file is in, and its text as a stream. Nothing behind this point sees a byte, so no
 * character is torn at a chunk border (docs/bad-inputs.md, "Parsers: known traps").
 *
 * The encoding is decided before the first row: by a BOM, by the NUL pattern of UTF-16, else by a first pass over all
 * bytes that checks whether they are UTF-8. Bytes that are not UTF-8 are read as Windows-1252 or, where that clearly fits
 * better, as Mac Roman, with a warning. Text in which two bytes are a character is refused until its encoding is named.
 *
 * Invariant: the text is the same wherever the bytes are cut.
 */
import { isUtf8 } from 'node:buffer';
import { fileError, PatchbayError } from '#src/errors.ts';
import { type CodePage, chooseCodePage, createWordCollector, type WordCollector } from './code-page.ts';
import {
  createLineCollector,
  type DoubleByteLabel,
  doubleByteEncodings,
  doubleByteWords,
  type LineCollector,
} from './double-byte.ts';
import { contentError } from './file-name.ts';
import { looksLikeVcf } from './vcard/cards.ts';
import { isZip } from './zip-archive.ts';

export interface DetectedEncoding {
  /** A label that `TextDecoder` knows: `utf-8`, `utf-16le`, `utf-16be`, `windows-1252`… */
  readonly label: string;
  /** The first line that is not UTF-8, where another encoding was assumed because of it; else null. */
  readonly assumedFromLine: number | null;
  /** A word that looks wrong in the assumed encoding. */
  readonly doubt?: CodePage['doubt'];
  readonly isMostlyUtf8?: boolean;
}

/** Gives the file's unpacked bytes from the beginning, each time it is called. A chunk may be gone when the next one is asked for. */
type ReadBytes = () => AsyncIterable<Buffer>;

/** A large file shows what it is in fewer. */
const wordsLookedForBytes = 64 * 1024 * 1024;

const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * `wanted` overrides all detection and makes it strict: bytes that are not UTF-8 are then refused. `otherwise` is what bytes that are not
 * UTF-8 are in; without it that is assumed.
 * @throws PatchbayError `file` `encodingInvalid`, `encodingUnclear`, `formatUnknown`; `usage` `encodingUnknown`.
 */
export async function detectEncoding(
  read: ReadBytes,
  name: string,
  wanted?: string,
  otherwise?: string,
): Promise<DetectedEncoding> {
  const label = wanted === undefined ? null : checkEncoding(wanted);
  const start = await firstBytes(read);
  if (label === null && isUtf32(start)) throw utf32Text(name);
  const wide = label === null ? (bomLabel(start) ?? nulPatternLabel(start)) : null;
  if (wide !== null && wide !== 'utf-8') return { label: wide, assumedFromLine: null };
  if (isZip(start)) throw packedInside(name);
  const contradiction = contentError(start, name);
  if (contradiction !== null) throw contradiction;
  if (label !== null && label !== 'utf-8') return { label, assumedFromLine: null };
  const badLine = await firstLineNotUtf8(read);
  if (badLine === null) return { label: 'utf-8', assumedFromLine: null };
  const named = otherwise === undefined ? null : checkEncoding(otherwise);
  if (bomLabel(start) === 'utf-8') throw notUtf8(name, badLine, 'mark');
  if (label !== null) throw notUtf8(name, badLine, 'option');
  if (named === 'utf-8') throw notUtf8(name, badLine, 'mapping');
  if (named !== null) return { label: named, assumedFromLine: null };
  const { words: collector, lines } = await foreignWords(read);
  const { label: assumed, doubt, isKnown } = chooseCodePage(collector.words());
  // A card may name its encoding itself.
  if (!isKnown && !collector.isMostlyUtf8() && !looksLikeVcf(start.toString('latin1'))) {
    const likely = doubleByteEncodings(lines.lines());
    if (likely.length > 0) throw doubleByteText(name, badLine, likely);
  }
  return { label: assumed, assumedFromLine: badLine, doubt, isMostlyUtf8: collector.isMostlyUtf8() };
}

interface Foreign {
  readonly words: WordCollector;
  readonly lines: LineCollector;
}

/** Reads from the beginning until there are enough words, or no more bytes. */
async function foreignWords(read: ReadBytes): Promise<Foreign> {
  const [words, lines] = [createWordCollector(), createLineCollector()];
  let byteCount = 0;
  for await (const chunk of read()) {
    byteCount += chunk.length;
    lines.add(chunk);
    if (words.add(chunk) || byteCount > wordsLookedForBytes) break;
  }
  return { words, lines };
}

/** Read as anything else, its names would be nonsense; which of several encodings it is, a person sees. */
function doubleByteText(name: string, line: number, [first, ...others]: readonly DoubleByteLabel[]): PatchbayError {
  const label = first as DoubleByteLabel;
  const or = others.map((other) => ` or ${doubleByteWords[other]}`).join('');
  const message = `${name} is not UTF-8 (first at line ${line}); it is most likely ${doubleByteWords[label]}${or}`;
  const choice =
    others.length === 0
      ? `Say so with --encoding ${label}`
      : `Say which with --encoding ${[label, ...others].join(' or --encoding ')} (patchbay map shows its names)`;
  const hint = `${choice}; for files that are dropped, write encoding: ${label} into the mapping of their feed. Or save it as UTF-8.`;
  return fileError('encodingUnclear', message, { file: name, line, encoding: label }, hint);
}

/** `openSource` reads archives by themselves; here one is inside a gzip file or another archive. */
function packedInside(name: string): PatchbayError {
  const message = `${name} holds an Excel workbook or another archive, not text`;
  return fileError('formatUnknown', message, { file: name }, 'Unpack it and drop what is inside.');
}

/** What says that a file is UTF-8, and is to be changed where it is wrong. */
const utf8Hints = {
  // In another encoding the mark is part of the first column's name.
  mark: 'The file begins with the mark of UTF-8: correct the line, or export the file again.',
  option: 'Save the file as UTF-8, or name its encoding (--encoding windows-1252); without --encoding it is detected.',
  mapping:
    'Save the file as UTF-8, or name its encoding in its mapping (encoding: windows-1252); where that names none, it is detected. For one import: --encoding windows-1252',
} as const;

function notUtf8(name: string, line: number, saidBy: keyof typeof utf8Hints): PatchbayError {
  const hint = utf8Hints[saidBy];
  return fileError('encodingInvalid', `${name}, line ${line}: not valid UTF-8`, { file: name, line }, hint);
}

async function firstBytes(read: ReadBytes): Promise<Buffer> {
  let start: Buffer = Buffer.alloc(0);
  // Ends with the file, or as soon as there is enough to see a pattern.
  for await (const chunk of read()) {
    start = Buffer.concat([start, chunk]);
    if (start.length >= 4096) break;
  }
  return start.subarray(0, 4096);
}

function bomLabel(start: Buffer): string | null {
  if (start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf) return 'utf-8';
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be';
  return null;
}

/** Each four bytes are a character that text may hold. The mark of UTF-32LE begins as that of UTF-16LE does. */
function isUtf32(start: Buffer): boolean {
  const count = Math.floor(start.length / 4);
  const areCharacters = (read: (index: number) => number): boolean =>
    Array.from({ length: count }, (_, index) => read(index * 4)).every(
      (code) => (code >= 0x20 && code <= 0x10ffff) || code === 0x09 || code === 0x0a || code === 0x0d,
    );
  return count > 1 && (areCharacters((at) => start.readUInt32LE(at)) || areCharacters((at) => start.readUInt32BE(at)));
}

/** Hardly any program reads it: it was chosen by mistake. */
function utf32Text(name: string): PatchbayError {
  const hint = 'Choose UTF-8 where it is saved or exported.';
  return fileError('formatUnknown', `${name} is text in UTF-32, which cannot be read`, { file: name }, hint);
}

/** ASCII in UTF-16 has a NUL at every second place, and next to none at the others. */
function nulPatternLabel(start: Buffer): string | null {
  let evenCount = 0;
  let oddCount = 0;
  for (let index = 0; index < start.length; index++) {
    if (start[index] !== 0) continue;
    if (index % 2 === 0) evenCount++;
    else oddCount++;
  }
  const enough = Math.max(2, start.length * 0.3);
  if (oddCount >= enough && evenCount * 10 <= oddCount) return 'utf-16le';
  if (evenCount >= enough && oddCount * 10 <= evenCount) return 'utf-16be';
  return null;
}

/** The first pass. Whole chunks are checked by native code; lines are counted only when something is wrong. */
async function firstLineNotUtf8(read: ReadBytes): Promise<number | null> {
  let carry: Buffer = Buffer.alloc(0);
  let checkedBytes = 0;
  for await (const chunk of read()) {
    const piece = carry.length === 0 ? chunk : Buffer.concat([carry, chunk]);
    const cut = piece.length - unfinishedBytes(piece);
    if (!isUtf8(piece.subarray(0, cut))) return lineOfBadByte(read, checkedBytes, Buffer.from(piece));
    checkedBytes += cut;
    carry = Buffer.from(piece.subarray(cut));
  }
  return carry.length === 0 ? null : lineOfBadByte(read, checkedBytes, carry);
}

/** How many bytes at the end begin a character that may go on in the next chunk: 0 to 3. */
function unfinishedBytes(piece: Buffer): number {
  for (let back = 1; back <= Math.min(3, piece.length); back++) {
    const byte = piece[piece.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}

/** Reads again up to the piece that is wrong, counts lines, then goes through that piece line by line. */
async function lineOfBadByte(read: ReadBytes, goodBytes: number, piece: Buffer): Promise<number> {
  const lines = createLineCounter();
  let left = goodBytes;
  for await (const chunk of read()) {
    if (left <= 0) break;
    lines.add(chunk.subarray(0, left));
    left -= chunk.length;
  }
  let start = 0;
  while (start < piece.length) {
    const at = piece.indexOf(newline, start);
    const end = at < 0 ? piece.length : at + 1;
    if (!isUtf8(piece.subarray(start, end))) {
      // Old Mac files have carriage returns only: go on to the bad byte itself.
      lines.add(piece.subarray(start, firstBadIndex(piece, start, end)));
      return lines.line();
    }
    lines.add(piece.subarray(start, end));
    start = end;
  }
  return lines.line();
}

/** The longest good prefix, found by halving. */
function firstBadIndex(piece: Buffer, start: number, end: number): number {
  let good = start;
  let bad = end;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    const cut = middle - unfinishedBytes(piece.subarray(start, middle));
    if (isUtf8(piece.subarray(start, cut))) good = middle;
    else bad = middle;
  }
  return good;
}

/** Counts LF, CR and CRLF as one line end each, over chunks. */
function createLineCounter(): { add(bytes: Uint8Array): void; line(): number } {
  let line = 1;
  let afterReturn = false;
  return {
    add: (bytes) => {
      for (const byte of bytes) {
        if (byte === carriageReturn || (byte === newline && !afterReturn)) line++;
        afterReturn = byte === carriageReturn;
      }
    },
    line: () => line,
  };
}

/**
 * @returns the name under which the decoder knows it.
 * @throws PatchbayError `usage` `encodingUnknown`.
 */
export function checkEncoding(wanted: string): string {
  try {
    return new TextDecoder(wanted).encoding;
  } catch (error) {
    const hint = 'Known ones are utf-8, utf-16le, utf-16be, windows-1252, macintosh, iso-8859-15 and so on.';
    throw new PatchbayError('usage', 'encodingUnknown', `no encoding is called ${wanted}`, { hint, cause: error });
  }
}

/** Removes one BOM. @throws PatchbayError `file` `encodingInvalid` where the bytes are not in that encoding. */
export async function* decodeText(
  bytes: AsyncIterable<Uint8Array>,
  label: string,
  name: string,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(label, { fatal: true });
  let byteCount = 0;
  const decode = (chunk: Uint8Array | null): string => {
    try {
      return chunk === null ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch (error) {
      const hint =
        'Name its true encoding with --encoding or in its mapping (encoding); or save it as UTF-8, and name none.';
      const message = `${name} is not valid ${label} (after byte ${byteCount})`;
      throw fileError('encodingInvalid', message, { file: name, encoding: label, byteOffset: byteCount }, hint, error);
    }
  };
  for await (const chunk of bytes) {
    const text = decode(chunk);
    byteCount += chunk.length;
    if (text !== '') yield text;
  }
  const last = decode(null);
  if (last !== '') yield last;
}

/** The text of a file, whose rest can be taken as bytes. */
export interface DecodedText {
  readonly text: AsyncGenerator<string>;
  /**
   * The bytes behind the text that was taken so far; that text is complete, a character that it cut comes here. Ends `text`. Null
   * where the bytes are not UTF-8. A chunk may be gone when the next one is asked for. Only behind the first piece of text: a BOM is
   * in front of it.
   */
  readonly rest: (() => AsyncGenerator<Buffer>) | null;
}

/** Without the Ctrl-Z that ends a file of old programs. Its text throws as `decodeText`. Returning `text` early gives the bytes back. */
export function decodedText(bytes: AsyncIterable<Buffer>, label: string, name: string): DecodedText {
  const chunks = withoutEndMark(bytes, endMarks.get(label) ?? oneByteEndMark);
  let torn: Buffer = Buffer.alloc(0);
  const noted = async function* (): AsyncGenerator<Buffer> {
    try {
      // Ends with the bytes.
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
        torn = tornEnd(torn, next.value);
        yield next.value;
      }
    } finally {
      await chunks.return?.(undefined);
    }
  };
  const rest = async function* (): AsyncGenerator<Buffer> {
    if (torn.length > 0) yield torn;
    // Ends with the bytes.
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  };
  return { text: decodeText(noted(), label, name), rest: label === 'utf-8' ? rest : null };
}

const oneByteEndMark = Buffer.of(0x1a);
const endMarks: ReadonlyMap<string, Buffer> = new Map([
  ['utf-16le', Buffer.of(0x1a, 0)],
  ['utf-16be', Buffer.of(0, 0x1a)],
]);

/** Keeps back what may be the mark until more bytes come. */
async function* withoutEndMark(bytes: AsyncIterable<Buffer>, mark: Buffer): AsyncGenerator<Buffer, undefined> {
  let keptCount = 0;
  for await (const chunk of bytes) {
    const all = keptCount === 0 ? chunk : Buffer.concat([mark.subarray(0, keptCount), chunk]);
    keptCount = mark.length;
    // Ends at 0: all text ends with none of the mark.
    while (!all.subarray(-keptCount || all.length).equals(mark.subarray(0, keptCount))) keptCount--;
    if (all.length > keptCount) yield all.subarray(0, all.length - keptCount);
  }
  if (keptCount > 0 && keptCount < mark.length) yield mark.subarray(0, keptCount);
}

/** What begins a character at the end of the bytes, and goes on in the next chunk. @param before that of the chunk before. */
function tornEnd(before: Buffer, chunk: Buffer): Buffer {
  const end = chunk.length >= tornBytesMax ? chunk.subarray(-tornBytesMax) : Buffer.concat([before, chunk]);
  return Buffer.from(end.subarray(end.length - unfinishedBytes(end)));
}

/** A character of four bytes, but for the last one. */
const tornBytesMax = 3;

/** A text stream whose beginning was looked at and not lost. */
export interface PeekedText {
  /** The beginning that was read. */
  readonly head: string;
  /** Whether `head` is the whole text. */
  readonly whole: boolean;
  /** All of the text, `head` first. May be taken once. */
  all(): AsyncGenerator<string>;
}

/** Reads until `isEnough` or the text ends. `isEnough` bounds the memory: it must be true from some length on. */
export async function peekText(
  chunks: AsyncGenerator<string>,
  isEnough: (head: string) => boolean,
): Promise<PeekedText> {
  let head = '';
  let whole = false;
  while (!isEnough(head)) {
    const next = await chunks.next();
    if (next.done) {
      whole = true;
      break;
    }
    head += next.value;
  }
  return { head, whole, all: () => followOn(head, chunks) };
}

async function* followOn(head: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    if (head !== '') yield head;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}
