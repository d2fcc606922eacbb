/**
 * The rows of a run whose contacts are to be made, page by page: those whose keys are bound to no contact, their keys alone or the rows;
 * and those whose contacts are gone. Others get their turn between two pages.
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
async function* newKeyRows(runs: Reads, runId: string, signal: AbortSignal): AsyncGenerator<readonly StagedRecord[]> {
  for await (const page of newKeys(runs, runId, signal)) {
    yield await runs.stagedAt(
      runId,
      page.map(({ position }) => position),
    );
  }
}

/** Those rows, and then those at these positions: their keys' contacts are gone, and are made again. Ends with them. */
export async function* rowsToMake(
  runs: Reads,
  runId: string,
  again: readonly number[],
  signal: AbortSignal,
): AsyncGenerator<readonly StagedRecord[]> {
  yield* newKeyRows(runs, runId, signal);
  for (let first = 0; first < again.length; first += keysPerPage) {
    signal.throwIfAborted();
    yield await runs.stagedAt(runId, again.slice(first, first + keysPerPage));
    await nextTurn();
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
