/** The tables of keys in SQLite, where a subject's contract does not reach: bounds, and pages of what a feed knows. */
import { expect, onTestFinished, test } from 'vitest';
import { eventsPerKeyMax } from '#src/ledger/contacts.ts';
import { noWrites } from '#src/ledger/rules/key-rows.ts';
import { createConnection } from '#src/ledger/sqlite/connection.ts';
import { openDatabase } from '#src/ledger/sqlite/database.ts';
import { sqliteStore } from '#src/ledger/sqlite/ledger.ts';
import type { ContactRow, KnownRow } from '#src/ledger/tables/keys.ts';
import type { Store } from '#src/ledger/tables.ts';
import { hash } from '#test/contracts/support/build.ts';

function opened(): Store {
  const db = openDatabase(':memory:');
  onTestFinished(() => db.close());
  db.run("INSERT INTO feeds (name, created_at) VALUES ('crm', 1), ('shop', 1)");
  return sqliteStore(createConnection(db));
}

const contact = (key: string): ContactRow => ({
  ...{ number: null, key, state: 'bound', contactId: `id-of-${key}`, document: null },
  ...{ linkedTo: null, boundRun: 1, boundAtMs: 1, writtenAtMs: null },
});
const known = (key: string, feed: string, parts: Partial<KnownRow> = {}): KnownRow => ({
  ...{ feed, key, rowHash: hash(key), fingerprint: hash(key), tried: null, sequence: 1, spoken: 1, heldCount: 0 },
  ...parts,
});

test('a key keeps its newest events, oldest first, whatever happens to other keys', async () => {
  const store = opened();
  const event = { runId: 'r1', kind: 'doubt', contactId: null, detail: 'reset' } as const;
  const history = Array.from({ length: eventsPerKeyMax + 5 }, (_, index) => ({ ...event, key: 'k1', atMs: index + 1 }));
  await store.transact(({ keys }) =>
    keys.write({ ...noWrites, history: [...history, { ...event, key: 'k2', atMs: 1 }] }),
  );
  const { keys } = store.reads;
  expect(await keys.history(['k1'])).toEqual(history.slice(5));
  expect(await keys.history(['k2'])).toHaveLength(1);
  expect(await keys.history(['k3'])).toEqual([]);
});

test('what a feed knows comes in pages by number, with zeros where the next row must be planned', async () => {
  const store = opened();
  const names = ['k3', 'k1', 'k2'];
  await store.transact(({ keys }) =>
    keys.write({
      ...noWrites,
      contacts: names.map(contact),
      known: [...names.map((key) => known(key, 'crm', key === 'k1' ? { rowHash: null } : {})), known('k1', 'shop')],
    }),
  );
  const { keys } = store.reads;
  const first = await keys.knownPage('crm', 0, 2);
  expect([...first.numbers]).toEqual([1, 2]);
  expect(Buffer.from(first.rowHashes.subarray(0, 16)).toString('base64url')).toBe(hash('k3'));
  expect([...first.rowHashes.subarray(16)]).toEqual(Array.from({ length: 16 }, () => 0));
  expect([...(await keys.knownPage('crm', 2, 2)).numbers]).toEqual([3]);
  const behind = await keys.knownPage('crm', 3, 2);
  expect([behind.numbers.length, behind.rowHashes.length]).toEqual([0, 0]);
});

test('the revision of a feed goes up once for each transaction that changes what it knows', async () => {
  const store = opened();
  const revisions = async () => [
    (await store.reads.keys.feeds('crm')).at(0)?.revision,
    (await store.reads.keys.feeds('shop')).at(0)?.revision,
  ];
  await store.transact(({ keys }) =>
    keys.write({ ...noWrites, contacts: [contact('k1')], known: [known('k1', 'crm'), known('k1', 'crm')] }),
  );
  expect(await revisions()).toEqual([1, 0]);
  await store.transact(({ keys }) => keys.write({ ...noWrites, contacts: [contact('k2')] }));
  expect(await revisions()).toEqual([1, 0]);
});
