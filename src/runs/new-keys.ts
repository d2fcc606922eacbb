/**
 * The rows of a run whose keys are bound to no contact, page by page: their keys alone, or the rows. Others get their turn between
 * two pages.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Ledger } from '#src/ledger/port.ts';
import type { NewKey, StagedRecord } from '#src/ledger/staging.ts';
import { nameOf } from './match-contacts.ts';

type Reads = Pick<Ledger['runs'], 'newKeys' | 'stagedAt'>;

const keysPerPage = 500;

/** In the order of the file. @throws the signal's reason. */
export async function* newKeys(runs: Reads, runId: string, signal: AbortSignal): AsyncGenerator<readonly NewKey[]> {
  let after = 0;
  // Ends with the first short page: positions only grow.
  for (;;) {
    signal.throwIfAborted();
    const page = await runs.newKeys(runId, after, keysPerPage);
    yield page;
    if (page.length < keysPerPage) return;
    after = page.at(-1)?.position ?? after;
    await nextTurn();
  }
}

/** The same, with all that is staged of each. Ends with the keys. */
export async function* newKeyRows(
  runs: Reads,
  runId: string,
  signal: AbortSignal,
): AsyncGenerator<readonly StagedRecord[]> {
  for await (const page of newKeys(runs, runId, signal)) {
    yield await runs.stagedAt(
      runId,
      page.map(({ position }) => position),
    );
  }
}

/** What is shown of a row. */
export interface ShownRow {
  readonly line: number;
  readonly key: string;
  readonly name: string | null;
}

export function shownRow({ row, key, desired }: StagedRecord): ShownRow {
  return { line: row.line, key, name: nameOf(desired.scalars) };
}
