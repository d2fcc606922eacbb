/**
 * How long the ledger is held, and how long the loop, while 200,000 dead letters are open: by lists, groups, counts, the view in
 * the queue, a redrive of all of them, its end, and their retention.
 *
 *   node test/bench/dead-letters.ts [LETTERS] [FILE]
 *
 * It prints a table: the whole time, the longest transaction, the longest turn of the loop, and the most processor time of a
 * turn, in milliseconds. The goals are 50 for a transaction and 150 for a turn; on a machine that is busy, the last column tells.
 */
import { subscribe } from 'node:diagnostics_channel';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { closeUnchanged, enterDeadRows } from '#src/ledger/over/dead-rows.ts';
import { forgetLetters, lettersOver, unsettledCount } from '#src/ledger/over/letters.ts';
import { giveBack } from '#src/ledger/over/redrives.ts';
import type { NewRun } from '#src/ledger/runs.ts';
import { noOptions } from '#src/ledger/runs.ts';
import { createConnection } from '#src/ledger/sqlite/connection.ts';
import { openDatabase } from '#src/ledger/sqlite/database.ts';
import { sqliteStore } from '#src/ledger/sqlite/ledger.ts';
import type { DeadRow } from '#src/ledger/staging.ts';

const letterCount = Number(process.argv[2] ?? 200_000);
const folder = mkdtempSync(join(tmpdir(), 'patchbay-letters-'));
const columns = Array.from({ length: 20 }, (_, index) => `Column ${index + 1}`);
const codes = ['phoneInvalid', 'emailInvalid', 'refused422', 'keyMissing'];
const rowsPerSlice = 500;

const runOf = (id: string, kind: NewRun['kind'] = 'file'): NewRun => ({
  ...{ id, feed: 'main', kind, fileName: `${id}.csv`, claimedPath: '', importFolder: '', sha256: id, bytes: 1 },
  ...{ options: noOptions, mapping: null, sourceLabel: null, refusal: null, createdAtMs: 1 },
});

function deadRow(index: number): DeadRow {
  const code = codes[index % codes.length] ?? '';
  const [line, key] = [index + 2, code === 'keyMissing' ? null : `customer-${index}`];
  const cells = columns.map((_, column) => `value ${column} of ${index}`);
  const problem = { code, line, field: 'Column 3', value: 'x', message: `this is wrong: ${code}`, hint: 'Correct it.' };
  const row = { kind: 'cells', line, record: line - 1, columns, cells } as const;
  return { class: 'invalid', code, line, key, problems: [problem], row, desired: null, answer: null };
}

const db = openDatabase(process.argv[3] ?? join(folder, 'ledger.sqlite'));
const connection = createConnection(db);
const store = sqliteStore(connection);
const letters = lettersOver(store);

let longestHold = 0;
subscribe('patchbay:ledger-hold', (ms) => {
  longestHold = Math.max(longestHold, Number(ms));
});
let longestTurn = 0;
let longestBusy = 0;
let turnBegan = performance.now();
let busyBegan = process.threadCpuUsage();
let isOver = false;
/** Ends with the bench. */
function watchTurns(): void {
  const now = performance.now();
  const { user, system } = process.threadCpuUsage(busyBegan);
  longestTurn = Math.max(longestTurn, now - turnBegan);
  longestBusy = Math.max(longestBusy, (user + system) / 1_000);
  begin();
  if (!isOver) setImmediate(watchTurns);
}
function begin(): void {
  turnBegan = performance.now();
  busyBegan = process.threadCpuUsage();
}

const table: Record<string, object> = {};
async function measure(what: string, work: () => Promise<unknown>): Promise<void> {
  await nextTurn();
  [longestHold, longestTurn, longestBusy] = [0, 0, 0];
  begin();
  const startedAt = performance.now();
  await work();
  const wholeMs = performance.now() - startedAt;
  await nextTurn();
  const rounded = (ms: number) => Math.round(ms * 10) / 10;
  table[what] = {
    whole: rounded(wholeMs),
    transaction: rounded(longestHold),
    turn: rounded(longestTurn),
    busy: rounded(longestBusy),
  };
}

async function enterAll(runId: string, atMs: number): Promise<void> {
  await store.transact(({ runs }) => runs.insertRun(runOf(runId)));
  const [run] = await store.reads.runs.findRuns({ ids: [runId] }, 1);
  for (let start = 0; run !== undefined && start < letterCount; start += rowsPerSlice) {
    const rows = Array.from({ length: Math.min(rowsPerSlice, letterCount - start) }, (_, index) => ({
      dead: deadRow(start + index),
    }));
    await store.transact((tables) => enterDeadRows(tables, run, rows, { atMs: atMs + start }));
    await nextTurn();
  }
}

watchTurns();
try {
  await measure('enter all', () => enterAll('r1', 1_000));
  await measure('enter all again', () => enterAll('r2', 1_000_000));
  await measure('first page of 200', () => letters.list({ states: ['open', 'redriven'], limit: 200 }));
  const deep = (await letters.summaries({ states: ['open'], limit: letterCount / 2 })).at(-1);
  if (deep === undefined) throw new Error('no letters');
  await measure('page of 200 in the middle', () => letters.list({ states: ['open'], after: deep, limit: 200 }));
  await measure('page of 200 by code', () => letters.list({ states: ['open'], code: 'refused422', limit: 200 }));
  await measure('nothing of a code', () => letters.list({ states: ['open'], code: 'unknown', limit: 200 }));
  await measure('nothing that is closed', () => letters.list({ states: ['closed'], limit: 200 }));
  await measure('list of 10,000', () => letters.list({ limit: 10_000 }));
  await measure('groups', () => letters.groups(50));
  await measure('count of open ones', () => unsettledCount(store));
  await measure('open ones by run', () => letters.openByRun({ code: 'phoneInvalid' }));
  await measure('10,000 for the view', () => letters.summaries({ states: ['open'], limit: 10_000 }));
  await measure('redrive of one', () => letters.enterRedrive(runOf('r3'), { ids: [deep.id], metBy: ['r2'] }));
  await measure('redrive of all', () => letters.enterRedrive(runOf('r4'), { metBy: ['r2'] }));
  await measure('rows of the redrive', async () => {
    let after: Parameters<typeof letters.lettersOf>[1] = null;
    for (;;) {
      const page = await letters.lettersOf('r4', after, 500);
      after = page.at(-1) ?? null;
      if (page.length < 500) return;
      await nextTurn();
    }
  });
  await store.transact(async ({ runs }) => {
    await runs.changeRun((await runs.place('r4'))?.sequence ?? 0, { state: 'failed' });
  });
  await measure('end of the redrive', () => giveBack(store, 'r4'));
  await store.transact(({ runs }) => runs.insertRun(runOf('r5')));
  await measure('closed without a key', () => letters.closeUnmet('r5'));
  db.run("INSERT INTO contacts (key, state) SELECT key, 'bound' FROM letters WHERE key IS NOT NULL");
  const all = new Uint8Array(letterCount).fill(255);
  await store.transact(async ({ runs }) => runs.putBitmap((await runs.place('r5'))?.sequence ?? 0, 'unchanged', all));
  await measure('closed by unchanged rows', () => closeUnchanged(store, 'r5'));
  await measure('forgotten', () => forgetLetters(store, 10_000_000));
  console.table(table);
} finally {
  isOver = true;
  db.close();
  rmSync(folder, { recursive: true });
}
