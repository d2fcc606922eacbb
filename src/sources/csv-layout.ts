/**
 * How a CSV file is laid out: its delimiter and its header line.
 *
 * The delimiter is the one under which the lines make the most regular table, quotes respected. Where it is known
 * what the header holds, only delimiters count under which some line is a header. Header names are never keys of an
 * object here, so a column called `__proto__` is a column like any other.
 */
import { fileError, PatchbayError } from '#src/errors.ts';
import { type CsvRecord, createCsvSplitter, parseRecords } from './csv-records.ts';
import type { HeaderRule } from './format-reader.ts';
import { listNames } from './row.ts';

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

/** The header is looked for in this many physical lines (docs/bad-inputs.md, "preamble"). */
export const headerLineMax = 20;

export interface Header {
  /** As the file holds them, without empty names at the end. */
  readonly columns: readonly string[];
  /** With the empty names at the end: a row may have this many cells. */
  readonly width: number;
  readonly line: number;
}

/** A name may occur twice: the mapping decides whether that matters. @throws PatchbayError `file` `tooManyColumns`. */
export function headerOf(cells: readonly string[], line: number, name: string, columnsMax: number): Header {
  let end = cells.length;
  while (end > 0 && (cells[end - 1] ?? '').trim() === '') end--;
  const columns = cells.slice(0, end);
  if (columns.length > columnsMax) throw tooManyColumns(name, line, columns.length, columnsMax);
  return { columns, width: cells.length, line };
}

export function tooManyColumns(name: string, line: number, count: number, columnsMax: number): PatchbayError {
  const message = `${name}, line ${line}: ${count} columns, at most ${columnsMax} are read`;
  const hint = 'Export fewer columns; if the file has fewer, its delimiter was taken for another.';
  return fileError('tooManyColumns', message, { file: name, line, columnCount: count, columnsMax }, hint);
}

/** `found` are the cells of that line. */
export function headerMissing(
  name: string,
  line: number,
  found: readonly string[],
  { wanted, hint }: HeaderRule,
  delimiter: string | null,
): PatchbayError {
  const named = found.filter((column) => column.trim() !== '');
  const shown = named.length === 0 ? 'nothing' : listNames(named);
  const message = `${name}: no ${wanted} in the first ${headerLineMax} lines; line ${line} holds: ${shown}`;
  const facts = { file: name, line, delimiter, found: namesShort(named), columnCount: found.length };
  return fileError('keyColumnMissing', message, facts, hint);
}

/** For scripts, beside the number of columns. */
function namesShort(columns: readonly string[]): string {
  const tidy = columns.slice(0, 20).map((column) => column.replace(/\p{Cc}+/gu, ' ').trim());
  return tidy.join(', ').slice(0, 500);
}
