/** The rows of a redrive: its dead letters, verbatim where they were mapped before, else mapped anew. */

import type { DeadLetter } from '#src/ledger/dead-letter.ts';
import type { RunRecord } from '#src/ledger/run-record.ts';
import { versionOf } from '#src/mapping/mapping-version.ts';
import { distinctNames } from '#src/runs/fix-columns.ts';
import { isMisshapen, misshapenAgain } from '#src/runs/fix-rows.ts';
import type { RunParts } from '#src/runs/parts.ts';
import { readingOf, rowMapper } from '#src/runs/reading.ts';
import type { StageItem } from '#src/runs/stage-item.ts';
import type { RowSupply } from '#src/runs/stage-run.ts';

const lettersPerPage = 500;

export async function openRedriveSupply(parts: RunParts, run: RunRecord): Promise<RowSupply> {
  const { mapping, context } = readingOf(run, parts);
  const { columns, anyObject, needsMapping } = await surveyOf(parts, run);
  const definitions = needsMapping ? await parts.workspace.listCustomFields() : null;
  const mapRow = rowMapper(mapping, { ...context, customFields: definitions });
  const items = async function* (): AsyncGenerator<readonly StageItem[]> {
    for await (const letters of pagesOf(parts, run)) yield letters.flatMap((letter) => itemOf(run, letter));
  };
  return {
    shape: { format: anyObject ? 'ndjson' : 'csv', columns, delimiter: ',' },
    compiled: {
      name: 'redrive',
      version: versionOf({ redrive: run.id }),
      duplicateKeys: 'lastWins',
      mappedColumns: [],
      unmappedColumns: [],
      leftOut: [],
      notes: [],
      see: () => undefined,
      refuseLacking: () => undefined,
      usesCustomFields: definitions !== null,
      mapRow,
    },
    items,
    itemsAgain: items,
    refuseLacking: () => undefined,
    notes: () => [],
    warnings: () => [],
    close: async () => undefined,
  };
}

/**
 * Oldest first: where a key has several letters, the row that was met last wins. Those that an interrupted reading of
 * this run has let die again are open again, and still its own.
 */
async function* pagesOf({ ledger }: RunParts, run: RunRecord): AsyncGenerator<readonly DeadLetter[]> {
  let after = 0;
  // Ends with the first short page: ordinals only grow.
  for (;;) {
    const page = await ledger.deadLetters.lettersOf(run.id, after, lettersPerPage);
    yield page;
    if (page.length < lettersPerPage) return;
    after = page.at(-1)?.ordinal ?? after;
  }
}

interface Survey {
  /** Of all letters, in the order they were met: the fix-file of a redrive has them all. */
  readonly columns: readonly string[];
  readonly anyObject: boolean;
  readonly needsMapping: boolean;
}

/** What must be known before the first row. */
async function surveyOf(parts: RunParts, run: RunRecord): Promise<Survey> {
  const columns = new Map<string, string>();
  let anyObject = false;
  let needsMapping = run.options.remap;
  for await (const letters of pagesOf(parts, run)) {
    for (const { row, desired } of letters) {
      if (row?.kind === 'cells')
        for (const [index, name] of distinctNames(row.columns).entries()) columns.set(name, row.columns[index] ?? '');
      anyObject ||= row?.kind === 'object';
      needsMapping ||= desired === null;
    }
  }
  return { columns: [...columns.values()], anyObject, needsMapping };
}

function itemOf(run: RunRecord, letter: DeadLetter): readonly StageItem[] {
  const { row, desired, sequence } = letter;
  if (row === null) return [];
  if (desired !== null && !run.options.remap) return [{ kind: 'desired', row, desired, sequence, letterId: letter.id }];
  // What was no row is none now: there is nothing that a mapping could read.
  if (isMisshapen(letter.code)) {
    return [{ kind: 'broken', row, problem: misshapenAgain(letter, row, row.line), letterId: letter.id }];
  }
  return [{ kind: 'row', row, sequence, letterId: letter.id }];
}
