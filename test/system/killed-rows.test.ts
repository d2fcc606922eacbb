/**
 * A process is killed behind each transaction of staging a file, of cancelling a run and of pruning it. Whoever goes on finds every
 * row accounted for, and nothing twice.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { Ledger } from '#src/ledger/port.ts';
import { pendingCount } from '#src/ledger/runs.ts';
import { checkLedger } from '#src/ledger/sqlite/check.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { createdAtMs, newRun } from '#test/contracts/support/build.ts';
import { startChild } from '#test/ledger/support/child-process.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';

const rowCount = 5_000;
const worker = new URL('../ledger/support/rows-process.ts', import.meta.url);
const atMs = createdAtMs;

/** @returns whether the process came to the end. */
async function work(file: string, name: 'stage' | 'cancel' | 'prune', killedBehind: number): Promise<boolean> {
  return (await startChild(worker, file, name, `${killedBehind}`).nextLine()) === 'done';
}

async function withLedger<Result>(file: string, use: (ledger: Ledger) => Promise<Result>): Promise<Result> {
  const ledger = openSqliteLedger(file);
  try {
    return await use(ledger);
  } finally {
    await ledger.close();
  }
}

/** Rows by key with their ends, as they lie in the file. */
function rowsIn(file: string): ReadonlyMap<string, string | null> {
  using db = new DatabaseSync(file, { readOnly: true });
  const rows = db.prepare('SELECT key, outcome FROM staged').all();
  const byKey = new Map(rows.map((row) => [`${row.key}`, row.outcome === null ? null : `${row.outcome}`]));
  expect(byKey.size).toBe(rows.length);
  return byKey;
}

async function expectStaged(file: string): Promise<void> {
  expect(checkLedger(file).findings).toEqual([]);
  const rows = rowsIn(file);
  expect(rows.size).toBe(rowCount);
  expect(rows.get('k1')).toBe('withdrawn');
  await withLedger(file, async ({ runs, deadLetters }) => {
    const run = await runs.get('r1');
    expect(run?.counts).toMatchObject({ rows: rowCount + 1, dead: 2, deadNew: 2 });
    expect(await runs.pendingCount('r1')).toBe(rowCount - 1);
    expect(run && pendingCount(run.counts)).toBe(rowCount - 1);
    expect((await runs.nextBatches(atMs, 1_000)).length).toBe(rowCount / 100);
    expect((await runs.deadRows('r1', 0, 10)).map(({ key }) => key)).toEqual(['k1', 'k0']);
    expect(await deadLetters.list({ limit: 10 })).toHaveLength(2);
    expect(await runs.events('r1', 0, 10)).toHaveLength(1);
    expect((await runs.confirmedSince('main', 0)).map(({ bits }) => [...bits])).toEqual([[2]]);
  });
}

/** Kills behind the first transaction, the second one…, each time in a ledger as `prepare` makes it. Ends when nothing was left to kill. */
async function killBehindEach(
  name: 'stage' | 'cancel' | 'prune',
  prepare: (file: string) => Promise<void>,
  expectAfter: (file: string) => Promise<void>,
  expectEnd: (file: string) => Promise<void>,
): Promise<number> {
  for (let behind = 1; ; behind += 1) {
    const file = join(tempFolder(), 'ledger.sqlite');
    await prepare(file);
    const isDone = await work(file, name, behind);
    await expectAfter(file);
    if (!isDone) expect(await work(file, name, 0)).toBe(true);
    await expectEnd(file);
    if (isDone) return behind - 1;
  }
}

const queued = (file: string) => withLedger(file, async ({ runs }) => void (await runs.create(newRun('r1'))));

test('a file whose staging is killed behind any of its transactions is staged once, from the beginning', async () => {
  const kills = await killBehindEach(
    'stage',
    queued,
    async (file) => {
      const state = await withLedger(file, async ({ runs }) => (await runs.get('r1'))?.state);
      // Nothing is applied before the whole file is staged.
      if (state === 'applying') await expectStaged(file);
      else expect(['queued', 'staging']).toContain(state);
    },
    expectStaged,
  );
  expect(kills).toBeGreaterThanOrEqual(8);
}, 120_000);

test('a run whose cancelling is killed behind any of its transactions is cancelled by whoever goes on, and tells its rows once', async () => {
  const skipped = rowCount - 1;
  const kills = await killBehindEach(
    'cancel',
    async (file) => {
      await queued(file);
      await work(file, 'stage', 0);
      await withLedger(file, ({ runs }) => runs.move('r1', ['applying'], 'cancelling', { atMs }));
    },
    (file) =>
      withLedger(file, async ({ runs }) => {
        const run = await runs.get('r1');
        // Each slice has ended its rows and counted them at once.
        expect(run && pendingCount(run.counts)).toBe(await runs.pendingCount('r1'));
        expect(run?.counts.skipped).toBe((await runs.countEnds('r1')).skipped);
      }),
    (file) =>
      withLedger(file, async ({ runs }) => {
        expect(await runs.get('r1')).toMatchObject({
          state: 'cancelled',
          counts: { rows: rowCount + 1, skipped, dead: 2 },
        });
        expect((await runs.countEnds('r1')).skipped).toBe(skipped);
        const told = (await runs.events('r1', 0, 10)).filter(({ kind }) => kind === 'skipped');
        expect(told).toMatchObject([{ code: 'cancelled', message: expect.stringContaining(`${skipped} rows`) }]);
      }),
  );
  expect(kills).toBeGreaterThanOrEqual(4);
}, 120_000);

test('a run whose pruning is killed behind any of its transactions is pruned by whoever goes on', async () => {
  const kills = await killBehindEach(
    'prune',
    async (file) => {
      await queued(file);
      await work(file, 'stage', 0);
      await withLedger(file, ({ runs }) => runs.move('r1', ['applying'], 'failed', { atMs }));
    },
    async (file) => {
      const [run] = await withLedger(file, ({ runs }) => runs.list({ unpruned: true, limit: 10 }));
      if (run === undefined) expect(rowsIn(file).size).toBe(0);
      expect(await withLedger(file, async ({ runs }) => (await runs.get('r1'))?.counts.dead)).toBe(2);
    },
    async (file) => {
      expect(rowsIn(file).size).toBe(0);
      expect(checkLedger(file).findings).toEqual([]);
      await withLedger(file, async ({ runs, deadLetters }) => {
        expect(await runs.list({ unpruned: true, limit: 10 })).toEqual([]);
        expect((await runs.get('r1'))?.counts).toMatchObject({ rows: rowCount + 1, dead: 2 });
        expect(await deadLetters.list({ limit: 10 })).toHaveLength(2);
      });
    },
  );
  expect(kills).toBeGreaterThanOrEqual(5);
}, 120_000);
