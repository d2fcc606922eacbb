/**
 * Which encoding a file is in, decided before its first row: by its BOM, by the NUL pattern of UTF-16, else by a first
 * pass over all bytes that asks whether they are UTF-8. What is not UTF-8 is taken for Windows-1252, with a note.
 */

import { isUtf8 } from 'node:buffer';
import type { PatchbayError } from '#src/errors.ts';
import { fileError } from '#src/sources/file-error.ts';
import { contentError } from '#src/sources/file-format.ts';
import { checkEncoding } from './read-options.ts';

export interface DetectedEncoding {
  /** A label that `TextDecoder` knows: `utf-8`, `utf-16le`, `utf-16be`, `windows-1252`… */
  readonly label: string;
  /** The first line that is not UTF-8, where Windows-1252 was assumed because of it; else null. */
  readonly assumedFromLine: number | null;
}

/** Gives the file's unpacked bytes from the beginning, each time it is called. */
export type ReadBytes = () => AsyncIterable<Buffer>;

const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * `wanted` overrides all detection and makes it strict: bytes that are not UTF-8 are then refused.
 * Throws `encodingInvalid` and `formatUnknown` (file), `encodingUnknown` (usage).
 */
export async function detectEncoding(read: ReadBytes, name: string, wanted?: string): Promise<DetectedEncoding> {
  const label = wanted === undefined ? null : checkEncoding(wanted);
  const start = await firstBytes(read);
  const wide = label === null ? (bomLabel(start) ?? nulPatternLabel(start)) : null;
  if (wide !== null && wide !== 'utf-8') return { label: wide, assumedFromLine: null };
  const contradiction = contentError(start, name);
  if (contradiction !== null) throw contradiction;
  if (label !== null && label !== 'utf-8') return { label, assumedFromLine: null };
  const badLine = await firstLineNotUtf8(read);
  if (badLine === null) return { label: 'utf-8', assumedFromLine: null };
  if (label !== null || wide === 'utf-8') throw notUtf8(name, badLine);
  return { label: 'windows-1252', assumedFromLine: badLine };
}

function notUtf8(name: string, line: number): PatchbayError {
  const hint = 'Save the file as UTF-8, or name its encoding with --encoding windows-1252.';
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
    if (!isUtf8(piece.subarray(0, cut))) return lineOfBadByte(read, checkedBytes, piece);
    checkedBytes += cut;
    carry = piece.subarray(cut);
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
