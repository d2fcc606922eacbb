/** A CSV record → a contact: each bound column's cell goes to its target. */
import type { CellsRow } from '#src/sources/row.ts';
import { applyTarget } from './apply-target.ts';
import { type MappedRow, RowDraft } from './row-draft.ts';
import type { Settings } from './settings.ts';
import type { BoundColumn } from './target.ts';

/** A cell that the record does not have is read as blank; the source refuses ragged rows before. */
export function mapCells(row: CellsRow, bound: readonly BoundColumn[], settings: Settings): MappedRow {
  const draft = new RowDraft(row.line, settings.sourceLabel);
  for (const { index, field, target } of bound) {
    const raw = index === null ? '' : (row.cells[index] ?? '');
    applyTarget(draft, target, { field, raw, from: 'csv' });
  }
  return draft.finish();
}
