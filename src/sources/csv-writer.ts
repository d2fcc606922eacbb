/**
 * CSV that a spreadsheet may open safely: fix-files and exports (rules.md, "Dead letters"; `formula-guard.ts` says how).
 */
import { detectedDelimiters } from '#src/sources/csv-delimiter.ts';
import { guardFormulas } from '#src/sources/formula-guard.ts';
import { writeWholeFile } from '#src/whole-file.ts';

/** UTF-8 BOM: without it, Excel takes the file for the locale's code page. */
export const csvByteOrderMark = '\ufeff';

/** One record with its CRLF. */
export function formatCsvRecord(cells: readonly string[], delimiter: string): string {
  const line = cells.map((cell) => quoted(guardFormulas(cell), delimiter)).join(delimiter);
  // A record of one empty cell would read as a blank line.
  return `${line === '' && cells.length > 0 ? '""' : line}\r\n`;
}

/** A delimiter that nobody would find is told, as spreadsheets have it. */
function separatorLine(delimiter: string): string {
  return detectedDelimiters.includes(delimiter) ? '' : `sep=${delimiter}\r\n`;
}

function quoted(cell: string, delimiter: string): string {
  const needsQuotes = /["\r\n]/.test(cell) || cell.includes(delimiter) || cell.trim() !== cell;
  return needsQuotes ? `"${cell.replaceAll('"', '""')}"` : cell;
}

export interface CsvTable {
  readonly columns: readonly string[];
  readonly rows: Iterable<readonly string[]> | AsyncIterable<readonly string[]>;
  readonly delimiter: string;
}

/** Writes the table to `path`, which appears complete or not at all, readable by the owner only. Throws the system's errors. */
export function writeCsvFile(path: string, table: CsvTable): Promise<void> {
  return writeWholeFile(path, csvText(table));
}

async function* csvText({ columns, rows, delimiter }: CsvTable): AsyncGenerator<string> {
  yield csvByteOrderMark + separatorLine(delimiter) + formatCsvRecord(columns, delimiter);
  for await (const cells of rows) yield formatCsvRecord(cells, delimiter);
}
