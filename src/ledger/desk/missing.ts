/** People who left, over the tables of the desk: a record for each, under its feed. */

import type { MissingLedger, MissingPerson } from '#src/ledger/missing.ts';
import { hasBit } from '#src/ledger/rules/bitmap.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { Store, Tables } from '#src/ledger/tables.ts';
import { inSlices, inTransactions, recordsOf, sliceMax } from './records.ts';

const idOfMissing = (feed: string, key: string): string => JSON.stringify([feed, key]);

/** @returns the records in the tables that it is given. */
export const missingIn = recordsOf<MissingPerson>('missing', ({ feed, key, sinceMs }) => ({
  id: idOfMissing(feed, key),
  owner: feed,
  state: 'missing',
  atMs: sinceMs,
}));

/** Numbers looked through at a time. */
const numbersPerSlice = 4_000;

export function missingOver(store: Store): MissingLedger {
  const { reads } = store;
  return {
    of: async (feed, keys) => [...(await missingIn(reads).many(keys.map((key) => idOfMissing(feed, key)))).values()],

    list: async (feed, afterKey, limit) => {
      const [before] = afterKey === null ? [] : await reads.desk.records('missing', [idOfMissing(feed, afterKey)]);
      const found = await missingIn(reads).list({ owner: feed, order: 'oldest', after: before, limit });
      return found.map(({ document }) => document);
    },

    count: (feed) => missingIn(reads).count({ owner: feed }),

    enter: async (runId) => {
      const run = await endedRun(reads, runId);
      if (run === null) return;
      const { feed, sequence, createdAtMs: sinceMs } = run;
      const [bitmap] = await reads.runs.bitmaps(feed, 'missing', sequence, sequence);
      if (bitmap === undefined) return;
      const missed: Missed = { feed, runId, sinceMs, bits: bitmap.bits };
      await removeBack(store, missed, ({ number }) => !hasBit(bitmap.bits, number));
      await enterMissing(store, missed);
    },

    enterBack: async (runId) => {
      const run = await endedRun(reads, runId);
      if (run === null) return;
      const { feed, sequence, createdAtMs } = run;
      const [met] = await reads.runs.bitmaps(feed, 'met', sequence, sequence);
      if (met === undefined) return;
      const isOlder = ({ sinceMs }: MissingPerson): boolean => sinceMs <= createdAtMs;
      await removeBack(store, { feed, runId }, (one) => hasBit(met.bits, one.number) && isOlder(one));
    },
  };
}

/** Whom the file of a run lacks. */
interface Missed extends Pick<MissingPerson, 'feed' | 'runId' | 'sinceMs'> {
  readonly bits: Uint8Array;
}

/** Null once everything that follows from its end is done: a later file may have said something else since. */
async function endedRun({ runs }: Pick<Tables, 'runs'>, runId: string): Promise<RunRecord | null> {
  return (await runs.findRuns({ ids: [runId], unpruned: true }, 1))[0] ?? null;
}

async function enterMissing(store: Store, { feed, bits, ...at }: Missed): Promise<void> {
  const last = bits.length * 8;
  let from = 0;
  await inSlices(async () => {
    const numbers: number[] = [];
    for (let number = from; number < Math.min(last, from + numbersPerSlice); number += 1) {
      if (hasBit(bits, number)) numbers.push(number);
    }
    from += numbersPerSlice;
    const count = numbers.length === 0 ? 0 : await enterNumbers(store, { feed, ...at }, numbers);
    return { count, isLast: from >= last };
  });
}

function enterNumbers(store: Store, at: Omit<Missed, 'bits'>, numbers: readonly number[]): Promise<number> {
  const { feed } = at;
  return store.transact(async (tables) => {
    if ((await endedRun(tables, at.runId)) === null) return 0;
    const keys = await tables.keys.keysAt(numbers);
    const known = await missingIn(tables).many([...keys.values()].map((key) => idOfMissing(feed, key)));
    const added = [...keys].flatMap(([number, key]) =>
      known.has(idOfMissing(feed, key)) ? [] : [{ key, number, ...at }],
    );
    await missingIn(tables).put(...added);
    return added.length;
  });
}

/** Those who are in the file again. */
async function removeBack(
  store: Store,
  { feed, runId }: Pick<Missed, 'feed' | 'runId'>,
  isBack: (one: MissingPerson) => boolean,
): Promise<void> {
  let after: { readonly number: number; readonly id: string; readonly atMs: number | null } | undefined;
  await inTransactions(store, async (tables) => {
    if ((await endedRun(tables, runId)) === null) return { count: 0, isLast: true };
    const page = await missingIn(tables).list({ owner: feed, order: 'oldest', after, limit: sliceMax });
    after = page.at(-1);
    const back = page.filter(({ document }) => isBack(document)).map(({ id }) => id);
    await missingIn(tables).remove(...back);
    return { count: back.length, isLast: page.length < sliceMax };
  });
}
