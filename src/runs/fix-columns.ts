/** The columns that a fix-file has beside the original ones (`rules.md`, "Dead letters"). Pure. */
import type { Row } from '#src/sources/row.ts';

export const fixFileColumns = ['_id', '_line', '_code', '_hint'] as const;

export function isFixFile(row: Row): boolean {
  const names = row.kind === 'cells' ? row.columns : Object.keys(row.object);
  return fixFileColumns.every((column) => names.includes(column));
}

/** The dead letter that a row of a fix-file mends; null for any other row, and where somebody emptied the cell. */
export function mendedLetterOf(row: Row): string | null {
  return isFixFile(row) ? letterIdOf(row) || null : null;
}

/** The dead letter's id that a row of a fix-file carries; empty where somebody emptied the cell. */
export function letterIdOf(row: Row): string {
  if (row.kind === 'cells') return (row.cells[row.columns.indexOf('_id')] ?? '').trim();
  const id = row.object._id;
  return typeof id === 'string' ? id.trim() : '';
}
