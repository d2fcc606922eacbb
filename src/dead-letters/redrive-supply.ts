/** The rows of a redrive: its dead letters, verbatim where they were mapped before, else mapped anew. */

import type { DeadLetter } from '#src/ledger/dead-letter.ts';
import type { RunRecord } from '#src/ledger/run-record.ts';
import { type CompiledMapping, compileMapping } from '#src/mapping/compile-mapping.ts';
import { versionOf } from '#src/mapping/mapping-version.ts';
import type { RunParts } from '#src/runs/parts.ts';
import { readingOf } from '#src/runs/reading.ts';
import type { StageItem } from '#src/runs/stage-item.ts';
import type { RowSupply } from '#src/runs/stage-run.ts';
import type { Row } from '#src/sources/row.ts';
import { lettersPerRedriveMax } from './redrive.ts';

const lettersPerSlice = 500;

export async function openRedriveSupply(parts: RunParts, run: RunRecord): Promise<RowSupply> {
  const letters = await lettersOf(parts, run);
  const { mapping, context } = readingOf(run, parts);
  const compiledBy = new Map<string, CompiledMapping>();
  const definitions = needsMapping(run, letters) ? await parts.workspace.listCustomFields() : null;

  /** One compiled mapping for each header among the letters. */
  const compiledFor = (row: Row): CompiledMapping => {
    const columns = row.kind === 'cells' ? row.columns : null;
    const name = JSON.stringify(columns);
    const known = compiledBy.get(name);
    if (known !== undefined) return known;
    const compiled = compileMapping(mapping, { columns }, { ...context, customFields: definitions });
    compiledBy.set(name, compiled);
    return compiled;
  };

  const mapRow = (row: Row): ReturnType<CompiledMapping['mapRow']> => compiledFor(row).mapRow(row);
  const items = async function* (): AsyncGenerator<readonly StageItem[]> {
    for (let start = 0; start < letters.length; start += lettersPerSlice) {
      yield letters.slice(start, start + lettersPerSlice).flatMap((letter) => itemOf(run, letter));
    }
  };
  const anyObject = letters.some((letter) => letter.row?.kind === 'object');
  return {
    shape: { format: anyObject ? 'ndjson' : 'csv', columns: columnsOf(letters), delimiter: ',' },
    compiled: {
      name: 'redrive',
      version: versionOf({ redrive: run.id }),
      duplicateKeys: 'lastWins',
      mappedColumns: [],
      unmappedColumns: [],
      usesCustomFields: definitions !== null,
      mapRow,
    },
    items,
    itemsAgain: items,
    notes: () => [],
    warningCount: () => 0,
    close: async () => undefined,
  };
}

/**
 * Oldest first: where a key has several letters, the row that was met last wins. Those that an interrupted reading of
 * this run has let die again are open again, and still its own.
 */
async function lettersOf({ ledger }: RunParts, run: RunRecord): Promise<readonly DeadLetter[]> {
  const taken = await ledger.deadLetters.list({ states: ['redriven'], limit: lettersPerRedriveMax });
  const diedAgain = await ledger.deadLetters.list({ states: ['open'], runId: run.id, limit: lettersPerRedriveMax });
  return [...taken.filter((letter) => letter.redriveRunId === run.id), ...diedAgain].toSorted(
    (left, right) => left.sequence - right.sequence || left.line - right.line,
  );
}

function itemOf(run: RunRecord, letter: DeadLetter): readonly StageItem[] {
  const { row, desired, sequence } = letter;
  if (row === null) return [];
  if (desired !== null && !run.options.remap) return [{ kind: 'desired', row, desired, sequence, letterId: letter.id }];
  return [{ kind: 'row', row, sequence, letterId: letter.id }];
}

function needsMapping(run: RunRecord, letters: readonly DeadLetter[]): boolean {
  return run.options.remap || letters.some((letter) => letter.desired === null);
}

/** The columns of all letters, in the order they were met: the fix-file of a redrive has them all. */
function columnsOf(letters: readonly DeadLetter[]): readonly string[] {
  return [...new Set(letters.flatMap(({ row }) => (row?.kind === 'cells' ? row.columns : [])))];
}
