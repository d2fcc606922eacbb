/** The rows of a redrive: its dead letters, verbatim where they were mapped before, else mapped anew. */

import type { DeadLetter } from '#src/ledger/dead-letter.ts';
import type { RunRecord } from '#src/ledger/run-record.ts';
import { type CompiledMapping, compileMapping } from '#src/mapping/compile-mapping.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { versionOf } from '#src/mapping/mapping-version.ts';
import type { RunParts } from '#src/runs/parts.ts';
import { sourceLabelOf } from '#src/runs/source-label-of.ts';
import type { StageItem } from '#src/runs/stage-item.ts';
import type { RowSupply } from '#src/runs/stage-run.ts';
import type { Row } from '#src/sources/row.ts';
import { lettersPerRedriveMax } from './redrive.ts';

const lettersPerSlice = 500;

export async function openRedriveSupply(parts: RunParts, run: RunRecord): Promise<RowSupply> {
  const letters = (await parts.ledger.deadLetters.list({ states: ['redriven'], limit: lettersPerRedriveMax })).filter(
    (letter) => letter.redriveRunId === run.id,
  );
  const mappings = await mappingsOf(parts, run, letters);
  const compiledBy = new Map<string, CompiledMapping>();
  const definitions = needsMapping(run, letters) ? await parts.workspace.listCustomFields() : null;

  /** One compiled mapping for each mapping and header among the letters. */
  const compiledFor = (letter: DeadLetter, row: Row): CompiledMapping => {
    const mapping = mappings.get(letter.runId) ?? null;
    const columns = row.kind === 'cells' ? row.columns : null;
    const name = JSON.stringify([mapping, columns]);
    const known = compiledBy.get(name);
    if (known !== undefined) return known;
    const compiled = compileMapping(
      mapping,
      { columns },
      {
        sourceLabel: sourceLabelOf(run.feed),
        customFields: definitions,
        defaultCountry: mapping?.defaultCountry === undefined ? parts.defaultCountry : null,
        onBlank: mapping === null ? parts.onBlank : null,
      },
    );
    compiledBy.set(name, compiled);
    return compiled;
  };

  const rowsById = new Map<Row, DeadLetter>();
  const mapRow = (row: Row): ReturnType<CompiledMapping['mapRow']> => {
    const letter = rowsById.get(row);
    return compiledFor(letter ?? anyOf(letters), row).mapRow(row);
  };
  const items = async function* (): AsyncGenerator<readonly StageItem[]> {
    for (let start = 0; start < letters.length; start += lettersPerSlice) {
      rowsById.clear();
      yield letters.slice(start, start + lettersPerSlice).flatMap((letter) => itemOf(run, letter, rowsById));
    }
  };
  const first = letters.find((letter) => letter.row !== null)?.row ?? null;
  return {
    shape: { format: first?.kind === 'object' ? 'ndjson' : 'csv', columns: columnsOf(letters), delimiter: ',' },
    compiled: {
      name: 'redrive',
      version: versionOf({ redrive: run.id }),
      duplicateKeys: 'lastWins',
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

function itemOf(run: RunRecord, letter: DeadLetter, rowsById: Map<Row, DeadLetter>): readonly StageItem[] {
  const { row, desired, sequence } = letter;
  if (row === null) return [];
  if (desired !== null && !run.options.remap) return [{ kind: 'desired', row, desired, sequence }];
  rowsById.set(row, letter);
  return [{ kind: 'row', row, sequence }];
}

function needsMapping(run: RunRecord, letters: readonly DeadLetter[]): boolean {
  return run.options.remap || letters.some((letter) => letter.desired === null);
}

/** Verbatim means: with the mapping of the run that met the row. */
async function mappingsOf(
  parts: RunParts,
  run: RunRecord,
  letters: readonly DeadLetter[],
): Promise<ReadonlyMap<string, Mapping | null>> {
  const mappings = new Map<string, Mapping | null>();
  for (const { runId } of letters) {
    if (mappings.has(runId)) continue;
    mappings.set(runId, run.options.remap ? run.mapping : ((await parts.ledger.runs.get(runId))?.mapping ?? null));
  }
  return mappings;
}

/** The columns of all letters, in the order they were met: the fix-file of a redrive has them all. */
function columnsOf(letters: readonly DeadLetter[]): readonly string[] {
  return [...new Set(letters.flatMap(({ row }) => (row?.kind === 'cells' ? row.columns : [])))];
}

function anyOf(letters: readonly DeadLetter[]): DeadLetter {
  const [first] = letters;
  if (first === undefined) throw new RangeError('a row belongs to a letter');
  return first;
}
