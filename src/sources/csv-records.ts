/**
 * Decoded CSV text to records, and records to cells.
 *
 * Our splitter is the parser: it cuts the text into complete records and counts their lines. papaparse then splits
 * bounded groups of complete records into cells. Only its inner parser is used, with delimiter and line end given: no
 * guessing, no BOM handling, no renaming of headers, no streaming of its own (docs/bad-inputs.md, "Parsers: known traps").
 *
 * Terms: a *record* is one row of the table and may span several physical lines inside quotes; a *field* is quoted when
 * its first character is a quote. CRLF, LF and CR each end a line, in any mixture.
 *
 * Invariants: the records are the same however the text is cut into chunks. At most one record is held back, and never
 * more of it than `recordBytesMax`, so a quote that is never closed is found after that length and not at the end of the
 * file. Each record becomes one array of cells, in order.
 */
import Papa from 'papaparse';
import { fileError, type PatchbayError } from '#src/errors.ts';
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
const markBeforeQuote = '\ufeff"';
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
    into.push({ text: text.startsWith(markBeforeQuote) ? text.slice(1) : text, line: recordLine, strayAt });
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

  const push = (text: string): CsvRecord[] => {
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
    if (held.length > options.recordBytesMax) {
      throw place === 'quoted' ? quoteNeverCloses(options, quoteLine) : recordTooLong(options, recordLine);
    }
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
