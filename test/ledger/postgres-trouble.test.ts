/** A ledger in PostgreSQL whose server goes away, refuses, is slow or answers nothing: what passes is `transient`, and it goes on. */
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import type { PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { parseAddress } from '#src/ledger/postgres/address.ts';
import { createConnection } from '#src/ledger/postgres/connection.ts';
import { openPostgresLedger } from '#src/ledger/postgres/ledger.ts';
import { limits, lockOf, openPool } from '#src/ledger/postgres/pool.ts';
import { postgresTroubleOf } from '#src/ledger/postgres/trouble.ts';
import { isLedgerTrouble } from '#src/ledger/trouble.ts';
import { newRun } from '#test/contracts/support/build.ts';
import type { PostgresServer } from '#test/support/postgres-server.ts';
import { until } from '#test/support/until.ts';
import { describeOnPostgres } from '#test/support/with-postgres.ts';
import { startCuttingProxy } from './support/cutting-proxy.ts';
import { newSchema } from './support/postgres-ledgers.ts';

interface Observed {
  readonly ledger: Ledger;
  readonly schema: string;
  /** Codes of what the observer was given; `well` for a commit. */
  readonly heard: string[];
}

async function opened(server: PostgresServer, { schema = newSchema(), port = server.port } = {}): Promise<Observed> {
  const heard: string[] = [];
  const observe = (trouble: PatchbayError | null) => void heard.push(trouble?.code ?? 'well');
  const url = server.url(`&schema=${schema}`).replace(`:${server.port}/`, `:${port}/`);
  const ledger = await openPostgresLedger(url, observe);
  onTestFinished(() => ledger.close());
  return { ledger, schema, heard };
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'well',
    (error: unknown) => {
      expect(isLedgerTrouble(error), `${error}`).toBe(true);
      return (error as PatchbayError).code;
    },
  );

/** A session of its own, for what another program does. */
async function session(server: PostgresServer, schema: string): Promise<pg.Client> {
  const client = new pg.Client(server.url().replace(/[?].*/, ''));
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(`SET search_path = ${schema}`);
  return client;
}

describeOnPostgres('trouble of PostgreSQL', (server) => {
  test.each(['fast', 'crash'] as const)(
    'a restart (%s) in the middle: transient errors, and then it goes on',
    async (how) => {
      const { ledger, heard } = await opened(server());
      await ledger.runs.create(newRun('r1'));
      await server().stop(how);
      expect(await codeOf(ledger.runs.create(newRun('r2')))).toBe('ledgerAway');
      expect(await codeOf(ledger.runs.get('r1'))).toBe('ledgerAway');
      expect(heard.at(-1)).toBe('ledgerAway');
      await server().startAgain();
      await until('a write', async () => (await codeOf(ledger.runs.create(newRun('r3')))) === 'well');
      expect((await ledger.runs.list({ limit: 9 })).map(({ id }) => id)).toEqual(['r3', 'r1']);
      expect(heard.at(-1)).toBe('well');
    },
  );

  test('a server that takes no writes', async () => {
    const { ledger } = await opened(server());
    await ledger.runs.create(newRun('r1'));
    const allow = async (): Promise<void> => {
      await server().query('ALTER SYSTEM RESET default_transaction_read_only');
      await server().query('SELECT pg_reload_conf()');
    };
    onTestFinished(allow);
    await server().query('ALTER SYSTEM SET default_transaction_read_only = on');
    await server().query('SELECT pg_reload_conf()');
    await until('a refusal', async () => (await codeOf(ledger.runs.create(newRun('r2')))) === 'ledgerReadOnly');
    expect(await ledger.runs.get('r1')).not.toBeNull();
    await allow();
    await until('a write', async () => (await codeOf(ledger.runs.create(newRun('r3')))) === 'well');
  });

  test('a database that is set to read-only and back: it can be asked, and writes go on in sessions that are open', async () => {
    const { ledger } = await opened(server());
    await ledger.requireWritable();
    const set = (how: string) => server().query(`ALTER DATABASE patchbay ${how}`);
    onTestFinished(() => set('RESET default_transaction_read_only').then(() => undefined));
    await set('SET default_transaction_read_only = on');
    // The sessions of before go on: others are opened in their place.
    await server().query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'patchbay ledger%'",
    );
    await until('a refusal', async () => (await codeOf(ledger.runs.create(newRun('r1')))) === 'ledgerReadOnly');
    await expect(ledger.requireWritable()).rejects.toMatchObject({
      ...{ kind: 'transient', code: 'ledgerReadOnly' },
      message: "the ledger's database takes no writes now: it is set to read-only",
    });
    await set('RESET default_transaction_read_only');
    expect(await codeOf(ledger.runs.create(newRun('r2')))).toBe('well');
    await ledger.requireWritable();
  });

  test('a writer that does not let go, and a statement that is ended', async () => {
    const { ledger, schema } = await opened(server());
    await ledger.runs.create(newRun('r1'));
    const other = await session(server(), schema);
    await other.query('BEGIN; LOCK TABLE runs IN ACCESS EXCLUSIVE MODE');
    const slow = codeOf(ledger.runs.create(newRun('r2')));
    await until('a statement that waits', async () => {
      const cancelled = await server().query(
        `SELECT pg_cancel_backend(pid) AS done FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO runs%'`,
      );
      return cancelled.length > 0;
    });
    expect(await slow).toBe('ledgerSlow');
    expect(await codeOf(ledger.runs.create(newRun('r2')))).toBe('ledgerBusy');
    await other.query('ROLLBACK');
    expect(await codeOf(ledger.runs.create(newRun('r2')))).toBe('well');
  });

  test('no connection left', async () => {
    const schema = newSchema();
    const { ledger } = await opened(server(), { schema });
    await ledger.runs.create(newRun('r1'));
    await server().query('ALTER ROLE patchbay CONNECTION LIMIT 1');
    onTestFinished(async () => {
      await server().query('ALTER ROLE patchbay CONNECTION LIMIT -1');
    });
    await expect(opened(server(), { schema })).rejects.toMatchObject({ kind: 'transient', code: 'ledgerAway' });
  });

  test('idle connections that the server ends are replaced, and no process ends with them', async () => {
    const { ledger } = await opened(server());
    await Promise.all(Array.from({ length: 5 }, () => ledger.counts()));
    await server().query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'patchbay ledger%'",
    );
    await until('an answer', async () => (await codeOf(ledger.counts())) === 'well');
    expect(await codeOf(ledger.runs.create(newRun('r1')))).toBe('well');
  });

  test('a listener that is cut listens again, and what was committed meanwhile is not missed', async () => {
    const { ledger, schema } = await opened(server());
    const { ledger: other } = await opened(server(), { schema });
    const listeners = () =>
      server().query(
        `SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'patchbay listener%' AND query LIKE '%LISTEN "${schema}_changes"'`,
      );
    expect(await listeners()).toHaveLength(2);
    const before = await ledger.changeCount();
    await server().query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%; LISTEN "${schema}_changes"'`,
    );
    await other.runs.create(newRun('r1'));
    await until('a change', async () => (await ledger.changeCount()) !== before);
    await until('both listen again', async () => (await listeners()).length === 2);
    await until('rest', async () => {
      const count = await ledger.changeCount();
      return (await ledger.changeCount()) === count;
    });
    const again = await ledger.changeCount();
    await other.runs.create(newRun('r2'));
    await until('another change', async () => (await ledger.changeCount()) !== again);
    const own = await ledger.changeCount();
    await ledger.runs.create(newRun('r3'));
    expect(await ledger.changeCount(), 'own commits do not count').toBe(own);
  });

  test('a COMMIT whose answer is lost is looked up: done, it counts as done', async () => {
    const proxy = await startCuttingProxy(server().port);
    onTestFinished(() => proxy.close());
    const { ledger } = await opened(server(), { port: proxy.port });
    proxy.cutAt('COMMIT', 'answered');
    expect(await ledger.runs.create(newRun('r1'))).toMatchObject({ id: 'r1' });
    expect(await ledger.runs.get('r1')).not.toBeNull();
  });

  test('a COMMIT that never arrived is looked up: not done, it is an error that passes', async () => {
    const proxy = await startCuttingProxy(server().port);
    onTestFinished(() => proxy.close());
    const { ledger } = await opened(server(), { port: proxy.port });
    proxy.cutAt('COMMIT', 'asked');
    expect(await codeOf(ledger.runs.create(newRun('r1')))).toBe('ledgerAway');
    expect(await ledger.runs.get('r1')).toBeNull();
    expect(await codeOf(ledger.runs.create(newRun('r1')))).toBe('well');
  });

  test('a transaction that went with a crash of the server is not taken for done, whoever commits after it', async () => {
    const proxy = await startCuttingProxy(server().port);
    onTestFinished(() => proxy.close());
    const { ledger, schema } = await opened(server(), { port: proxy.port });
    const { ledger: other } = await opened(server(), { schema });
    proxy.cutAt('COMMIT', 'asked', true);
    const lost = codeOf(ledger.runs.create(newRun('r1')));
    await until('the cut', () => proxy.isRefusing());
    await server().stop('crash');
    await server().startAgain();
    // The server gives the ids of transactions that its log has not seen once more: one of these has that of the lost one.
    for (const id of ['r2', 'r3', 'r4', 'r5'])
      await until('a write', async () => (await codeOf(other.runs.create(newRun(id)))) === 'well');
    proxy.open();
    expect(await lost).toBe('ledgerAway');
    expect(await ledger.runs.get('r1')).toBeNull();
  });

  test('where nothing tells what became of a COMMIT, the error says so', async () => {
    const proxy = await startCuttingProxy(server().port);
    onTestFinished(() => proxy.close());
    const { ledger, heard } = await opened(server(), { port: proxy.port });
    proxy.cutAt('COMMIT', 'answered', true);
    expect(await codeOf(ledger.runs.create(newRun('r1')))).toBe('commitUnanswered');
    expect(heard).toContain('commitUnanswered');
    proxy.open();
    expect(await ledger.runs.get('r1')).not.toBeNull();
  });

  test.each(['INSERT INTO', 'COMMIT'])(
    'a server that answers nothing to %s is given up, and another connection is made',
    async (word) => {
      const proxy = await startCuttingProxy(server().port);
      onTestFinished(() => proxy.close());
      const { schema } = await opened(server());
      const address = parseAddress(server().url(`&schema=${schema}`).replace(`:${server().port}/`, `:${proxy.port}/`));
      const pool = openPool(address, () => undefined, 300);
      onTestFinished(() => pool.close());
      const connection = createConnection({ pool, schema, writer: 'w', observe: () => undefined });
      const enter = (id: string) =>
        connection.transact((statements) =>
          statements.run('INSERT INTO redrives (run_id, feed, choice, is_taking) VALUES ($1, $1, $1, 0)', id),
        );
      proxy.cutAt(word, 'silent');
      expect(await codeOf(enter('a')), 'the end of the connection tells the server').toBe('ledgerAway');
      expect(await enter('b')).toBe(1);
      expect(await pool.reads.all('SELECT run_id FROM redrives')).toEqual([{ run_id: 'b' }]);
    },
  );

  test('a process that dies in the middle of a transaction holds up nobody', async () => {
    const { ledger, schema } = await opened(server());
    const { ledger: other } = await opened(server(), { schema });
    await ledger.runs.create(newRun('r1'));
    const holder = await session(server(), schema);
    await holder.query(`BEGIN; SELECT pg_advisory_xact_lock(${lockOf(schema, 'write')})`);
    const waiting = codeOf(other.runs.create(newRun('r2')));
    await server().query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'");
    expect(await waiting).toBe('well');
  });
});

test.each([
  ['40001', 'transient', 'ledgerBusy'],
  ['40P01', 'transient', 'ledgerBusy'],
  ['55P03', 'transient', 'ledgerBusy'],
  ['57014', 'transient', 'ledgerSlow'],
  ['25006', 'transient', 'ledgerReadOnly'],
  ['53100', 'transient', 'diskFull'],
  ['58030', 'transient', 'ledgerIoFails'],
  ['53300', 'transient', 'ledgerAway'],
  ['57P01', 'transient', 'ledgerAway'],
  ['57P03', 'transient', 'ledgerAway'],
  ['08006', 'transient', 'ledgerAway'],
  ['ECONNREFUSED', 'transient', 'ledgerAway'],
  ['28P01', 'usage', 'ledgerRefused'],
  ['3D000', 'usage', 'ledgerDatabaseMissing'],
  ['42501', 'usage', 'ledgerNoRights'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'usage', 'ledgerCertificate'],
  ['XX001', 'damaged', 'ledgerDamaged'],
])('the code %s is %s %s', (code, kind, ours) => {
  const trouble = postgresTroubleOf(Object.assign(new Error('words'), { code }), { shown: 'postgres://db/patchbay' });
  expect(trouble).toMatchObject({ kind, code: ours });
});

test('a server without a connection left runs: the hint says how many a process needs', () => {
  const full = Object.assign(new Error('too many connections for role "tight"'), { code: '53300' });
  const { message, hint } = postgresTroubleOf(full, { shown: 'postgres://db/patchbay' }) ?? {};
  expect(message).toBe(
    'the ledger\'s database at postgres://db/patchbay accepts no more connections: too many connections for role "tight"',
  );
  expect(hint).toContain('each process of Patchbay needs six, and an engine a seventh');
  // One listens, and one leads.
  expect(limits.connectionsMax + 2).toBe(7);
});

test('an error of SQL itself is a defect, and keeps its words', () => {
  const wrong = Object.assign(new Error('syntax error'), { code: '42601' });
  expect(postgresTroubleOf(wrong, { shown: 'postgres://db/patchbay' })).toBeNull();
});
