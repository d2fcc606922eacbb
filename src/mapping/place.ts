/** A value with the place it stands in, and the two ways it can go: used, or a problem of its row. */
import type { JsonValue } from '#src/sources/row.ts';
import { type Cell, readCell } from './cell.ts';
import { bad, type Reading } from './flaw.ts';
import type { RowDraft } from './row-draft.ts';

export interface Place {
  /** As the file names it: a column, or `defaultFields.emails[1].value`. */
  readonly field: string;
  readonly raw: JsonValue;
  /** Only CSV guards values against formulas. */
  readonly from: 'csv' | 'json';
}

/** Passes a good value on, with its warnings; a flaw kills the row. */
export function take<Value>(draft: RowDraft, place: Place, reading: Reading<Value>, use: (value: Value) => void): void {
  if (reading.ok) {
    draft.warn(place.field, place.raw, reading.warnings);
    use(reading.value);
  } else {
    draft.problem(place.field, place.raw, reading.flaw);
  }
}

/** A cell that may hold one text; null where it holds anything else, which kills the row. */
export function readSingle(draft: RowDraft, place: Place): Exclude<Cell, { kind: 'list' | 'wrong' }> | null {
  const cell = readCell(place.raw, place.from);
  if (cell.kind !== 'list' && cell.kind !== 'wrong') return cell;
  const listRefused = bad('notText', 'a list stands where one text is expected', 'Write one value as a string.').flaw;
  draft.problem(place.field, place.raw, cell.kind === 'list' ? listRefused : cell.flaw);
  return null;
}
