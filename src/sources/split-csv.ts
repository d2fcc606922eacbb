/**
 * CSV to records: where each one begins and ends, and on which physical line.
 *
 * Terms: a *record* is one row of the table and may span several physical lines inside quotes; a *field* is quoted when
 * its first character is a quote. CRLF, LF and CR each end a line, in any mixture.
 *
 * There are two ways that come to the same records. The *splitter* takes text and knows every rule. The *cutter* takes UTF-8, and
 * only what leaves no question: bare fields, and quoted ones with a delimiter or a line end right behind the closing quote. It
 * decodes nothing, so that a record which is known by its hash costs no more than a look at its bytes. From the first record that
 * it does not take, the splitter goes on to the end of the file.
 *
 * Invariants: the records are the same however the file is cut into chunks. Of an unfinished record never more than `recordBytesMax`
 * is in memory, so a quote that is never closed is found after that length and not at the end of the file.
 */
import { fileError, type PatchbayError } from '#src/errors.ts';
import { groupOf, type RecordGroup } from './record-group.ts';
import { type HashWords, hashBytes, viewOf } from './record-hash.ts';
import { isLongerThan } from './row.ts';

export interface CsvRecord {
  /** Without the line end that closed it. */
  readonly text: string;
  /** The physical line on which it begins, from 1. */
  readonly line: number;
  /** The column (1-based character of the record) of text that follows a closing quote, or 0. */
  readonly strayAt: number;
  /** The text ends in it, without a line end: it may be cut off. */
  readonly isUnclosed?: true;
}

interface CsvSplitter {
  /** Takes the next piece of text; returns the records that it completes. @throws PatchbayError `file` `quoteNeverCloses`, `recordTooLong`. */
  push(text: string): CsvRecord[];
  /** The text has ended; returns the last record, if any. @throws PatchbayError `file` `quoteNeverCloses`, `recordTooLong`. */
  end(): CsvRecord[];
  /** What is behind the last complete record, to be gone on with elsewhere. */
  open(): OpenRecord;
}

interface OpenRecord {
  /** The beginning of the open record; empty where none is. */
  readonly text: string;
  /** The line on which it begins, or the next one does. */
  readonly line: number;
  /** Whether the last character was a CR, so that an LF behind it ends no line. */
  readonly afterReturn: boolean;
}

interface SplitterOptions {
  readonly name: string;
  /** One character. */
  readonly delimiter: string;
  readonly recordBytesMax: number;
}

/** What the splitter begins with, where it does not begin with the file. */
type Beginning = Pick<OpenRecord, 'line' | 'afterReturn'>;

const quote = 0x22;
const lf = 0x0a;
const cr = 0x0d;
const mark = 0xfeff;

/** Where in a field the splitter is: at its start, in bare text, inside quotes, behind a quote inside quotes, or behind white space after that. */
type Place = 'start' | 'bare' | 'quoted' | 'closed' | 'spaced';

export function createCsvSplitter(
  options: SplitterOptions,
  beginning: Beginning = { line: 1, afterReturn: false },
): CsvSplitter {
  const delimiter = options.delimiter.charCodeAt(0);
  let place: Place = 'start';
  /** The beginning of the open record, from earlier chunks. */
  let held = '';
  let { line, afterReturn } = beginning;
  let recordLine = line;
  let quoteLine = 0;
  let strayAt = 0;

  const finishRecord = (text: string, into: CsvRecord[]): void => {
    if (isLongerThan(text, options.recordBytesMax)) throw recordTooLong(options, recordLine);
    // Where files were joined, the mark of a later one begins a record, and would hide that its first cell is quoted.
    const hidesQuote = text.charCodeAt(0) === mark && text.charCodeAt(1) === quote;
    into.push({ text: hidesQuote ? text.slice(1) : text, line: recordLine, strayAt });
    held = '';
    place = 'start';
    strayAt = 0;
  };

  const noteStray = (column: number): void => {
    // Text right behind a quote that closed on a later line: the quote that opened has no partner, and whole rows lie inside.
    if (quoteLine !== line) throw quoteNeverCloses(options, quoteLine);
    if (strayAt === 0) strayAt = column;
    place = 'bare';
  };

  /** Without a quote in sight, line ends alone cut the text. */
  const pushPlain = (text: string): CsvRecord[] => {
    const records: CsvRecord[] = [];
    let start = afterReturn && text.charCodeAt(0) === lf ? 1 : 0;
    let nextLf = text.indexOf('\n', start);
    let nextCr = text.indexOf('\r', start);
    // Each turn passes the end of a line.
    while (nextLf >= 0 || nextCr >= 0) {
      const end = nextCr < 0 || (nextLf >= 0 && nextLf < nextCr) ? nextLf : nextCr;
      finishRecord(held === '' ? text.slice(start, end) : held + text.slice(start, end), records);
      line++;
      recordLine = line;
      start = end === nextCr && text.charCodeAt(end + 1) === lf ? end + 2 : end + 1;
      if (nextLf >= 0 && nextLf < start) nextLf = text.indexOf('\n', start);
      if (nextCr >= 0 && nextCr < start) nextCr = text.indexOf('\r', start);
    }
    if (text !== '') afterReturn = text.charCodeAt(text.length - 1) === cr;
    held += text.slice(start);
    const last = held.charCodeAt(held.length - 1);
    place = held === '' || last === delimiter || (last === mark && held.length === 1) ? 'start' : 'bare';
    return records;
  };

  const push = (text: string): CsvRecord[] => {
    const isPlain = (place === 'start' || place === 'bare') && !text.includes('"');
    const records = isPlain ? pushPlain(text) : pushQuoted(text);
    if (held.length > options.recordBytesMax) {
      throw place === 'quoted' ? quoteNeverCloses(options, quoteLine) : recordTooLong(options, recordLine);
    }
    return records;
  };

  const pushQuoted = (text: string): CsvRecord[] => {
    const records: CsvRecord[] = [];
    let start = 0;
    // Each turn consumes one character of the chunk.
    for (let index = 0; index < text.length; index++) {
      const char = text.charCodeAt(index);
      const secondHalf = char === lf && afterReturn;
      afterReturn = char === cr;
      if (place === 'quoted') {
        if (char === quote) place = 'closed';
        else if (char === cr || (char === lf && !secondHalf)) line++;
        continue;
      }
      if (char === lf || char === cr) {
        if (secondHalf) {
          start = index + 1;
          continue;
        }
        finishRecord(held + text.slice(start, index), records);
        line++;
        recordLine = line;
        start = index + 1;
        continue;
      }
      if (char === delimiter) place = 'start';
      else if (place === 'closed' || place === 'spaced') {
        if (char === quote && place === 'closed') place = 'quoted';
        else if (isSpace(char)) place = 'spaced';
        else noteStray(held.length + index - start + 1);
      } else if (place === 'start') {
        if (char === quote) {
          place = 'quoted';
          quoteLine = line;
        } else if (char !== mark || held.length + index > start) place = 'bare';
      }
    }
    held += text.slice(start);
    return records;
  };

  const end = (): CsvRecord[] => {
    if (place === 'quoted') throw quoteNeverCloses(options, quoteLine);
    const records: CsvRecord[] = [];
    if (held !== '') finishRecord(held, records);
    return records.map((record) => ({ ...record, isUnclosed: true }));
  };

  const open = (): OpenRecord => ({ text: held, line: recordLine, afterReturn });

  return { push, end, open };
}

/** What papaparse, too, accepts between a closing quote and the delimiter. */
function isSpace(char: number): boolean {
  return char === 0x20 || char === 0x09 || char === 0xa0;
}

function quoteNeverCloses(options: SplitterOptions, line: number): PatchbayError {
  const hint = `Close the quote at line ${line}, or write a quote that belongs to the text twice ("").`;
  const message = `${options.name}: quote opened at line ${line} never closes`;
  return fileError('quoteNeverCloses', message, { file: options.name, line }, hint);
}

function recordTooLong(options: SplitterOptions, line: number): PatchbayError {
  const facts = { file: options.name, line, recordBytesMax: options.recordBytesMax };
  const message = `${options.name}, line ${line}: the record is longer than ${options.recordBytesMax} bytes`;
  return fileError('recordTooLong', message, facts, 'Check that the file is a table with one contact per line.');
}

/**
 * Cuts bytes into records from where a splitter stopped, a group for each chunk; the last record of a file without a line end at
 * its end comes from a splitter. A group is gone when the next one is asked for.
 *
 * @param bytes UTF-8; a chunk may be gone when the next one is asked for.
 * @throws PatchbayError `file` `quoteNeverCloses`, `recordTooLong`.
 */
export async function* cutGroups(
  bytes: AsyncGenerator<Buffer>,
  { text, line, afterReturn }: OpenRecord,
  options: SplitterOptions,
): AsyncGenerator<RecordGroup<CsvRecord>> {
  const cutter = new CsvCutter(options, { line, afterReturn });
  let decoder: InstanceType<typeof TextDecoder> | null = null;
  let splitter: CsvSplitter | null = null;
  try {
    if (text !== '') cutter.add(Buffer.from(text));
    // Ends with the bytes.
    for await (const chunk of bytes) {
      if (splitter !== null && decoder !== null) {
        yield groupOf(splitter.push(decoder.decode(chunk, { stream: true })));
        continue;
      }
      cutter.add(chunk);
      yield cutter;
      if (!cutter.isStuck()) continue;
      decoder = new TextDecoder('utf-8', { ignoreBOM: true });
      splitter = createCsvSplitter(options, cutter.place());
      yield groupOf(splitter.push(decoder.decode(cutter.rest(), { stream: true })));
    }
  } finally {
    await bytes.return(undefined);
  }
  splitter ??= createCsvSplitter(options, cutter.place());
  yield groupOf(splitter.push(decoder === null ? cutter.rest().toString() : decoder.decode()));
  yield groupOf(splitter.end());
}

/** The records of the bytes that were added, as far as they are complete and leave no question. */
class CsvCutter implements RecordGroup<CsvRecord> {
  readonly #delimiter: number;
  readonly #recordBytesMax: number;
  /** Its last byte is a line end behind the bytes, which ends each loop over them. */
  #bytes: Buffer = Buffer.of(lf);
  #view = viewOf(this.#bytes);
  #end = 0;
  /** Behind the last complete record. */
  #next = 0;
  #nextLine: number;
  #afterReturn: boolean;
  #isStuck = false;
  readonly #piece: { start: number; end: number; seed: HashWords; into: HashWords };
  line = 0;

  constructor({ delimiter, recordBytesMax }: SplitterOptions, { line, afterReturn }: Beginning) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#recordBytesMax = recordBytesMax;
    this.#nextLine = line;
    this.#afterReturn = afterReturn;
    const none: HashWords = { a: 0, b: 0, c: 0, d: 0 };
    this.#piece = { start: 0, end: 0, seed: none, into: none };
  }

  /** Puts the bytes behind those that are left. */
  add(chunk: Uint8Array): void {
    const left = this.#end - this.#next;
    const needed = left + chunk.length + 1;
    const into = this.#bytes.length >= needed ? this.#bytes : Buffer.allocUnsafe(needed);
    this.#bytes.copy(into, 0, this.#next, this.#end);
    into.set(chunk, left);
    if (into !== this.#bytes) this.#view = viewOf(into);
    this.#bytes = into;
    this.#next = 0;
    this.#end = left + chunk.length;
    into[this.#end] = lf;
  }

  /** Whether the record at hand is one for a splitter. */
  isStuck(): boolean {
    return this.#isStuck;
  }

  place(): Beginning {
    return { line: this.#nextLine, afterReturn: this.#afterReturn };
  }

  /** The bytes behind the last complete record. */
  rest(): Buffer {
    return this.#bytes.subarray(this.#next, this.#end);
  }

  next(): boolean {
    const bytes = this.#bytes;
    const end = this.#end;
    const delimiter = this.#delimiter;
    if (this.#next < end && this.#afterReturn) {
      if (bytes[this.#next] === lf) this.#next++;
      this.#afterReturn = false;
    }
    const start = this.#next;
    let linesInside = 0;
    let at = start;
    if (this.#isStuck || (bytes[at] === 0xef && isMark(bytes, at))) return this.#stick();
    // Each turn passes one field; the last line end is behind the bytes.
    for (;;) {
      let byte = bytes[at] as number;
      if (byte === quote) {
        // Each turn passes one part of the text between quotes, and what is behind it.
        for (;;) {
          byte = bytes[++at] as number;
          while (byte !== quote && at < end) {
            if (byte === lf ? bytes[at - 1] !== cr : byte === cr) linesInside++;
            byte = bytes[++at] as number;
          }
          if (at + 1 >= end) return this.#wait(start);
          byte = bytes[++at] as number;
          if (byte !== quote) break;
        }
        if (byte !== delimiter && byte !== lf && byte !== cr) return this.#stick();
      } else while (byte !== delimiter && byte !== lf && byte !== cr) byte = bytes[++at] as number;
      if (at >= end) return this.#wait(start);
      if (byte !== delimiter) break;
      at++;
    }
    if (at - start > this.#recordBytesMax) return this.#stick();
    this.#piece.start = start;
    this.#piece.end = at;
    this.line = this.#nextLine;
    this.#nextLine += linesInside + 1;
    this.#afterReturn = bytes[at] === cr;
    this.#next = at + 1;
    return true;
  }

  hash(seed: HashWords, into: HashWords): boolean {
    this.#piece.seed = seed;
    this.#piece.into = into;
    return hashBytes(this.#bytes, this.#view, this.#piece);
  }

  take(): CsvRecord {
    const { start, end } = this.#piece;
    return { text: this.#bytes.toString('utf8', start, end), line: this.line, strayAt: 0 };
  }

  #stick(): false {
    this.#isStuck = this.#next < this.#end;
    return false;
  }

  /** The record goes on in the next chunk, if it may. */
  #wait(start: number): false {
    return this.#end - start > this.#recordBytesMax ? this.#stick() : false;
  }
}

function isMark(bytes: Buffer, at: number): boolean {
  return bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;
}
