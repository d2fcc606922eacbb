/**
 * The record of a row of a table that a fix-file of JSON was saved as (`docs/rules.md`, "Dead letters"). Pure.
 *
 * A table has a column for each member that some record has, and texts for values of all kinds. What a cell still says as the record of the
 * letter did is that value again, with its kind and all that is inside it; so an unchanged row is the record that it was.
 */
import { textAlone, textMember } from '#src/sources/json-item.ts';
import type { JsonValue, ObjectRow } from '#src/sources/row.ts';

interface TableRow {
  readonly columns: readonly string[];
  /** One for each column. */
  readonly cells: readonly string[];
}

/** @param isSame whether a cell says what was there before. */
type IsSame = (column: string, before: string, cell: string) => boolean;

/**
 * @param stored the row of the letter; null where no letter is known, and then only a text without other cells beside it is a record's.
 * @returns null where the row is one of a table like any other.
 */
export function recordOfTable(
  { columns, cells }: TableRow,
  stored: ObjectRow | null,
  isSame: IsSame,
): ObjectRow['object'] | null {
  const filled = columns.flatMap((column, index) => (cells[index]?.trim() === '' ? [] : [column]));
  const text = filled.length === 1 && filled[0] === textMember ? cells[columns.indexOf(textMember)] : undefined;
  if (text !== undefined) return recordOf([[textMember, text]]);
  if (stored === null) return null;
  const before = textAlone(stored) === null ? stored.object : {};
  const cellOf = new Map(columns.map((column, index) => [column, cells[index] ?? '']));
  const members = Object.entries(before).flatMap(([name, value]): Entry[] => {
    const cell = cellOf.get(name);
    return cell === undefined ? [] : [[name, valueIn(value, cell, (was) => isSame(name, was, cell))]];
  });
  // The texts of other rows have a column, too, and this row leaves it as empty as all that it never had.
  const added = [...cellOf].filter(
    ([name, cell]) => !Object.hasOwn(before, name) && name !== textMember && cell.trim() !== '',
  );
  return recordOf([...members, ...added]);
}

type Entry = readonly [name: string, value: JsonValue];

/** Without a prototype, as all records. */
function recordOf(entries: readonly Entry[]): ObjectRow['object'] {
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}

function valueIn(before: JsonValue, cell: string, isSame: (was: string) => boolean): JsonValue {
  if (isSame(cellTextOf(before))) return before;
  if (typeof before !== 'object' || before === null) return cell;
  try {
    const value = JSON.parse(cell) as JsonValue;
    return JSON.stringify(value) === JSON.stringify(before) ? before : value;
  } catch {
    // No list and no object any more.
    return cell;
  }
}

/** A value as a cell of a table: text as it is, nothing for null, anything else as JSON. */
export function cellTextOf(value: JsonValue): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The cells of a record in a table: under its members, or all of it as `_text` where one of them has no column. */
export function cellsOfRecord(row: ObjectRow, columns: readonly string[]): readonly string[] {
  const { object } = row;
  const isWhole = textAlone(row) === null && Object.keys(object).every((name) => columns.includes(name));
  const shown: ObjectRow['object'] = isWhole ? object : { [textMember]: textAlone(row) ?? JSON.stringify(object) };
  return columns.map((name) => (Object.hasOwn(shown, name) ? cellTextOf(shown[name] ?? null) : ''));
}
