/** What of a run is deleted piece by piece, each from a table of its own. */
import type { RunPart } from '#src/ledger/tables/runs.ts';

export type PartOfTable = Exclude<RunPart, 'rows' | 'unchanged' | 'met' | 'run'>;

/** The table, the column that orders its rows, and which of them go first. */
const parts: Readonly<Record<PartOfTable, readonly [table: string, place: string, order: 'ASC' | 'DESC']>> = {
  batches: ['batches', 'batch', 'DESC'],
  headers: ['headers', 'number', 'DESC'],
  events: ['run_events', 'ordinal', 'DESC'],
  deadRows: ['dead_rows', 'ordinal', 'ASC'],
  touched: ['touched_keys', 'position', 'ASC'],
};

/** The statement: of the run $1, as many as $2. */
export function partDeletion(part: PartOfTable): string {
  const [table, place, order] = parts[part];
  return `DELETE FROM ${table} WHERE run_sequence = $1 AND ${place} IN (
    SELECT ${place} FROM ${table} WHERE run_sequence = $1 ORDER BY ${place} ${order} LIMIT $2)`;
}
