/**
 * Lists that may be long, read page by page, so that none is in memory as a whole: runs, of which stopped ones wait for a person and those of
 * delta feeds pile up, and dead letters.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DeadLetter, DeadLetterFilter, DeadLetterLedger } from './letters.ts';
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

const lettersPerPageMax = 250;

/**
 * The letters that fit, newest first, in pages that are not empty. Ends with the list, or with its limit, which may be infinite.
 * @param lettersPerPage fewer where little memory may be used: a row may be a megabyte long.
 */
export async function* letterPages(
  { list }: Pick<DeadLetterLedger, 'list'>,
  { limit: limitOfAll, ...filter }: DeadLetterFilter,
  lettersPerPage = lettersPerPageMax,
): AsyncGenerator<readonly DeadLetter[]> {
  // Of a letter as it was listed: it may be met again meanwhile, and then stands first.
  let after: Pick<DeadLetterFilter, 'after'> = {};
  for (let left = limitOfAll; left > 0; left -= lettersPerPage) {
    const limit = Math.min(left, lettersPerPage);
    const letters = await list({ ...filter, ...after, limit });
    const last = letters.at(-1);
    if (last === undefined) return;
    yield letters;
    if (letters.length < limit) return;
    after = { after: last };
    await nextTurn();
  }
}
