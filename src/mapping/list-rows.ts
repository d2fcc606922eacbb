/**
 * A value that a mapping reads from each element of a JSON list, by a path with `[]`: the row is read once for each element, and every path
 * that leads into the list, such as that of the label, leads to this element.
 */
import { normaliseHeader } from '#src/sources/column-name.ts';
import type { JsonValue } from '#src/sources/row.ts';
import type { CellRef, Expression, RowCells } from './expression.ts';
import { isBlank } from './json-path.ts';

/** One element, as a row. */
export interface ElementRow {
  readonly cells: RowCells;
  /** The path of the element: `contact.phones[1]`. */
  readonly field: string;
  readonly element: JsonValue;
  /** Whether a path of the mapping leads to a member that this element has. */
  readonly holds: (path: string) => boolean;
}

/**
 * The elements without those that are null or blank, and at most a few more than `elementsMax`. Null where the value is no path into the
 * elements of a list, or no list holds such an element: the value is then what the path leads to.
 */
export function elementRows(value: Expression, row: RowCells, elementsMax: number): readonly ElementRow[] | null {
  const path = row.from === 'json' ? pathOf(value) : null;
  const rows = path === null ? null : rowsOf(path, row, (field) => field, elementsMax);
  return rows === null || rows.length === 0 ? null : rows;
}

/** Of a value that is read from one path; null for one that is made of several, or of a part. */
export function pathOf(value: Expression): string | null {
  if (value.kind === 'cell') return value.cell.field;
  return value.kind === 'steps' && value.part === null ? pathOf(value.of) : null;
}

/**
 * Ends with the last `[]` of the path. Null where the path leads into no elements, or there is something else than a list; none where the
 * list is null or absent.
 *
 * @param into makes a path of the mapping one into the elements that the path goes through.
 */
function rowsOf(
  path: string,
  row: RowCells,
  into: (field: string) => string,
  elementsMax: number,
): readonly ElementRow[] | null {
  const { list, inside } = stepsAt(path);
  if (list === null) return null;
  const { raw } = row.read(cellAt(list));
  if (raw === undefined || raw === null) return [];
  if (!Array.isArray(raw) || !inside.includes('.')) return null;
  const rows: ElementRow[] = [];
  for (const [index, element] of (raw as readonly JsonValue[]).entries()) {
    if (rows.length > elementsMax) break;
    if (isBlank(element)) continue;
    const field = `${list}[${index}]`;
    const intoThis = (other: string): string => intoElement(into(other), list, index);
    const cells: RowCells = { from: row.from, read: (cell) => row.read(cellAt(intoThis(cell.field))) };
    // In a text there is no list: it is no element without one.
    const inner = typeof element === 'object' ? rowsOf(`${field}${inside}`, row, intoThis, elementsMax) : null;
    const holds = (other: string): boolean =>
      intoThis(other) !== into(other) && cells.read(cellAt(other)).raw !== undefined;
    rows.push(...(inner ?? [{ cells, field, element, holds }]));
  }
  return rows;
}

/** `phones[].kind` → `phones[1].kind`; a path that leads elsewhere stays. */
function intoElement(path: string, list: string, index: number): string {
  const steps = stepsAt(path);
  const isInside = steps.list !== null && normaliseHeader(steps.list) === normaliseHeader(list);
  return isInside ? `${steps.list}[${index}]${steps.inside}` : path;
}

/** `phones[].nr` → `phones` and `.nr`. The list is null in a path without `[]`. */
function stepsAt(path: string): { readonly list: string | null; readonly inside: string } {
  const at = path.indexOf('[]');
  return at === -1 ? { list: null, inside: '' } : { list: path.slice(0, at), inside: path.slice(at + 2) };
}

const cellAt = (field: string): CellRef => ({ index: null, field });
