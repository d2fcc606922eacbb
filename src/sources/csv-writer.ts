/**
 * CSV that a spreadsheet may open safely: fix-files and exports (rules.md, "Dead letters"; `formula-guard.ts` says how).
 */
import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { detectedDelimiters } from '#src/sources/csv-delimiter.ts';
import { guardFormulas } from '#src/sources/formula-guard.ts';
import { fileMode } from '#src/sources/move-file.ts';

/** UTF-8 BOM: without it, Excel takes the file for the locale's code page. */
export const csvByteOrderMark = '\ufeff';

/** Lines are gathered into pieces of this length before they are written. */
const pieceChars = 64 * 1024;

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
export async function writeCsvFile(path: string, table: CsvTable): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = join(dirname(path), `.${randomUUID()}.part`);
  const handle = await open(temporary, 'wx', fileMode);
  try {
    try {
      let piece = csvByteOrderMark + separatorLine(table.delimiter) + formatCsvRecord(table.columns, table.delimiter);
      // Ends with the rows.
      for await (const cells of table.rows) {
        piece += formatCsvRecord(cells, table.delimiter);
        if (piece.length < pieceChars) continue;
        await handle.writeFile(piece);
        piece = '';
      }
      await handle.writeFile(piece);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    // What went wrong is thrown below; the leftover may not even have been made.
    await unlink(temporary).catch(() => {});
    throw error;
  }
}
