/** The tables in PostgreSQL where it differs from SQLite: characters it does not take, orders, numbers, plans, its schema. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import type { Ledger } from '#src/ledger/port.ts';
import { parseAddress } from '#src/ledger/postgres/address.ts';
import { checkPostgresLedger } from '#src/ledger/postgres/check.ts';
import { createConnection } from '#src/ledger/postgres/connection.ts';
import { openPostgresLedger, postgresStore } from '#src/ledger/postgres/ledger.ts';
import { openPool } from '#src/ledger/postgres/pool.ts';
import { noWrites } from '#src/ledger/rules/key-rows.ts';
import { createConnection as sqliteConnection } from '#src/ledger/sqlite/connection.ts';
import { openDatabase } from '#src/ledger/sqlite/database.ts';
import { sqliteStore } from '#src/ledger/sqlite/ledger.ts';
import type { ContactRow, KnownRow } from '#src/ledger/tables/keys.ts';
import type { Store } from '#src/ledger/tables.ts';
import { applyingRun, deadRow, hash, slice, stagingRun } from '#test/contracts/support/build.ts';
import { lockedUser, type PostgresServer } from '#test/support/postgres-server.ts';
import { until } from '#test/support/until.ts';
import { describeOnPostgres } from '#test/support/with-postgres.ts';
import { startChild } from './support/child-process.ts';
import { newSchema, openInSchema } from './support/postgres-ledgers.ts';

/** The store under a ledger of its own, and a way to ask its schema. */
async function openStore(
  server: PostgresServer,
): Promise<{ readonly store: Store; readonly ledger: Ledger; readonly url: string; close(): Promise<void> }> {
  const opened = await openInSchema(server);
  const pool = openPool(parseAddress(opened.url), () => undefined);
  let closed: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closed ??= pool.close();
    return closed;
  };
  onTestFinished(async () => {
    await close();
    await opened.close();
  });
  const connection = createConnection({ pool, schema: opened.schema, writer: 'w', observe: () => undefined });
  return { store: postgresStore(connection), ledger: opened.ledger, url: opened.url, close };
}

const contact = (key: string, parts: Partial<ContactRow> = {}): ContactRow => ({
  ...{ number: null, key, state: 'bound', contactId: `id-of-${key}`, document: null },
  ...{ linkedTo: null, boundRun: 1, boundAtMs: 1, writtenAtMs: null },
  ...parts,
});

const knownRow = (key: string): KnownRow => ({
  ...{ feed: 'main', key, rowHash: hash(key), fingerprint: hash(key), tried: null },
  ...{ sequence: 1, spoken: 1, heldCount: 0 },
});

describeOnPostgres('the tables in PostgreSQL', (server) => {
  test('a text with U+0000, or with what it is stored as, comes back as it was given', async () => {
    const { ledger, store } = await openStore(server());
    const odd = 'a\0b\uFDD0c\uFDD00\uFDD0d\0\0"\\{},NULL 😀';
    const run = await stagingRun(ledger, 'r1', { fileName: odd });
    const problem = { code: 'nameOdd', line: 2, field: odd, value: odd, message: odd, hint: odd };
    await ledger.runs.stage(slice(run, { dead: [deadRow('k1', { problems: [problem] })], counts: { rows: 1 } }));
    expect((await ledger.runs.get('r1'))?.fileName).toBe(odd);
    const [letter] = (await ledger.deadLetters.list({ limit: 10 })) as readonly {
      readonly message: string;
      readonly file: string;
    }[];
    expect(letter).toMatchObject({ message: odd, file: odd });
    expect((await ledger.runs.deadRows('r1', 0, 10))[0]?.problems).toEqual([problem]);
    await store.transact(({ keys }) =>
      keys.write({
        ...noWrites,
        history: [{ key: 'k1', atMs: 1, runId: null, kind: 'doubt', contactId: null, detail: odd }],
      }),
    );
    expect((await store.reads.keys.history(['k1']))[0]?.detail).toBe(odd);
  });

  test('lists have the order that they have in SQLite: by bytes', async () => {
    const names = ['b', 'B', 'a', 'ä', 'Z', 'z', '_', '-1', '10', '9', 'ß', 'éa', 'e', 'Ω', '😀', 'ﬀ', 'a b', 'a.b'];
    const db = openDatabase(':memory:');
    onTestFinished(() => db.close());
    const { store } = await openStore(server());
    const [there, here] = await Promise.all(
      [sqliteStore(sqliteConnection(db)), store].map(async ({ transact, reads }) => {
        const rows = names.map((id) => ({ id, owner: null, state: '', atMs: null, document: id }));
        await transact(({ desk }) => desk.putRecords('schedule', rows));
        const first = await reads.desk.listRecords('schedule', { order: 'id', limit: 5 });
        const rest = await reads.desk.listRecords('schedule', { order: 'id', after: first.at(-1), limit: 99 });
        return [...first, ...rest].map(({ id }) => id);
      }),
    );
    expect(here).toEqual(there);
    expect(here).toHaveLength(names.length);
  });

  test('keys are numbered without gaps, however often they are written', async () => {
    const { store } = await openStore(server());
    const numbers = async () => {
      const read = await store.reads.keys.read(['a', 'b', 'c'], []);
      return [...read].map(([key, { contact: row }]) => `${key} ${row?.number}`).sort();
    };
    await store.transact(({ keys }) => keys.write({ ...noWrites, contacts: [contact('b'), contact('a')] }));
    for (let turn = 0; turn < 3; turn += 1) {
      await store.transact(({ keys }) => keys.write({ ...noWrites, contacts: [contact('a'), contact('b')] }));
    }
    await store.transact(({ keys }) => keys.write({ ...noWrites, contacts: [contact('c'), contact('c')] }));
    expect(await numbers()).toEqual(['a 2', 'b 1', 'c 3']);
  });

  test('a write outside a transaction is refused, and a throw leaves nothing', async () => {
    const { store } = await openStore(server());
    await expect(store.reads.keys.write({ ...noWrites, contacts: [contact('a')] })).rejects.toMatchObject({
      code: 'writeOutsideTransaction',
    });
    const failed = store.transact(async ({ keys }) => {
      await keys.write({ ...noWrites, contacts: [contact('a')] });
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect((await store.reads.keys.read(['a'], [])).size).toBe(0);
  });

  test('one transaction after the other, of all processes: none is lost', async () => {
    const { ledger, reopen, close } = await openInSchema(server());
    onTestFinished(close);
    const ledgers = [ledger, await reopen(), await reopen()];
    await applyingRun(ledger, 'r1', ['k1']);
    await Promise.all(
      Array.from({ length: 30 }, (_, index) => ledgers[index % 3]?.runs.record('r1', { counts: { warnings: 1 } })),
    );
    expect((await ledger.runs.get('r1'))?.counts.warnings).toBe(30);
  });

  test('no statement of a loaded table reads all of it', async () => {
    const { store, ledger, url, close } = await openStore(server());
    const names = Array.from({ length: 300 }, (_, index) => `k${index}`);
    const run = await applyingRun(ledger, 'r1', names, { rowsPerBatch: 50 });
    const client = new pg.Client(url.replace(/[?].*/, ''));
    await client.connect();
    onTestFinished(() => client.end());
    await client.query(`SET search_path = ${parseAddress(url).schema}`);
    // Sessions tell what they did when they end; those that made the indexes have ended.
    const scans = async (): Promise<ReadonlyMap<string, number>> => {
      const { rows } = await client.query(
        `SELECT relname, seq_scan FROM pg_stat_user_tables
         WHERE schemaname = current_schema() AND relname NOT IN ('changes', 'letter_revision') ORDER BY relname`,
      );
      return new Map(rows.map(({ relname, seq_scan }) => [String(relname), Number(seq_scan)]));
    };
    const before = await scans();
    await store.transact(async ({ keys, runs, letters, desk }) => {
      await keys.write({ ...noWrites, contacts: names.map((key) => contact(key)) });
      await keys.write({ ...noWrites, known: names.map((key) => knownRow(key)) });
      await keys.said('main', ['k1']);
      await keys.inFlight({ owner: 'w', keys: ['k1'] });
      await keys.inFlight({ isWriting: true });
      await runs.pendingRows(run.sequence, [1, 2, 3]);
      await runs.rowStates(run.sequence, { first: 1, last: 50 });
      await runs.changeRows(run.sequence, [{ position: 1, outcome: 'updated' }]);
      await runs.nextBatches(1, 10);
      await runs.place('r1');
      await runs.findRuns({ states: ['applying'], isFirstInLine: true }, 10);
      await letters.facts({ by: 'key', feed: 'main', keys: ['k1'] });
      await letters.facts({ by: 'list', settled: false, after: null, limit: 10 });
      await desk.listRecords('audit', { order: 'due', state: 'waiting', untilMs: 1, limit: 10 });
      await desk.records('tick', ['a']);
    });
    for (let turn = 0; turn < 10; turn += 1) await store.reads.keys.read(['k1', 'k2'], ['main']);
    await ledger.close();
    await close();
    const read = await until('the counts of the sessions', async () => {
      const after = await scans();
      return [...after.values()].some((count) => count > 0) && after;
    });
    const { rows: fetched } = await client.query(
      "SELECT idx_tup_fetch AS count FROM pg_stat_user_tables WHERE schemaname = current_schema() AND relname = 'known'",
    );
    expect(Number(fetched[0]?.count), 'two keys do not cost what all cost').toBeLessThan(names.length);
    expect([...read].filter(([table, count]) => count > (before.get(table) ?? 0)).map(([table]) => table)).toEqual([]);
  });

  test('a check finds what does not fit together, and shows what', async () => {
    const { ledger, url } = await openStore(server());
    const run = await stagingRun(ledger, 'r1');
    await ledger.runs.stage(slice(run, { dead: [deadRow('k1'), deadRow('k2')], counts: { rows: 2 } }));
    expect(await checkPostgresLedger(url)).toMatchObject({ state: 'sound', schema: 5, findings: [], notes: [] });
    const client = new pg.Client(url.replace(/[?].*/, ''));
    await client.connect();
    onTestFinished(() => client.end());
    await client.query(
      `SET search_path = ${parseAddress(url).schema}; UPDATE letter_counts SET letters = 3; UPDATE dead_rows SET run_sequence = 77;
       INSERT INTO contacts (number, key, state) VALUES (1, 'k', 'bound')`,
    );
    const { state, findings } = await checkPostgresLedger(url);
    expect(state).toBe('inconsistent');
    expect(findings.map(({ check }) => check).sort()).toEqual(['bound', 'letters', 'strays']);
    await expect(checkPostgresLedger(server().url('&schema=nothing'))).rejects.toMatchObject({ code: 'ledgerMissing' });
  });

  test('four processes that open it at once migrate it once', async () => {
    const url = server().url(`&schema=${newSchema()}`);
    const module = new URL('./support/postgres-process.ts', import.meta.url);
    const children = Array.from({ length: 4 }, () => startChild(module, url));
    const ids = await Promise.all(children.map((child) => child.nextLine()));
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toMatch(/^[0-9a-f]{8}$/);
  });

  test('a schema of a newer Patchbay is refused by name, and left as it is', async () => {
    const { url, schema, close } = await openInSchema(server());
    await close();
    const client = new pg.Client(url.replace(/[?].*/, ''));
    await client.connect();
    onTestFinished(() => client.end());
    await client.query(`UPDATE ${schema}.meta SET value = '99' WHERE name = 'version'`);
    await expect(openPostgresLedger(url)).rejects.toMatchObject({ kind: 'usage', code: 'ledgerTooNew' });
  });

  test('a wrong password is said without it, and so are other ways not to get in', async () => {
    const { name, password } = lockedUser;
    const at = `127.0.0.1:${server().port}`;
    const refused = (url: string) =>
      openPostgresLedger(url).then(
        () => null,
        (error: unknown) => error as Error,
      );
    const wrong = await refused(`postgres://${name}:hush-${randomUUID()}@${at}/patchbay?sslmode=disable`);
    expect(wrong).toMatchObject({ kind: 'usage', code: 'ledgerRefused' });
    expect(JSON.stringify([wrong?.message, wrong])).not.toContain('hush');
    expect(await refused(`postgres://${name}@${at}/patchbay?sslmode=disable`)).toMatchObject({ code: 'ledgerRefused' });
    expect(await refused(`postgres://${name}:${password}@${at}/nothing?sslmode=disable`)).toMatchObject({
      code: 'ledgerDatabaseMissing',
    });
    expect(await refused(`postgres://${name}:${password}@${at}/patchbay`)).toMatchObject({ code: 'ledgerNoRights' });
    expect(await refused(`postgres://${name}:${password}@${at}/patchbay?sslmode=require`)).toMatchObject({
      code: 'ledgerNotEncrypted',
    });
    expect(await refused('postgres://hush@127.0.0.1:1/patchbay')).toMatchObject({
      kind: 'transient',
      code: 'ledgerAway',
    });
    for (const odd of [
      'http://a:hush@b/c',
      'postgres://a:hush@b/c?password=hush',
      'postgres://a:hush@b/c?schema=A-B',
      'hush',
    ]) {
      const error = await refused(odd);
      expect(error).toMatchObject({ kind: 'usage', code: 'databaseUrlInvalid' });
      expect(error?.message).not.toContain('hush');
    }
  });
});
