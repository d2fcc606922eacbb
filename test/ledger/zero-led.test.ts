/** How long known numbers with zeros in front are: found without looking at every key that begins with a zero. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { noWrites } from '#src/ledger/rules/key-rows.ts';
import { createConnection } from '#src/ledger/sqlite/connection.ts';
import { openDatabase } from '#src/ledger/sqlite/database.ts';
import { sqliteStore } from '#src/ledger/sqlite/ledger.ts';
import type { KeyTables } from '#src/ledger/tables/keys.ts';
import { nextNumber, zeroLedLengths } from '#src/ledger/zero-led.ts';

/** A ledger with these keys, and how many rows a look has read of it. */
async function known(...keys: readonly string[]) {
  const db = openDatabase(':memory:');
  onTestFinished(() => db.close());
  const store = sqliteStore(createConnection(db));
  const contacts = keys.map((key) => ({
    ...{ number: null, key, state: 'bound' as const, contactId: `id-of-${key}`, document: null },
    ...{ linkedTo: null, boundRun: 1, boundAtMs: 1, writtenAtMs: null },
  }));
  await store.transact((tables) => tables.keys.write({ ...noWrites, contacts }));
  const counts = { pages: 0, rows: 0 };
  const counted: Pick<KeyTables, 'someContacts'> = {
    someContacts: async (...asked) => {
      const rows = await store.reads.keys.someContacts(...asked);
      counts.pages += 1;
      counts.rows += rows.length;
      return rows;
    },
  };
  return { counts, lengths: (prefix: string) => zeroLedLengths(counted, prefix, 20) };
}

const many = (count: number, keyOf: (index: number) => string) => Array.from({ length: count }, (_, i) => keyOf(i));
/** As the ids of one organisation. */
const salesforceId = (index: number) => `0035g00000${index.toString(36).padStart(4, 'A')}AAA`;

test('ids that begin alike are leapt over, and numbers behind them are found', async () => {
  const { counts, lengths } = await known('00251', ...many(5_000, salesforceId), '0990', 'crm-0990', '42');
  expect((await lengths('')).toSorted()).toEqual([4, 5]);
  expect(counts.rows).toBeLessThanOrEqual(600);
});

test('where no leap passes the other keys, each length may be there, and the rest is not looked at', async () => {
  const codes = many(25_000, (index) => `0${String(index).padStart(6, '0')}-A`);
  const { counts, lengths } = await known(...codes, '0990');
  expect(await lengths('')).toContain(4);
  expect(counts.rows).toBeLessThan(20_500);
});

test('others get their turn after each page', async () => {
  const { counts, lengths } = await known(...many(2_000, (index) => `0${1_000 + index}`));
  let isUnderWay = true;
  const looking = lengths('').finally(() => {
    isUnderWay = false;
  });
  const pagesAtTurns = new Set<number>();
  while (isUnderWay) {
    await nextTurn();
    pagesAtTurns.add(counts.pages);
  }
  expect(await looking).toEqual([5]);
  expect(counts.pages).toBeGreaterThan(9);
  expect(pagesAtTurns.size).toBeGreaterThanOrEqual(counts.pages - 1);
});

test('a page goes on with the first number that can be behind it', () => {
  expect(['0032', '003-7', '003A1', '0039A', '0999z', '09', '00 1'].map(nextNumber)).toEqual([
    ...['00320', '0030', '004', '004', '1', '090', '000'],
  ]);
});
