/**
 * A row becomes a desired contact: each bound column's value is read (`cells.ts`), and the readings are folded into one.
 */
import type { DesiredContact } from '#src/contacts/desired.ts';
import type { Problem } from '#src/contacts/outcome.ts';
import type { CellsRow, JsonValue } from '#src/sources/row.ts';
import { type CellReading, type Finding, readValue } from './cells.ts';
import type { RowCells } from './expression.ts';
import { readBound } from './made-value.ts';
import type { Settings } from './mapping-settings.ts';
import type { BoundColumn } from './target.ts';

/** What a row says, or why it is rejected: with all its problems, not the first alone. */
export type MappedRow =
  | { readonly kind: 'desired'; readonly desired: DesiredContact; readonly warnings: readonly Problem[] }
  | {
      readonly kind: 'dead';
      /** Null where the key itself could not be read. */
      readonly key: string | null;
      readonly problems: readonly Problem[];
      readonly warnings: readonly Problem[];
    };

/** A CSV record. A cell that the record lacks is read as blank; ragged rows are rejected by the source before. */
export function mapCells(row: CellsRow, bound: readonly BoundColumn[], settings: Settings): MappedRow {
  const at = (index: number | null): string => (index === null ? '' : (row.cells[index] ?? ''));
  const cells: RowCells = { from: 'csv', read: ({ index, field }) => ({ field, raw: at(index) }) };
  const readings = bound.map((column) =>
    column.made === undefined && column.dropsInvalid !== true
      ? readValue({ field: column.field, raw: at(column.index), from: 'csv' }, column.target)
      : readBound(column, cells),
  );
  return foldRow(row.line, settings.sourceLabel, readings);
}

/**
 * Rejected with any problem or without a key, else the desired contact. Two slots may hold the same value: the contact
 * has it as long as one of them names it.
 *
 * @param sourceLabel the source where the row names none of its own.
 */
export function foldRow(line: number, sourceLabel: string | null, readings: readonly CellReading[]): MappedRow {
  const parts = readings.map(({ adds }) => adds);
  const key = parts.findLast((part) => part.key !== undefined)?.key ?? null;
  const problems = readings.flatMap((reading) => reading.problems.map((one) => problemOf(line, one)));
  const warnings = readings.flatMap((reading) => reading.warnings.map((one) => problemOf(line, one)));
  if (key === null || problems.length > 0) return { kind: 'dead', key, problems, warnings };
  const desired: DesiredContact = {
    key,
    scalars: Object.assign({}, ...parts.map((part) => part.scalars)),
    source: parts.findLast((part) => part.source !== undefined)?.source ?? sourceLabel,
    emails: parts.flatMap((part) => part.emails ?? []),
    phones: parts.flatMap((part) => part.phones ?? []),
    customFields: parts.flatMap((part) => part.customFields ?? []),
  };
  return { kind: 'desired', desired, warnings };
}

function problemOf(line: number, { field, raw, flaw }: Finding): Problem {
  const { code, message, hint, isLoss } = flaw;
  const value = raw === undefined ? null : showValue(raw);
  return { code, line, field, value, message, hint, ...(isLoss === true ? { isLoss } : {}) };
}

const valueLengthMax = 200;

/** The cell as the file holds it; other JSON values as JSON. Cut after 200 characters. */
function showValue(raw: JsonValue): string {
  const text = typeof raw === 'string' ? raw : JSON.stringify(raw);
  return [...text.slice(0, 2 * valueLengthMax)].slice(0, valueLengthMax).join('');
}
