/**
 * Corrects the row of a dead letter: some of its cells get other values (`docs/operations.md`, "Rejected rows"). Pure.
 *
 * A cell is named by its column, without regard to case, spaces, `_` and `-`, or by its position: `#3`. A row with more cells than
 * columns is in shape again when those beyond the header are empty. Of a JSON record a member is named, or a path: `properties.email`.
 */
import { closest } from '#src/config/closest.ts';
import { PatchbayError } from '#src/errors.ts';
import { normaliseHeader } from '#src/sources/column-name.ts';
import { textAlone, textMember } from '#src/sources/json-item.ts';
import type { CellsRow, JsonValue, ObjectRow, Row } from '#src/sources/row.ts';

export interface CellEdit {
  readonly column: string;
  readonly value: string;
}

/** @param text `COLUMN=VALUE`: up to the first `=`, or as far as a column of the row has one. @throws PatchbayError `usage` `setInvalid`. */
export function parseEdit(text: string, row: Row): CellEdit {
  const named = row.kind === 'cells' ? row.columns.filter((column) => text.startsWith(`${column}=`)) : [];
  const column = named.toSorted((left, right) => right.length - left.length)[0] ?? text.split('=', 1)[0] ?? '';
  if (column === '' || !text.includes('=')) {
    throw new PatchbayError('usage', 'setInvalid', `"${text}" sets nothing`, {
      hint: 'Write --set COLUMN=VALUE, with quotes around it where there are spaces: --set "Phone=+14155550100"',
    });
  }
  return { column, value: text.slice(column.length + 1) };
}

/**
 * @returns the row with the new cells, without blank ones beyond its header.
 * @throws PatchbayError `usage`: `columnUnknown`, `columnTwice`.
 */
export function editRow(row: Row, edits: readonly CellEdit[]): Row {
  return row.kind === 'cells' ? editCells(row, edits) : editObject(row, edits);
}

function editCells(row: CellsRow, edits: readonly CellEdit[]): CellsRow {
  const cells = [...row.cells];
  for (const { column, value } of edits) {
    const index = cellNamed(row, column);
    while (cells.length < index) cells.push('');
    cells[index] = value;
  }
  const columnCount = row.columns.length;
  while (cells.length < columnCount) cells.push('');
  while (cells.length > columnCount && cells.at(-1)?.trim() === '') cells.pop();
  return { ...row, cells };
}

function cellNamed({ columns, cells }: CellsRow, named: string): number {
  const exact = indexesOf(columns, (column) => column === named);
  const alike = indexesOf(columns, (column) => normaliseHeader(column) === normaliseHeader(named));
  const found = exact.length > 0 ? exact : alike;
  const [index] = found;
  if (index !== undefined && found.length === 1) return index;
  if (found.length > 1) {
    const places = found.map((one) => `#${one + 1}`);
    const message = `the header has ${named} ${found.length} times, in columns ${found.map((one) => one + 1).join(', ')}`;
    throw new PatchbayError('usage', 'columnTwice', message, {
      hint: `Name the cell by its position: ${places.join(' or ')}`,
    });
  }
  const position = Number(/^#([1-9]\d{0,4})$/.exec(named)?.[1] ?? 0);
  if (position > 0 && position <= Math.max(columns.length, cells.length)) return position - 1;
  throw unknownColumn(named, columns, 'column');
}

function indexesOf(columns: readonly string[], fits: (column: string) => boolean): readonly number[] {
  return columns.flatMap((column, index) => (column !== '' && fits(column) ? [index] : []));
}

function editObject(row: ObjectRow, edits: readonly CellEdit[]): ObjectRow {
  if (textAlone(row) !== null) requireText(edits);
  const object: { [name: string]: JsonValue } = Object.assign(Object.create(null), row.object);
  for (const { column, value } of edits) {
    if (Object.hasOwn(object, column)) {
      object[column] = valueLike(object[column] ?? null, value);
      continue;
    }
    const [first = '', ...path] = column.split('.');
    const inner = object[first];
    if (path.length === 0 || !isObject(inner)) throw unknownColumn(column, pathsOf(object), 'member');
    object[first] = withMember(inner, path, value, () => unknownColumn(column, pathsOf(object), 'member'));
  }
  return { ...row, object };
}

/** @throws PatchbayError `usage` `columnUnknown`. */
function requireText(edits: readonly CellEdit[]): void {
  const other = edits.find(({ column }) => column !== textMember);
  if (other === undefined) return;
  const message = `the row has no member "${other.column}": it is a text that could not be read, ${textMember}`;
  throw new PatchbayError('usage', 'columnUnknown', message, {
    hint: `Set the whole record: --set '${textMember}={"externalId":"c-17","firstName":"Anna"}'. Or correct it in the fix-file of its run.`,
  });
}

type Members = { readonly [name: string]: JsonValue };

function withMember(object: Members, path: readonly string[], value: string, unknown: () => PatchbayError): Members {
  const [name = '', ...rest] = path;
  const inner = object[name];
  if (inner === undefined) throw unknown();
  if (rest.length > 0 && !isObject(inner)) throw unknown();
  const edited = isObject(inner) && rest.length > 0 ? withMember(inner, rest, value, unknown) : valueLike(inner, value);
  return Object.assign(Object.create(null), object, { [name]: edited });
}

function isObject(value: JsonValue | undefined): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Text in place of text; in place of anything else what the text says as JSON, if it says something. */
function valueLike(before: JsonValue, text: string): JsonValue {
  if (typeof before === 'string') return text;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // Not JSON: it is meant as text.
    return text;
  }
}

const namesShownMax = 20;

/** Members, and those of members: two levels, as the exports have them. */
function pathsOf(object: Members): readonly string[] {
  return Object.entries(object).flatMap(([name, value]) =>
    isObject(value) ? Object.keys(value).map((inner) => `${name}.${inner}`) : [name],
  );
}

function unknownColumn(named: string, names: readonly string[], what: 'column' | 'member'): PatchbayError {
  const known = names.filter((name) => name !== '');
  const meant = closest(named, known);
  const shown = known.slice(0, namesShownMax).join(', ');
  const more = known.length > namesShownMax ? ` … and ${known.length - namesShownMax} more` : '';
  const hint = `${meant === null ? '' : `Did you mean "${meant}"? `}The row has: ${shown}${more}`;
  return new PatchbayError('usage', 'columnUnknown', `the row has no ${what} "${named}"`, { hint });
}
