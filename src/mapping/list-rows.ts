/**
 * A value that a mapping reads from each element of a JSON list, by a path with `[]`: the row is read once for each element, and every path
 * that leads into the list, such as that of the label, leads to this element.
 */
import { normaliseHeader } from '#src/sources/column-name.ts';
import type { JsonValue } from '#src/sources/row.ts';
import { isJsonObject } from './cell.ts';
import type { CellRef, Expression, RowCells } from './expression.ts';
import { isBlank } from './json-path.ts';
import { isPlaceholder } from './placeholder.ts';

/** One element, as a row. */
export interface ElementRow {
  readonly cells: RowCells;
  /** The path of the element: `contact.phones[1]`. */
  readonly field: string;
  readonly element: JsonValue;
  /** Whether a path of the mapping leads to a member that this element has. */
  readonly holds: (path: string) => boolean;
  /** The path leads through a list of the element, and it has none. */
  readonly isWithoutList: boolean;
}

/**
 * The elements without those that are null or blank, one after the other. None where the value is no path into the elements of a list, or no
 * list holds such an element: the value is then what the path leads to.
 */
export function* elementRows(value: Expression, row: RowCells): Generator<ElementRow> {
  const path = row.from === 'json' ? pathOf(value) : null;
  const found = path === null ? null : listAt(path, row);
  if (found !== null) yield* rowsOf(found, row, (field) => field);
}

/** What stands where the path of a value leads into a list, and is none: an object, a text or a number. Null where there is no such thing. */
export function inPlaceOfList(
  value: Expression,
  row: RowCells,
): { readonly field: string; readonly raw: JsonValue } | null {
  const path = row.from === 'json' ? pathOf(value) : null;
  const steps = path === null ? null : listStepsOf(path);
  if (steps === null || !steps.inside.includes('.')) return null;
  const { field, raw } = row.read(cellAt(steps.list));
  return raw === undefined || Array.isArray(raw) || isNothing(raw) ? null : { field, raw };
}

/** What programs write where there is no list: PHP `{}` for an empty element of XML, Odoo `false`. */
function isNothing(raw: JsonValue): boolean {
  if (typeof raw === 'string') return raw.trim() === '' || isPlaceholder(raw.trim(), 'item');
  return raw === null || raw === false || raw === 0 || (isJsonObject(raw) && Object.keys(raw).length === 0);
}

/** Of a value that is read from one path; null for one that is made of several, or of a part. */
export function pathOf(value: Expression): string | null {
  if (value.kind === 'cell') return value.cell.field;
  return value.kind === 'steps' && value.part === null ? pathOf(value.of) : null;
}

/** A list that a path leads into. */
interface FoundList extends ListSteps {
  /** None where the list is null. */
  readonly elements: readonly JsonValue[];
}

/** Null where the path leads into no elements, or there is no list. */
function listAt(path: string, row: RowCells): FoundList | null {
  const steps = listStepsOf(path);
  if (steps === null) return null;
  const { raw } = row.read(cellAt(steps.list));
  if (raw === null) return { ...steps, elements: [] };
  return Array.isArray(raw) && steps.inside.includes('.') ? { ...steps, elements: raw } : null;
}

/**
 * Ends with the last `[]` of the path.
 *
 * @param into makes a path of the mapping one into the elements that the path goes through.
 */
function* rowsOf(
  { list, inside, elements }: FoundList,
  row: RowCells,
  into: (field: string) => string,
): Generator<ElementRow> {
  for (const [index, element] of elements.entries()) {
    if (isBlank(element)) continue;
    const field = `${list}[${index}]`;
    const intoThis = (other: string): string => intoElement(into(other), list, index);
    const cells: RowCells = { from: row.from, read: (cell) => row.read(cellAt(intoThis(cell.field))) };
    const inner = typeof element === 'object' ? listAt(`${field}${inside}`, row) : null;
    const holds = (other: string): boolean =>
      intoThis(other) !== into(other) && cells.read(cellAt(other)).raw !== undefined;
    if (inner === null) yield { cells, field, element, holds, isWithoutList: listStepsOf(inside) !== null };
    else yield* rowsOf(inner, row, intoThis);
  }
}

/** `phones[].kind` → `phones[1].kind`; a path that leads elsewhere stays. */
function intoElement(path: string, list: string, index: number): string {
  const steps = listStepsOf(path);
  const isInside = steps !== null && normaliseHeader(steps.list) === normaliseHeader(list);
  return isInside ? `${steps.list}[${index}]${steps.inside}` : path;
}

/** A path up to its first `[]`, and behind it: `phones[].nr` is `phones` and `.nr`. */
interface ListSteps {
  readonly list: string;
  readonly inside: string;
}

/** Null of a path without `[]`. */
export function listStepsOf(path: string): ListSteps | null {
  const at = path.indexOf('[]');
  return at === -1 ? null : { list: path.slice(0, at), inside: path.slice(at + 2) };
}

const cellAt = (field: string): CellRef => ({ index: null, field });
