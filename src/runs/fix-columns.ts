/**
 * The columns that a fix-file has beside the original ones (`rules.md`, "Dead letters"). Pure.
 *
 * `_more1`, `_more2`… hold the cells that stand beyond the header. A column of the user's own that is called like one of
 * these has one more `_` in front while it is in a fix-file, so that neither is taken for the other.
 */
import { unguardFormulas } from '#src/sources/csv-writer.ts';
import type { SourceOptions } from '#src/sources/open-source.ts';
import type { CellsRow, Row } from '#src/sources/row.ts';

export const fixFileColumns = ['_id', '_line', '_code', '_hint'] as const;

/** A fix-file may hold what its original did, and besides what it adds: columns, hints, quotes and apostrophes. */
export const fixFileReading = {
  requiredColumn: fixFileColumns,
  limits: { columnsMax: 5_000, recordBytesMax: 8 * 1024 * 1024 },
} satisfies Partial<SourceOptions>;

const ownNames: ReadonlySet<string> = new Set(fixFileColumns);
const moreName = /^_more[1-9]\d*$/;
/** As headers are compared: without regard to case. */
const mistakable = /^_+(?:id|line|code|hint|more\d+)$/i;

export function isFixFile(row: Row): boolean {
  const names = row.kind === 'cells' ? row.columns : Object.keys(row.object);
  return fixFileColumns.every((column) => names.includes(column));
}

/** The dead letter's id that a row of a fix-file carries; empty where somebody emptied the cell. */
export function letterIdOf(row: Row): string {
  if (row.kind === 'cells') return (row.cells[row.columns.indexOf('_id')] ?? '').trim();
  const id = row.object._id;
  return typeof id === 'string' ? id.trim() : '';
}

/** How a column of the user's is called in a fix-file. */
export function nameInFixFile(name: string): string {
  return mistakable.test(name) ? `_${name}` : name;
}

/** How a column of a fix-file was called in the original; null for one that the fix-file has added. */
export function originalName(name: string): string | null {
  if (ownNames.has(name) || moreName.test(name)) return null;
  return mistakable.test(name) && name.startsWith('__') ? name.slice(1) : name;
}

/** The original columns of a CSV fix-file; null for JSON. */
export function originalColumns(columns: readonly string[] | null): readonly string[] | null {
  return columns?.flatMap((column) => originalName(unguardFormulas(column)) ?? []) ?? null;
}

/** `_more1` for 0. */
export function moreColumn(index: number): string {
  return `_more${index + 1}`;
}

/** The cells that stand beyond the header. */
export function cellsBeyond({ columns, cells, beyond = [] }: CellsRow): readonly string[] {
  return [...cells.slice(columns.length), ...beyond];
}

/** Names for columns that no two columns of one header share: some have no name, or the name of another. */
export function distinctNames(columns: readonly string[]): readonly string[] {
  const met = new Map<string, number>();
  return columns.map((column) => {
    const count = met.get(column) ?? 0;
    met.set(column, count + 1);
    return `${column}\0${count}`;
  });
}
