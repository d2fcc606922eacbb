/** Lists of dead letters, read page by page: a long one is never in memory as a whole. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DeadLetter, DeadLetterFilter, DeadLetterLedger } from './letters.ts';

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
