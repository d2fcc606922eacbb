/** The journal's table: by run and by key, in pages, and the oldest leave first. */
import { expect, test } from 'vitest';
import type { NewJournalRow } from '#src/ledger/contacts.ts';
import { createConnection } from '#src/ledger/sqlite/connection.ts';
import { openDatabase } from '#src/ledger/sqlite/database.ts';
import { journalTable } from '#src/ledger/sqlite/journal-table.ts';
import { sqliteKeyTables } from '#src/ledger/sqlite/key-tables.ts';
import { newRun } from '#test/contracts/support/build.ts';
import { openTempLedger } from './support/temp-ledger.ts';

const row = (runId: string, key: string, atMs: number): NewJournalRow => ({
  ...{ runId, key, atMs, contactId: `c-${key}`, kind: 'patch' },
  changes: [{ field: 'role', from: 'Buyer', to: `Seller ${atMs}`, why: 'changed' }],
});

async function openJournal() {
  const { ledger, file, close } = await openTempLedger();
  for (const id of ['r1', 'r2']) await ledger.runs.create(newRun(id));
  const db = openDatabase(file);
  const connection = createConnection(db);
  return {
    add: (...rows: NewJournalRow[]) => connection.transact((statements) => journalTable(statements).addJournal(rows)),
    forget: (beforeMs: number, limit: number) =>
      connection.transact((statements) =>
        sqliteKeyTables(statements).forget({ past: 'journal', beforeMs: beforeMs }, limit),
      ),
    page: journalTable(connection.reads).journalPage,
    close: async () => {
      db.close();
      await close();
    },
  };
}

test('writes are found by run and by key, in their order, page by page', async () => {
  const journal = await openJournal();
  await journal.add(row('r1', 'a', 1), row('r1', 'b', 2), row('r2', 'a', 3), row('no such run', 'a', 4));
  const keysOf = async (...filter: Parameters<typeof journal.page>) =>
    (await journal.page(...filter)).map(({ runId, key, atMs }) => `${runId} ${key} ${atMs}`);
  expect(await keysOf({ limit: 9 })).toEqual(['r1 a 1', 'r1 b 2', 'r2 a 3']);
  expect(await keysOf({ runId: 'r1', limit: 9 })).toEqual(['r1 a 1', 'r1 b 2']);
  expect(await keysOf({ key: 'a', newestFirst: true, limit: 9 })).toEqual(['r2 a 3', 'r1 a 1']);
  const [first] = await journal.page({ limit: 1 });
  expect(first).toMatchObject({ ...row('r1', 'a', 1), number: 1, runSequence: 1 });
  expect(await keysOf({ after: 1, limit: 1 })).toEqual(['r1 b 2']);
  expect(await keysOf({ newestFirst: true, after: 3, limit: 9 })).toEqual(['r1 b 2', 'r1 a 1']);
  await journal.close();
});

test('the oldest leave, a slice at a time, and no newer one', async () => {
  const journal = await openJournal();
  await journal.add(...Array.from({ length: 10 }, (_, index) => row('r1', `k${index}`, index)));
  expect([await journal.forget(7, 4), await journal.forget(7, 4), await journal.forget(7, 4)]).toEqual([4, 3, 0]);
  expect((await journal.page({ limit: 99 })).map(({ atMs }) => atMs)).toEqual([7, 8, 9]);
  await journal.close();
});
