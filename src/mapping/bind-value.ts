/** A value of a mapping → an expression over the columns of a file. */
import type { CellRef, Expression } from './expression.ts';
import type { PlaceholderPlace } from './placeholder.ts';
import { parseTemplate } from './template.ts';
import type { ColumnRef, Value } from './value-schema.ts';

/** Looks up a column. Null for one that the file lacks. */
export type FindColumn = (reference: ColumnRef) => CellRef | null;

/** A value that was looked up. The expression is null where the file lacks all of its columns. */
export interface BoundValue {
  readonly expression: Expression | null;
  readonly reads: readonly CellRef[];
  /** Columns that the file lacks. Those of `firstOf` count only where the file lacks all of them. */
  readonly missing: readonly ColumnRef[];
}

const defaultSeparator = ';';

/** @param place which words mean "no value" in `firstOf`. */
export function bindValue(value: Value, find: FindColumn, place: PlaceholderPlace): BoundValue {
  if (typeof value !== 'object') return bindColumn(value, find);
  const bound = bindSource(value, find, place);
  const { part, transform = [], separator = defaultSeparator } = value;
  if (bound.expression === null || (part === undefined && transform.length === 0)) return bound;
  return {
    ...bound,
    expression: { kind: 'steps', of: bound.expression, part: part ?? null, separator, transform },
  };
}

function bindSource(value: Exclude<Value, ColumnRef>, find: FindColumn, place: PlaceholderPlace): BoundValue {
  const { column, firstOf, join, template, constant } = value;
  if (column !== undefined) return bindColumn(column, find);
  if (firstOf !== undefined) {
    const { of, reads, missing } = bindAll(firstOf, find, place);
    return {
      expression: of.length === 0 ? null : { kind: 'firstOf', of, place },
      reads,
      missing: of.length === 0 ? missing : [],
    };
  }
  if (join !== undefined) {
    const { of, ...bound } = bindAll(join, find, place);
    return { ...bound, expression: of.length === 0 ? null : { kind: 'join', of, with: value.with ?? ' ' } };
  }
  if (template !== undefined) return bindTemplate(template, find);
  return { expression: { kind: 'constant', text: constant ?? '' }, reads: [], missing: [] };
}

function bindColumn(column: ColumnRef, find: FindColumn): BoundValue {
  const cell = find(column);
  if (cell === null) return { expression: null, reads: [], missing: [column] };
  return { expression: { kind: 'cell', cell }, reads: [cell], missing: [] };
}

function bindAll(values: readonly Value[], find: FindColumn, place: PlaceholderPlace) {
  const bound = values.map((one) => bindValue(one, find, place));
  return {
    of: bound.flatMap(({ expression }) => (expression === null ? [] : [expression])),
    reads: bound.flatMap(({ reads }) => reads),
    missing: bound.flatMap(({ missing }) => missing),
  };
}

/** A column that the file lacks is blank in the text. */
function bindTemplate(text: string, find: FindColumn): BoundValue {
  const template = parseTemplate(text);
  if (!template.ok) return { expression: null, reads: [], missing: [] };
  const pieces = template.pieces.map((piece) => ('text' in piece ? piece.text : bindColumn(piece.column, find)));
  const columns = pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece]));
  const reads = columns.flatMap((column) => column.reads);
  return {
    expression:
      reads.length === 0
        ? null
        : {
            kind: 'template',
            pieces: pieces.map((piece) => (typeof piece === 'string' ? piece : (piece.expression ?? ''))),
          },
    reads,
    missing: columns.flatMap((column) => column.missing),
  };
}
