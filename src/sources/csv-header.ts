/**
 * The header line: found, compared, checked. Header names are never keys of an object here, so a column called
 * `__proto__` is a column like any other.
 */
import type { PatchbayError } from '#src/errors.ts';
import { fileError } from '#src/sources/file-error.ts';

/** The header is looked for in this many physical lines (bad-inputs.md, "preamble"). */
export const headerLineMax = 20;

/** A header name as names are compared: without regard to case, spaces, `_` or `-` (contract.md, "Input"). */
export function normaliseHeader(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, '');
}

/** Whether one of the names wanted (normalised) stands among the cells. */
export function holdsRequired(cells: readonly string[], required: ReadonlySet<string>): boolean {
  return cells.some((cell) => required.has(normaliseHeader(cell)));
}

export interface Header {
  /** As the file holds them, without empty names at the end. */
  readonly columns: readonly string[];
  /** With the empty names at the end: this many cells are no surprise in a row. */
  readonly width: number;
  readonly line: number;
}

export interface HeaderCheck {
  readonly name: string;
  readonly columnsMax: number;
}

/** Names may stand twice: whether that matters, the mapping knows. Throws `tooManyColumns` (file). */
export function headerOf(cells: readonly string[], line: number, check: HeaderCheck): Header {
  let end = cells.length;
  while (end > 0 && (cells[end - 1] ?? '').trim() === '') end--;
  const columns = cells.slice(0, end);
  if (columns.length > check.columnsMax) throw tooManyColumns(check.name, line, columns.length, check.columnsMax);
  return { columns, width: cells.length, line };
}

export function tooManyColumns(name: string, line: number, count: number, columnsMax: number): PatchbayError {
  const message = `${name}, line ${line}: ${count} columns, at most ${columnsMax} are read`;
  const hint = 'Export fewer columns; if the file has fewer, its delimiter was taken for another.';
  return fileError('tooManyColumns', message, { file: name, line, columnCount: count, columnsMax }, hint);
}

/** Of the generic layout (README, "CSV: the generic layout"). */
const genericKey = 'externalId';

interface HeaderFound {
  readonly found: readonly string[];
  /** The columns of which a header holds one, as they are written. */
  readonly required: readonly string[];
  readonly delimiter: string;
}

export function keyColumnMissing(
  name: string,
  line: number,
  { found, required, delimiter }: HeaderFound,
): PatchbayError {
  const shown = found
    .map((column) => column.replace(/\p{Cc}+/gu, ' ').trim())
    .slice(0, 20)
    .join(', ')
    .slice(0, 500);
  const [wanted = genericKey] = required;
  const message = `${name}: no column ${wanted} in the first ${headerLineMax} lines; line ${line} holds: ${shown || 'nothing'}`;
  const hint =
    wanted === genericKey
      ? `Add the column ${genericKey}, describe the columns in a mapping (--mapping, or _mapping.yaml in the folder of a feed), or name the delimiter with --delimiter.`
      : `The mapping names ${wanted} as the column of the key: correct the mapping or the file, or name the delimiter with --delimiter.`;
  const facts = { file: name, line, delimiter, found: shown, columnCount: found.length };
  return fileError('keyColumnMissing', message, facts, hint);
}
