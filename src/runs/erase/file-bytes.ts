/** Files as bytes: without some of their lines, and searched for texts. Of any size, piece by piece. */
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { emptyIfMissing } from '#src/errors.ts';

/** Lines from `first` up to, and without, `next`; counted from 1. */
export interface LineRange {
  readonly first: number;
  readonly next: number;
}

const carriageReturn = 13;
const lineFeed = 10;

/** The bytes of a file without these lines, which are in order. A line ends with LF, CR LF or CR, as for the readers of rows. */
export async function* linesWithout(path: string, ranges: readonly LineRange[]): AsyncGenerator<Uint8Array> {
  let line = 1;
  let next = 0;
  let isAfterReturn = false;
  const isKept = (): boolean => {
    while (next < ranges.length && line >= (ranges[next]?.next ?? 0)) next += 1;
    const range = ranges[next];
    return range === undefined || line < range.first;
  };
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    const kept = Buffer.allocUnsafe(chunk.length);
    let length = 0;
    let keeps = isKept();
    for (const byte of chunk) {
      // The line feed of a pair belongs to the line that the carriage return has ended.
      if (isAfterReturn && byte !== lineFeed) {
        line += 1;
        keeps = isKept();
      }
      isAfterReturn = false;
      if (keeps) kept[length++] = byte;
      if (byte === carriageReturn) isAfterReturn = true;
      else if (byte === lineFeed) {
        line += 1;
        keeps = isKept();
      }
    }
    if (length > 0) yield kept.subarray(0, length);
  }
}

/** Whether one of the texts is in the file, in UTF-8, UTF-16 or Latin-1. */
export async function holdsText(path: string, texts: readonly string[]): Promise<boolean> {
  const wanted = texts.flatMap((text) => [
    Buffer.from(text, 'utf8'),
    Buffer.from(text, 'utf16le'),
    Buffer.from(text, 'utf16le').swap16(),
    Buffer.from(text, 'latin1'),
  ]);
  const overlap = Math.max(0, ...wanted.map(({ length }) => length - 1));
  let before: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([before, chunk]);
    if (wanted.some((one) => bytes.includes(one))) return true;
    before = bytes.subarray(Math.max(0, bytes.length - overlap));
  }
  return false;
}

/** The files below a folder that hold one of the texts. @param leavesOut by their names. */
export async function filesHolding(
  folder: string,
  texts: readonly string[],
  leavesOut: (name: string) => boolean,
): Promise<readonly string[]> {
  if (texts.length === 0) return [];
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(emptyIfMissing)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await filesHolding(path, texts, leavesOut)));
    else if (entry.isFile() && !leavesOut(entry.name) && (await holdsText(path, texts))) found.push(path);
  }
  return found.toSorted();
}
