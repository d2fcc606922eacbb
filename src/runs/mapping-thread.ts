/** The thread of `row-reader.ts`: cells in, desired contacts out, as JSON that is written once and goes into the ledger as it is. */
import { parentPort } from 'node:worker_threads';
import { fingerprint, hasContent } from '#src/contacts/desired.ts';
import { invariant } from '#src/errors.ts';
import type { BoundColumn, Settings } from '#src/mapping/layout.ts';
import { type MappedRow, mapCells } from '#src/mapping/row.ts';
import { givenToThread } from '#src/threads/start-thread.ts';

/** Plain data: it is copied. */
export interface ThreadMapping {
  readonly bound: readonly BoundColumn[];
  readonly settings: Settings;
}

export interface RowsToMap {
  readonly lines: readonly number[];
  /** Of each row, with a NUL between two cells. */
  readonly cells: readonly string[];
}

export interface MappedRows {
  /** Of each row; empty where `others` has it. */
  readonly keys: readonly string[];
  readonly desired: readonly string[];
  readonly fingerprints: readonly string[];
  /** 1 where the desired contact holds anything but its key. */
  readonly hasContent: Uint8Array;
  /** Rows that are rejected or warned of, by their index. */
  readonly others: readonly (readonly [number, MappedRow])[];
}

/** Between the cells of a row on their way: no cell that can be read holds a control character. */
const cellEnd = '\u0000';

const { bound, settings } = givenToThread<ThreadMapping>();

function mapAll({ lines, cells }: RowsToMap): MappedRows {
  const keys: string[] = [];
  const desired: string[] = [];
  const fingerprints: string[] = [];
  const others: [number, MappedRow][] = [];
  const filled = new Uint8Array(cells.length);
  for (const [index, text] of cells.entries()) {
    const line = lines[index] ?? 0;
    const row = { kind: 'cells', line, record: line, columns: [], cells: text.split(cellEnd) } as const;
    const mapped = mapCells(row, bound, settings);
    const isPlain = mapped.kind === 'desired' && mapped.warnings.length === 0;
    if (!isPlain) others.push([index, mapped]);
    keys.push(isPlain ? mapped.desired.key : '');
    desired.push(isPlain ? JSON.stringify(mapped.desired) : '');
    fingerprints.push(isPlain ? fingerprint(mapped.desired) : '');
    filled[index] = Number(isPlain && hasContent(mapped.desired));
  }
  return { keys, desired, fingerprints, hasContent: filled, others };
}

invariant(parentPort !== null, 'rows are mapped in a worker thread');
const owner = parentPort;
owner.on('message', (rows: RowsToMap) => owner.postMessage(mapAll(rows)));
// It is ready.
owner.postMessage(null);
