/** Runs of which there may be any number, read page by page: a stopped run waits for a person, and those of delta feeds pile up. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RunFilter, RunLedger, RunRecord } from './runs.ts';
import type { RunTables } from './tables/runs.ts';

const runsPerPage = 100;

type EachFilter = Omit<RunFilter, 'beforeSequence' | 'limit' | 'oldestFirst'>;

/** All runs that fit, the newest first. One that is entered meanwhile is not among them. Stopping early reads no further page. */
export async function* eachRun({ list }: Pick<RunLedger, 'list'>, filter: EachFilter = {}): AsyncGenerator<RunRecord> {
  let before: Pick<RunFilter, 'beforeSequence'> = {};
  // Ends with the first short page: each goes on where the one before ended.
  for (;;) {
    const page = await list({ ...filter, ...before, limit: runsPerPage });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < runsPerPage) return;
    before = { beforeSequence: last.sequence };
    await nextTurn();
  }
}

/** The same over the tables. */
export function eachRunIn(runs: Pick<RunTables, 'findRuns'>, filter: EachFilter = {}): AsyncGenerator<RunRecord> {
  return eachRun({ list: ({ limit, ...where }) => runs.findRuns(where, limit) }, filter);
}
