/**
 * The keys in the lines of a table that cannot be read as a whole: each line is taken for a row under the header of the file, and read by
 * the mapping of its run. So short keys, and keys that are made of several cells, are found there, too.
 *
 * For erasing a person and for nothing else (`docs/rules.md`, "Forgetting a person"): a record of several lines is no row here.
 */

import { PatchbayError } from '#src/errors.ts';
import type { CompiledMapping } from '#src/mapping/compile-mapping.ts';
import { fileReadingOf } from '#src/mapping/file-reading.ts';
import { keyOfMapped } from '#src/mapping/row.ts';
import { presetsFor } from '#src/runs/open-file.ts';
import { possibleKeys } from '#src/runs/possible-keys.ts';
import { type ReadAs, readingOf, rowMapper } from '#src/runs/supply.ts';
import { headerLineMax } from '#src/sources/format-reader.ts';
import { readTextOf } from '#src/sources/json-item.ts';
import { detectDelimiter, parseRecords } from '#src/sources/read-csv.ts';
import type { Row } from '#src/sources/row.ts';

/** The keys that a line may have. */
export type LineKeys = (line: string) => readonly string[];

const place = { line: 1, record: 1 } as const;

/**
 * @param head the text that the file begins with; whole lines of it.
 * @returns null where the mapping fits none of the first lines: nothing tells then which cell is the key.
 */
export async function lineKeysOf(run: ReadAs, fileName: string, head: string): Promise<LineKeys | null> {
  const { mapping, context } = readingOf(run, { defaultCountry: null, onBlank: 'keep' });
  const mapRow = rowMapper(mapping, context, await presetsFor(run));
  if (/\.(?:ndjson|jsonl)$/i.test(fileName)) return (line) => keysOfRecord(line, mapRow);
  const text = head.replace(/^\ufeff/, '');
  const delimiter =
    fileReadingOf(run.mapping, run.options).delimiter ?? detectDelimiter({ head: text, whole: false, header: null });
  const cellsOf = (line: string): readonly string[] =>
    parseRecords([{ text: line, line: 1, strayAt: 0 }], delimiter)[0] ?? [];
  for (const line of text.split(/\r\n|\r|\n/).slice(0, headerLineMax)) {
    const columns = cellsOf(line);
    if (!fits(columns, mapRow)) continue;
    return (one) => keysOf({ kind: 'cells', ...place, columns, cells: cellsOf(one) }, mapRow);
  }
  return null;
}

/** Whether a header is one that the mapping reads. */
function fits(columns: readonly string[], mapRow: CompiledMapping['mapRow']): boolean {
  if (columns.every((column) => column.trim() === '')) return false;
  try {
    mapRow({ kind: 'cells', ...place, columns, cells: columns.map(() => '') });
    return true;
  } catch (error) {
    if (error instanceof PatchbayError) return false;
    throw error;
  }
}

function keysOfRecord(line: string, mapRow: CompiledMapping['mapRow']): readonly string[] {
  const item = readTextOf({ kind: 'object', ...place, object: {} }, line);
  return item.type === 'broken' ? [] : keysOf(item.row, mapRow);
}

function keysOf(row: Row, mapRow: CompiledMapping['mapRow']): readonly string[] {
  try {
    return possibleKeys(row, (one) => keyOfMapped(mapRow(one)));
  } catch (error) {
    // What the mapping needs is not in this line.
    if (error instanceof PatchbayError) return [];
    throw error;
  }
}
