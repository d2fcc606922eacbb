/**
 * The keys that a row may have. The mapping reads the key of a row that is in shape. In a row that cannot be read, with too many cells or
 * too few, the cells are not where the header says: it is read as if they had moved, by as many places as there are cells too many or
 * too few. So it is known whose row it is, also where the column of the key follows the one that is wrong.
 *
 * For erasing a person and for nothing else (`docs/rules.md`, "Forgetting a person"): such a key is a guess.
 */
import type { CellsRow, Row } from '#src/sources/row.ts';

/** Further away than a person's slip moves cells; each place costs as much as reading a key. */
const placesMax = 50;

/** None twice; the key of the row as it stands comes first, where it has one. */
export function possibleKeys(row: Row, keyOf: (row: Row) => string | null): readonly string[] {
  const keys = new Set<string>();
  const read = (one: Row): void => {
    const key = keyOf(one);
    if (key !== null) keys.add(key);
  };
  read(row);
  if (row.kind === 'object') return [...keys];
  const cells = cellsOf(row);
  const places = Math.min(placesMax, Math.abs(cells.length - row.columns.length));
  for (let place = -places; place <= places; place += 1)
    if (place !== 0) read({ ...row, cells: row.columns.map((_, index) => cells[index + place] ?? '') });
  return [...keys];
}

/** Whether a row that cannot be read has too many cells or too few. */
export function hasMovedCells(row: Row): boolean {
  return row.kind === 'cells' && cellsOf(row).length !== row.columns.length;
}

function cellsOf({ cells, beyond = [] }: CellsRow): readonly string[] {
  return [...cells, ...beyond];
}
