/** A row of a fix-file as a person has sent it back: the original's columns and cells, apart from the columns that the fix-file added. */
import type { Problem } from '#src/contacts/outcome.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import { unguardFormulas } from '#src/sources/csv-writer.ts';
import { textIn } from '#src/sources/json-item.ts';
import { type CellsRow, type JsonValue, type ObjectRow, type Row, shownValue } from '#src/sources/row.ts';
import { cellsBeyond, originalName, ownName } from './fix-file.ts';

/** The original row as the fix-file has it, apart from the columns that the fix-file added. */
export interface FoundRow {
  readonly line: number;
  readonly record: number;
  /** Of a JSON fix-file: the original's members. Null for CSV. */
  readonly object: ObjectRow['object'] | null;
  readonly columns: readonly string[];
  /** One for each column. */
  readonly cells: readonly string[];
  /** The cells of `_more1`, `_more2`…, up to the last that is not blank. */
  readonly beyond: readonly string[];
  /** Those of them that had no column in the original either: they are ignored, as they were then. */
  readonly nameless: readonly string[];
  readonly originalLine: string;
  /** Null of a table that has lost the column. Emptied: a person says that the row is right, and its cells are in the right columns. */
  readonly code: string | null;
}

export function foundRow(row: Row): FoundRow {
  const members: readonly (readonly [string, JsonValue])[] =
    row.kind === 'object'
      ? Object.entries(row.object)
      : row.columns.map((name, index) => [unguardFormulas(name), row.cells[index] ?? '']);
  const own = new Map<string, string>();
  const object: { [name: string]: JsonValue } = Object.create(null);
  const columns: string[] = [];
  const cells: string[] = [];
  for (const [name, value] of members) {
    const text = row.kind === 'cells' ? unguardFormulas(String(value)) : textOf(value);
    const original = originalName(name);
    if (original === null) {
      own.set(ownName(name), text);
      continue;
    }
    object[original] = value;
    columns.push(original);
    cells.push(text);
  }
  // The cells beyond the fix-file's own header come after all others.
  const further = row.kind === 'cells' ? cellsBeyond(row) : [];
  return {
    line: row.line,
    record: row.record,
    object: row.kind === 'object' ? object : null,
    columns,
    cells,
    beyond: withoutBlankEnd([...moreOf(own), ...further]),
    nameless: [],
    originalLine: (own.get('_line') ?? '').trim(),
    code: own.get('_code') ?? (row.kind === 'cells' ? null : ''),
  };
}

/** The text of a row that holds nothing else. */
export function loneText({ object }: FoundRow): string | null {
  return object !== null && Object.keys(object).length === 1 ? textIn(object) : null;
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The cells of `_more1`, `_more2`…, in the order of their numbers. */
function moreOf(own: ReadonlyMap<string, string>): readonly string[] {
  return [...own]
    .filter(([name]) => name.startsWith('_more'))
    .toSorted(([left], [right]) => Number(left.slice('_more'.length)) - Number(right.slice('_more'.length)))
    .map(([, text]) => text);
}

export function withoutBlankEnd(cells: readonly string[]): readonly string[] {
  return cells.slice(0, cells.findLastIndex((cell) => cell.trim() !== '') + 1);
}

export function asItStands({ line, record, object, columns, cells, beyond, nameless }: FoundRow): Row {
  if (object !== null) return { kind: 'object', line, record, object };
  const row: CellsRow = { kind: 'cells', line, record, columns, cells: [...cells, ...beyond] };
  return nameless.length === 0 ? row : { ...row, beyond: nameless };
}

export function stillTooMany({ line, columns, cells, beyond }: FoundRow): Problem {
  return {
    code: 'cellCount',
    line,
    field: null,
    value: shownValue([...cells, ...beyond].join(', ')),
    message: `the row has ${counted(columns.length + beyond.length, 'cell')}, the header has ${columns.length}`,
    hint: 'Move each value under its column, and empty _more1, _more2…',
  };
}
