/** A redrive takes and gives back its letters in slices: whatever falls between two of them is made up for. */
import { expect, onTestFinished, test } from 'vitest';
import { enterDeadRows } from '#src/ledger/over/dead-rows.ts';
import { forgetLetters, lettersOver } from '#src/ledger/over/letters.ts';
import { giveBack } from '#src/ledger/over/redrives.ts';
import { createConnection } from '#src/ledger/sqlite/connection.ts';
import { openDatabase } from '#src/ledger/sqlite/database.ts';
import { sqliteStore } from '#src/ledger/sqlite/ledger.ts';
import type { Store } from '#src/ledger/tables.ts';
import { createdAtMs, deadRow, newRun } from '#test/contracts/support/build.ts';

/** More than two slices. */
const letterCount = 600;
const metBy = ['r1'];

async function storeWithLetters(): Promise<Store> {
  const db = openDatabase(':memory:');
  onTestFinished(() => db.close());
  const store = sqliteStore(createConnection(db));
  await store.transact(async (tables) => {
    await tables.runs.insertRun(newRun('r1'));
    const [run] = await tables.runs.findRuns({ ids: ['r1'] }, 1);
    if (run === undefined) throw new Error('no run');
    const rows = Array.from({ length: letterCount }, (_, index) => deadRow(`k${index}`, { line: index + 2 }));
    await enterDeadRows(
      tables,
      run,
      rows.map((dead) => ({ dead })),
      { atMs: createdAtMs },
    );
  });
  return store;
}

/** The process dies before its next transaction but `count`. */
function dyingAfter(store: Store, count: number): Store {
  let left = count;
  return {
    reads: store.reads,
    transact: async (work, durability) => {
      if (left === 0) throw new Error('killed');
      left -= 1;
      return store.transact(work, durability);
    },
  };
}

const statesOf = async (store: Store): Promise<Readonly<Record<string, number>>> => {
  const letters = await lettersOver(store).list({ limit: 2 * letterCount });
  return Object.fromEntries([...Map.groupBy(letters, ({ state }) => state)].map(([state, of]) => [state, of.length]));
};

const end = (store: Store, runId: string) =>
  store.transact(async ({ runs }) => {
    const place = await runs.place(runId);
    await runs.changeRun(place?.sequence ?? 0, { state: 'failed' });
  });

test('a redrive that was interrupted while it took its letters takes the rest before it is read', async () => {
  const store = await storeWithLetters();
  const dying = lettersOver(dyingAfter(store, 2));
  await expect(dying.enterRedrive(newRun('r2'), { metBy })).rejects.toThrow('killed');
  expect(await statesOf(store)).toEqual({ redriven: 250, open: 350 });
  const letters = lettersOver(store);
  await letters.takeLetters('r2');
  expect(await statesOf(store)).toEqual({ redriven: letterCount });
  expect((await letters.lettersOf('r2', null, 2)).map(({ line, attempts }) => [line, attempts])).toEqual([
    [2, 1],
    [3, 1],
  ]);
  await letters.takeLetters('r2');
  expect((await letters.get((await letters.list({ limit: 1 }))[0]?.id ?? ''))?.attempts).toBe(1);
});

test('another redrive is not entered for letters that one before it is about to take', async () => {
  const store = await storeWithLetters();
  await expect(lettersOver(dyingAfter(store, 1)).enterRedrive(newRun('r2'), { metBy })).rejects.toThrow('killed');
  expect(await statesOf(store)).toEqual({ open: letterCount });
  expect(await lettersOver(store).enterRedrive(newRun('r3'), { metBy })).toBeNull();
  expect(await statesOf(store)).toEqual({ redriven: letterCount });
  expect(await lettersOver(store).lettersOf('r2', null, 2_000)).toHaveLength(letterCount);
});

test('a redrive takes only what fits, by its code or by name', async () => {
  const store = await storeWithLetters();
  const letters = lettersOver(store);
  const named = (await letters.list({ limit: letterCount })).slice(0, 350).map(({ id }) => id);
  expect(await letters.enterRedrive(newRun('r2'), { code: 'another', metBy })).toBeNull();
  expect(await letters.enterRedrive(newRun('r3'), { metBy: ['r0'] })).toBeNull();
  const run = await letters.enterRedrive(newRun('r4'), { ids: [...named, 'unknown'], metBy });
  expect(run).toMatchObject({ kind: 'redrive', state: 'queued', fileName: '350 dead letters' });
  expect(await statesOf(store)).toEqual({ redriven: 350, open: 250 });
});

test('what a redrive did not settle is open again after its end, also where giving back was interrupted', async () => {
  const store = await storeWithLetters();
  const letters = lettersOver(store);
  await letters.enterRedrive(newRun('r2'), { metBy });
  await giveBack(store, 'r2');
  expect(await statesOf(store)).toEqual({ redriven: letterCount });
  await end(store, 'r2');
  await expect(giveBack(dyingAfter(store, 1), 'r2')).rejects.toThrow('killed');
  expect(await statesOf(store)).toEqual({ open: 250, redriven: 350 });
  await letters.giveBackEnded();
  expect(await statesOf(store)).toEqual({ open: letterCount });
  expect(await letters.lettersOf('r2', null, 10)).toEqual([]);
});

test('a run that was taken back takes nothing any more', async () => {
  const store = await storeWithLetters();
  await expect(lettersOver(dyingAfter(store, 2)).enterRedrive(newRun('r2'), { metBy })).rejects.toThrow('killed');
  await store.transact(async ({ runs }) => {
    await runs.deletePart((await runs.place('r2'))?.sequence ?? 0, 'run', 1);
  });
  const letters = lettersOver(store);
  await letters.takeLetters('r2');
  await letters.giveBackEnded();
  expect(await statesOf(store)).toEqual({ open: letterCount });
});

test('letters that are closed are forgotten in slices, and headers with the last row that has them', async () => {
  const store = await storeWithLetters();
  const ids = (await lettersOver(store).list({ limit: letterCount })).map(({ id }) => id);
  await store.transact(async ({ letters, runs }) => {
    await letters.change(ids, { state: 'closed', redriveRunId: null });
    await runs.deletePart((await runs.place('r1'))?.sequence ?? 0, 'deadRows', letterCount + 1);
  });
  await forgetLetters(dyingAfter(store, 1), createdAtMs + 1).catch(() => undefined);
  expect(await statesOf(store)).toEqual({ closed: 350 });
  await forgetLetters(store, createdAtMs + 1);
  expect(await statesOf(store)).toEqual({});
  expect(await store.reads.letters.counts('all', { states: ['closed'] })).toMatchObject([{ letters: 0 }]);
});
