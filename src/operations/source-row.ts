/**
 * The row of a contact in the file that its feed read last: found again in the archive, with its cells and what became of each
 * (`patchbay contact`). The archive is kept for `data.keepFiles`; after that the cells are gone, and what the file said is remembered.
 */
import { access } from 'node:fs/promises';
import type { Home } from '#src/app.ts';
import type { DesiredContact } from '#src/contacts/desired.ts';
import { PatchbayError } from '#src/errors.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { createRowFilter } from '#src/mapping/conditions.ts';
import { type ExplainedRow, explainRow } from '#src/mapping/show/explain-row.ts';
import { openRunFile } from '#src/runs/open-file.ts';
import { doneFileOf } from '#src/runs/run-files.ts';
import { readingOf } from '#src/runs/supply.ts';
import type { Row } from '#src/sources/row.ts';
import type { CustomFieldDefinition } from '#src/wire/contact.ts';

/** `gone`: the archived file is deleted. `absent`: the newest file that is kept has no such row. */
export type SourceRow =
  | {
      readonly kind: 'found';
      readonly run: string;
      readonly file: string;
      readonly explained: ExplainedRow;
      readonly desired: DesiredContact | null;
    }
  | { readonly kind: 'gone' | 'absent'; readonly run: string | null; readonly file: string | null };

/** A key that is made of several cells is found by mapping row after row: at most these. */
const rowsMappedMax = 200_000;

export async function findSourceRow(
  { ledger, config }: Pick<Home, 'ledger' | 'config'>,
  feed: string,
  key: string,
  customFields: readonly CustomFieldDefinition[] | null,
): Promise<SourceRow> {
  const accepted = await ledger.runs.lastAccepted(feed, Number.MAX_SAFE_INTEGER);
  if (accepted === null) return { kind: 'gone', run: null, file: null };
  const { run } = accepted;
  const place = { run: run.id, file: run.fileName };
  const archived = doneFileOf(run);
  const isThere = await access(archived).then(
    () => true,
    () => false,
  );
  if (!isThere) return { kind: 'gone', ...place };
  const found = await rowOfKey({ ...run, claimedPath: archived }, config.mapping, key, customFields);
  return found === null ? { kind: 'absent', ...place } : { kind: 'found', ...place, ...found };
}

async function rowOfKey(
  run: RunRecord,
  defaults: Home['config']['mapping'],
  key: string,
  customFields: readonly CustomFieldDefinition[] | null,
): Promise<Pick<Extract<SourceRow, { kind: 'found' }>, 'explained' | 'desired'> | null> {
  const file = await openRunFile(run);
  try {
    const { mapping, context } = readingOf({ ...run, mapping: file.mapping }, defaults);
    const reading = { ...context, customFields };
    const { mapRow } = compileMapping(mapping, { columns: file.columns }, reading);
    const filter = createRowFilter(run.kind === 'file' ? mapping : null, file.columns);
    const keyOf = (row: Row) => {
      const mapped = mapRow(row);
      return mapped.kind === 'desired'
        ? { key: mapped.desired.key, desired: mapped.desired }
        : { key: mapped.key, desired: null };
    };
    // Most keys are the text of a cell: these rows first, since mapping takes most of the time.
    const bare = key.slice(mapping?.keyPrefix?.length ?? 0);
    for (const mayBe of [(row: Row) => holds(row, bare), () => true]) {
      const source = await file.again();
      let mappedCount = 0;
      try {
        for await (const slice of source.slices()) {
          for (const item of slice) {
            const { row } = item;
            if (!mayBe(row) || mappedCount >= rowsMappedMax || filter.reason(item) !== null) continue;
            mappedCount += 1;
            const found = keyOf(row);
            if (found.key === key) return { explained: explainRow(mapping, item, reading), desired: found.desired };
          }
        }
      } finally {
        await source.close();
      }
    }
    return null;
  } catch (error) {
    // It was read before; a mapping that has changed since may not fit it.
    if (error instanceof PatchbayError && (error.kind === 'file' || error.kind === 'usage')) return null;
    throw error;
  } finally {
    await file.source.close();
  }
}

function holds(row: Row, text: string): boolean {
  return row.kind === 'cells'
    ? row.cells.some((cell) => cell.includes(text))
    : JSON.stringify(row.object).includes(text);
}
