/**
 * CSV: decoded text to records, records to cells, and these to the rows of a table.
 *
 * Our splitter is the parser: it cuts the text into complete records and counts their lines. papaparse then splits
 * bounded groups of complete records into cells. Only its inner parser is used, with delimiter and line end given: no
 * guessing, no BOM handling, no renaming of headers, no streaming of its own (docs/bad-inputs.md, "Parsers: known traps").
 *
 * Terms: a *record* is one row of the table and may span several physical lines inside quotes; a *field* is quoted when
 * its first character is a quote. CRLF, LF and CR each end a line, in any mixture.
 *
 * Invariants: the records are the same however the text is cut into chunks. At most one chunk of text, one slice of rows and one
 * unfinished record are in memory, and never more of that record than `recordBytesMax`, so a quote that is never closed is found
 * after that length and not at the end of the file. Each record becomes one array of cells, in order.
 */
import Papa from 'papaparse';
import type { Problem } from '#src/contacts/outcome.ts';
import { fileError, PatchbayError } from '#src/errors.ts';
import { type PeekedText, peekText } from './decode.ts';
import { createTally, type FormatReader, type HeaderRule, headerLineMax } from './format-reader.ts';
import { readTable, type TableFormat, type TableOptions } from './read-table.ts';
import { isLongerThan, shownValue } from './row.ts';

interface CsvOptions extends TableOptions {
  /** One character; without it the delimiter is detected. */
  readonly delimiter: string | null;
}

/** Enough of the file to detect its delimiter. */
const headChars = 64 * 1024;

/** @throws PatchbayError `file` `quoteNeverCloses`, `recordTooLong`, and as read-table.ts does; `usage` `delimiterInvalid`. */
export async function readCsv(chunks: AsyncGenerator<string>, options: CsvOptions): Promise<FormatReader> {
  const text = await peekText(chunks, (head) => head.length >= headChars);
  const { delimiter, separatorLine } = chooseDelimiter(text, options);
  const tally = createTally(options.name, options.limits.rowsMax);
  const records = recordsOf(text.all(), delimiter, options);
  const table = await readTable(records, csvFormat(delimiter, separatorLine), options, tally);
  const { columns, meaning = null, slices, tail } = table;
  return { head: { format: 'csv', columns, delimiter }, meaning, slices, tail };
}

function chooseDelimiter(text: PeekedText, options: CsvOptions) {
  const separator = /^sep=(.)[ \t]*(?=\r|\n|$)/i.exec(text.head);
  const separatorLine = separator !== null;
  if (options.delimiter !== null) {
    checkDelimiter(options.delimiter);
    return { delimiter: options.delimiter, separatorLine };
  }
  const named = separator?.[1];
  if (named !== undefined && named !== '"') return { delimiter: named, separatorLine };
  return { delimiter: detectDelimiter({ head: text.head, whole: text.whole, header: options.header }), separatorLine };
}

/** Ends with the text. */
async function* recordsOf(text: AsyncGenerator<string>, delimiter: string, options: CsvOptions) {
  const { name, limits } = options;
  const splitter = createCsvSplitter({ name, delimiter, recordBytesMax: limits.recordBytesMax });
  for await (const chunk of text) yield splitter.push(chunk);
  yield splitter.end();
}

function csvFormat(delimiter: string, separatorLine: boolean): TableFormat<CsvRecord> {
  return {
    delimiter,
    isOpen: false,
    isBlank: ({ text }) => isBlank(text, delimiter),
    isDirective: ({ line }) => separatorLine && line === 1,
    cellsOf: (records) => parseRecords(records, delimiter),
    flawOf: (record) => (record.strayAt > 0 ? strayQuote(record) : null),
  };
}

/** Ends a file of old programs (Ctrl-Z). */
const endMark = '\u001a';

/** Blank: nothing but white space and delimiters, as spreadsheets leave behind. */
function isBlank(text: string, delimiter: string): boolean {
  if (text === endMark) return true;
  for (const char of text) if (char !== delimiter && char.trim() !== '') return false;
  return true;
}

function strayQuote(record: CsvRecord): Problem {
  return {
    code: 'strayQuote',
    line: record.line,
    field: null,
    value: shownValue(record.text),
    message: `text follows a closing quote at character ${record.strayAt}`,
    hint: 'Write a quote that belongs to the text twice ("").',
  };
}

// The delimiter: it is the one under which the lines make the most regular table, quotes respected. Where it is known
// what the header holds, only delimiters count under which some line is a header. Header names are never keys of an
// object here, so a column called `__proto__` is a column like any other.

/** In order of preference where two fit equally well. */
export const detectedDelimiters: readonly string[] = [',', ';', '\t', '|'];
const recordsLookedAtMax = 200;
/** Small pieces, so that the records before a broken one are known. */
const pieceChars = 512;

/** @throws PatchbayError `usage` `delimiterInvalid`. */
export function checkDelimiter(delimiter: string): void {
  if (delimiter.length === 1 && !/["\r\n\ufeff]/.test(delimiter)) return;
  const hint = 'Usual ones are , ; | and a tab.';
  const message = `the delimiter must be one character, not ${JSON.stringify(delimiter)}`;
  throw new PatchbayError('usage', 'delimiterInvalid', message, { hint });
}

interface DelimiterQuestion {
  /** The beginning of the file, without a `sep=` line. */
  readonly head: string;
  /** Whether `head` is the whole file: its last line is then complete. */
  readonly whole: boolean;
  /** Null where any line may be the header. */
  readonly header: HeaderRule | null;
}

/** A comma where the text shows none. */
export function detectDelimiter(question: DelimiterQuestion): string {
  let best = { delimiter: ',', score: 0 };
  for (const delimiter of detectedDelimiters) {
    const score = regularity(tableUnder(delimiter, question), question.header);
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

interface TableLine {
  readonly line: number;
  readonly cells: readonly string[];
}

function tableUnder(delimiter: string, question: DelimiterQuestion): TableLine[] {
  const records = recordsUnder(delimiter, question).filter((record) => record.text.trim() !== '');
  const looked = records.slice(0, recordsLookedAtMax);
  return parseRecords(looked, delimiter).map((cells, index) => ({ line: looked[index]?.line ?? 0, cells }));
}

/** Where the quotes do not close, the records before that; the reader reports what is wrong. */
function recordsUnder(delimiter: string, { head, whole }: DelimiterQuestion): CsvRecord[] {
  const splitter = createCsvSplitter({ name: '', delimiter, recordBytesMax: head.length * 3 + 1 });
  const records: CsvRecord[] = [];
  try {
    for (let start = 0; start < head.length && records.length < recordsLookedAtMax; start += pieceChars) {
      records.push(...splitter.push(head.slice(start, start + pieceChars)));
    }
    if (whole && records.length < recordsLookedAtMax) records.push(...splitter.end());
  } catch (error) {
    if (!(error instanceof PatchbayError)) throw error;
  }
  return records;
}

/** The share of lines that have the commonest number of cells; a known header counts far more than any share. */
function regularity(table: readonly TableLine[], rule: HeaderRule | null): number {
  const header = table.find(({ line, cells }) => line <= headerLineMax && rule?.isHeader(cells) === true);
  const known = header === undefined ? 0 : 10 + Math.min(header.cells.length, 500) / 100;
  const countByWidth = new Map<number, number>();
  for (const { cells } of table) {
    if (cells.length > 1) countByWidth.set(cells.length, (countByWidth.get(cells.length) ?? 0) + 1);
  }
  const [width, count] = [...countByWidth].reduce((most, next) => (next[1] > most[1] ? next : most), [0, 0]);
  if (table.length === 0 || count === 0) return known;
  // Where the first line has another width than most lines, the delimiter is probably part of the text inside cells.
  const firstFits = header === undefined && table[0]?.cells.length !== width ? 0.5 : 1;
  return known + (count / table.length) * firstFits + Math.min(width, 500) / 100_000;
}

// Text to records, and records to cells.

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
}

interface SplitterOptions {
  readonly name: string;
  /** One character. */
  readonly delimiter: string;
  readonly recordBytesMax: number;
}

const quote = 0x22;
const lf = 0x0a;
const cr = 0x0d;
const mark = 0xfeff;

/** Where in a field the splitter is: at its start, in bare text, inside quotes, behind a quote inside quotes, or behind white space after that. */
type Place = 'start' | 'bare' | 'quoted' | 'closed' | 'spaced';

export function createCsvSplitter(options: SplitterOptions): CsvSplitter {
  const delimiter = options.delimiter.charCodeAt(0);
  let place: Place = 'start';
  /** The beginning of the open record, from earlier chunks. */
  let held = '';
  let line = 1;
  let recordLine = 1;
  let quoteLine = 0;
  let strayAt = 0;
  let afterReturn = false;

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

  return { push, end };
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

/** Splits each record into its cells. A record with stray text behind a quote is parsed alone, so that it cannot damage others. */
export function parseRecords(records: readonly CsvRecord[], delimiter: string): string[][] {
  if (records.every((record) => record.strayAt === 0)) {
    const rows = parseText(
      records.map((record) => record.text),
      delimiter,
    );
    if (rows.length === records.length) return rows;
  }
  return records.map((record) => {
    const rows = parseText([record.text], delimiter);
    return rows.length === 1 && rows[0] ? rows[0] : [record.text];
  });
}

/** The records no longer hold the line ends between them; they are joined by line feeds. */
function parseText(texts: readonly string[], delimiter: string): string[][] {
  const parser = new Papa.Parser({ delimiter, newline: '\n', quoteChar: '"' });
  const result: { data: string[][] } = parser.parse(`${texts.join('\n')}\n`, 0, false);
  // Behind the last line feed the parser finds one more record, which is empty.
  return result.data.slice(0, -1);
}
