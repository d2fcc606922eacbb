/**
 * What the readers of all formats share: the interface that `openSource` uses, the limits, the counts and warnings that become
 * the tail, and what is true of every header.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { fileError, type PatchbayError } from '#src/errors.ts';
import { columnLetters } from './column-name.ts';
import type { HashWords } from './record-hash.ts';
import { listNames, type SourceHead, type SourceItem, type SourceTail } from './row.ts';

/** So few that most of what a slice is made into is garbage before V8 looks at it twice: 500 took half as long again. */
export const itemsPerSliceMax = 100;

/** What is remembered of records by their text: a record that is known is counted, and its cells are not read. */
export interface RecordLook {
  /** What the texts are hashed with: all that decides what they mean. */
  readonly seed: HashWords;
  /** Whether the hashes of rows that must be read are given with them. */
  readonly keepsHashes?: boolean;
  /** Where the memory has the record with this hash; -1 where it must be read. */
  find(hash: HashWords, line: number): number;
  /** Takes a known record, in the order of the file, before the slice is given that it belongs to. */
  meet(place: number, line: number): void;
}

export interface FormatReader {
  readonly head: Omit<SourceHead, 'encoding'>;
  /**
   * All that decides, besides its text, what a record is: two records with equal texts and equal meanings are equal rows. Null or
   * absent where records have no text by which they could be known.
   */
  readonly meaning?: string | null;
  /** Can be read once. A slice holds 1 to `itemsPerSliceMax` items, or none where a look knows all its records. */
  slices(look?: RecordLook | null): AsyncGenerator<readonly SourceItem[]>;
  /** Valid after the last slice. */
  tail(): SourceTail;
}

/**
 * How large a dropped file and its parts may be. A file beyond a limit is refused, never half read.
 *
 * Source of the figures: docs/bad-inputs.md, "CSV" and "JSON, NDJSON, gzip".
 */
export interface SourceLimits {
  /** One cell or JSON string, in UTF-8 bytes. Beyond it the row is broken. */
  readonly cellBytesMax: number;
  /** One CSV record, JSON record or NDJSON line, in UTF-8 bytes. Beyond it the file is refused. */
  readonly recordBytesMax: number;
  /** Cells of one CSV record. */
  readonly columnsMax: number;
  /** The file after unpacking, in bytes. */
  readonly unpackedBytesMax: number;
  /** The shared texts of a workbook with their places, which are in memory while a sheet is read. */
  readonly sharedTextBytesMax: number;
  /** Unpacked bytes per packed byte of a gzip file, or of a file in an archive. */
  readonly gzipRatioMax: number;
  /** Below this many unpacked bytes the ratio is not checked: small repetitive files pack well. */
  readonly gzipRatioFloorBytes: number;
  /** Lists and objects inside each other in a JSON file, its root included. */
  readonly jsonDepthMax: number;
  readonly rowsMax: number;
}

export const defaultSourceLimits: SourceLimits = {
  cellBytesMax: 64 * 1024,
  recordBytesMax: 1024 * 1024,
  columnsMax: 500,
  unpackedBytesMax: 2 * 1024 ** 3,
  sharedTextBytesMax: 192 * 1024 * 1024,
  gzipRatioMax: 200,
  gzipRatioFloorBytes: 8 * 1024 * 1024,
  jsonDepthMax: 32,
  rowsMax: 5_000_000,
};

/**
 * How the header of a table is known among its first 20 lines. In JSON, the same rule tells whether an object that is the
 * whole file is a contact.
 */
export interface HeaderRule {
  /**
   * @param cells of one line of a table, or the names of an object's members.
   * @param first while the header of a table is searched: the first line that is not blank, if it is above this one.
   */
  isHeader(cells: readonly string[], first?: readonly string[]): boolean;
  /** Whether a column of that name holds the key, or a part of it. Without it, the first name that alone makes a header. */
  isKey?(name: string): boolean;
  /** Whether a column of that name holds one of several texts that the key is put together of. */
  isKeyPart?(name: string): boolean;
  /** Whether a path to the key, or to a part of it, begins with the member of that name. */
  leadsToKey?(name: string): boolean;
  /** Whether the first line that is not blank is the header of a table in which no line is one. Otherwise the file is refused. */
  readonly elseFirst?: boolean;
  /** What it looks for, to follow "no": `column externalId`. */
  readonly wanted: string;
  /** What to do about a file in which no line is a header: sentences. */
  readonly hint: string;
  /** What else to do where a character separates the cells, as none does in a workbook. */
  readonly delimiterHint?: string;
}

/** A million rows with the same flaw need no million warnings. */
const warningsPerCodeMax = 20;

/** Counts records and keeps warnings while a file is read. */
export interface Tally {
  /** Counts a record and returns its number, from 1. @throws PatchbayError `file` `tooManyRows`. */
  nextRecord(line: number): number;
  /** How many were counted so far. */
  recordCount(): number;
  blankLine(): void;
  warn(warning: Problem): void;
  /** For what may be wrong with many rows: the first warning is kept, and says how many there are. One for each code. */
  warnOnce(warning: Problem): void;
  /** A row that was shorter than the header, and is read with blank cells. */
  cutRow(line: number): void;
  tail(): SourceTail;
}

export function createTally(name: string, rowsMax: number): Tally {
  let recordCount = 0;
  let blankLineCount = 0;
  const warnings: Problem[] = [];
  const cutRows = { line: 0, count: 0 };
  const countByCode = new Map<string, number>();
  const firstOfMany = new Map<string, { readonly first: Problem; count: number }>();
  const isLastKept = (warning: Problem): boolean =>
    (countByCode.get(warning.code) ?? 0) > warningsPerCodeMax &&
    warnings.findLastIndex(({ code }) => code === warning.code) === warnings.indexOf(warning);
  return {
    nextRecord: (line) => {
      recordCount++;
      if (recordCount > rowsMax) {
        const message = `${name} holds more than ${rowsMax} rows`;
        throw fileError('tooManyRows', message, { file: name, line, rowsMax }, 'Split the export into several files.');
      }
      return recordCount;
    },
    recordCount: () => recordCount,
    blankLine: () => {
      blankLineCount++;
    },
    warn: (warning) => {
      const count = countByCode.get(warning.code) ?? 0;
      countByCode.set(warning.code, count + 1);
      if (count < warningsPerCodeMax) warnings.push(warning);
    },
    cutRow: (line) => {
      if (cutRows.count === 0) cutRows.line = line;
      cutRows.count += 1;
    },
    warnOnce: (warning) => {
      const met = firstOfMany.get(warning.code);
      if (met === undefined) firstOfMany.set(warning.code, { first: warning, count: 1 });
      else met.count += 1;
    },
    tail: () => ({
      recordCount,
      blankLineCount,
      warnings: [
        ...warnings,
        ...warnings
          .filter(isLastKept)
          .map((last) => moreOf(last, (countByCode.get(last.code) ?? 0) - warningsPerCodeMax)),
        ...(cutRows.count === 0 ? [] : [rowsWereCut(cutRows)]),
        ...[...firstOfMany.values()].map(({ first, count }) => ofMany(first, count)),
      ],
    }),
  };
}

function moreOf(last: Problem, count: number): Problem {
  const message = `${count} more ${count === 1 ? 'line' : 'lines'} with the same warning (${last.code}), not listed`;
  return { ...last, value: null, message };
}

function rowsWereCut({ line, count }: { readonly line: number; readonly count: number }): Problem {
  const rows = count === 1 ? `the row in line ${line} was` : `${count} rows (the first in line ${line}) were`;
  const message = `${rows} shorter than the header; the missing cells at the end were read as blank`;
  const hint = 'Nothing to do if the export leaves out blank cells at the end of a row.';
  return { code: 'rowsCut', line, field: null, value: null, message, hint };
}

function ofMany(first: Problem, count: number): Problem {
  return count === 1 ? first : { ...first, message: `${first.message} (first of ${count} rows)` };
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
export function headerOf(
  cells: readonly string[],
  line: number,
  {
    name,
    columnsMax,
    delimiter,
  }: { readonly name: string; readonly columnsMax: number; readonly delimiter: string | null },
): Header {
  let end = cells.length;
  while (end > 0 && (cells[end - 1] ?? '').trim() === '') end--;
  const columns = cells.slice(0, end);
  if (columns.length > columnsMax) throw tooManyColumns(name, line, columns.length, columnsMax, delimiter);
  return { columns, width: cells.length, line };
}

/** @param delimiter null for a workbook. */
export function tooManyColumns(
  name: string,
  line: number,
  count: number,
  columnsMax: number,
  delimiter: string | null,
): PatchbayError {
  const facts = { file: name, line, columnCount: count, columnsMax };
  if (delimiter === null) {
    const last = columnLetters(columnsMax - 1);
    const message = `${name}, line ${line}: the cell ${columnLetters(count - 1)}${line} holds something, and at most ${columnsMax} columns are read, up to ${last}`;
    const hint = `Clear the cells to the right of column ${last} if they are no part of the table; otherwise export fewer columns.`;
    return fileError('tooManyColumns', message, facts, hint);
  }
  const message = `${name}, line ${line}: ${count} columns, at most ${columnsMax} are read`;
  const hint = 'Export fewer columns; if the file has fewer, its delimiter was taken for another.';
  return fileError('tooManyColumns', message, facts, hint);
}

/** `found` are the cells of that line. */
export function headerMissing(
  name: string,
  line: number,
  found: readonly string[],
  { wanted, hint, delimiterHint }: HeaderRule,
  delimiter: string | null,
): PatchbayError {
  const named = found.filter((column) => column.trim() !== '');
  const shown = named.length === 0 ? 'nothing' : listNames(named);
  const message = `${name}: no ${wanted} in the first ${headerLineMax} lines; line ${line} holds: ${shown}`;
  const facts = { file: name, line, delimiter, found: namesShort(named), columnCount: found.length };
  const advice = delimiter === null || delimiterHint === undefined ? hint : `${hint} ${delimiterHint}`;
  return fileError('keyColumnMissing', message, facts, advice);
}

/** For scripts, beside the number of columns. */
function namesShort(columns: readonly string[]): string {
  const tidy = columns.slice(0, 20).map((column) => column.replace(/\p{Cc}+/gu, ' ').trim());
  return tidy.join(', ').slice(0, 500);
}
