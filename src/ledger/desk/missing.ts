/** People who left, over the tables of the desk: a record for each, under its feed. */

import type { MissingLedger, MissingPerson } from '#src/ledger/missing.ts';
import { hasBit } from '#src/ledger/rules/bitmap.ts';
import type { Store } from '#src/ledger/tables.ts';
import { inSlices, recordsOf, sliceMax } from './records.ts';

export const idOfMissing = (feed: string, key: string): string => JSON.stringify([feed, key]);

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
      const place = await reads.runs.place(runId);
      if (place === null) return;
      const { feed, sequence } = place;
      const [bitmap] = await reads.runs.bitmaps(feed, 'missing', sequence, sequence);
      if (bitmap === undefined) return;
      const { bits } = bitmap;
      const run = (await reads.runs.findRuns({ ids: [runId] }, 1))[0];
      const sinceMs = run?.createdAtMs ?? 0;
      await removeBack(store, feed, bits);
      const last = bits.length * 8;
      let from = 0;
      await inSlices(async () => {
        const numbers: number[] = [];
        for (let number = from; number < Math.min(last, from + numbersPerSlice); number += 1) {
          if (hasBit(bits, number)) numbers.push(number);
        }
        from += numbersPerSlice;
        const count = numbers.length === 0 ? 0 : await enterMissing(store, feed, numbers, { sinceMs, runId });
        return { count, isLast: from >= last };
      });
    },
  };
}

function enterMissing(
  store: Store,
  feed: string,
  numbers: readonly number[],
  at: Pick<MissingPerson, 'sinceMs' | 'runId'>,
): Promise<number> {
  return store.transact(async (tables) => {
    const keys = await tables.keys.keysAt(numbers);
    const known = await missingIn(tables).many([...keys.values()].map((key) => idOfMissing(feed, key)));
    const added = [...keys].flatMap(([number, key]) =>
      known.has(idOfMissing(feed, key)) ? [] : [{ feed, key, number, ...at }],
    );
    await missingIn(tables).put(...added);
    return added.length;
  });
}

/** Those who are in the file again. */
async function removeBack(store: Store, feed: string, bits: Uint8Array): Promise<void> {
  let after: { readonly number: number; readonly id: string; readonly atMs: number | null } | undefined;
  await inSlices(() =>
    store.transact(async (tables) => {
      const page = await missingIn(tables).list({ owner: feed, order: 'oldest', after, limit: sliceMax });
      after = page.at(-1);
      const back = page.filter(({ document }) => !hasBit(bits, document.number)).map(({ id }) => id);
      await missingIn(tables).remove(...back);
      return { count: back.length, isLast: page.length < sliceMax };
    }),
  );
}
