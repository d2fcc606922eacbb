/** A ledger that is copied into PostgreSQL, and back: every table and column, refusals, damage, and death in the middle. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { copiedTables } from '#src/ledger/copy/copied-tables.ts';
import { copyLedger } from '#src/ledger/copy/copy-ledger.ts';
import { checkPostgresLedger } from '#src/ledger/postgres/check.ts';
import { openPostgresSource, openPostgresTarget } from '#src/ledger/postgres/copy.ts';
import { hasPostgresLedger, openPostgresLedger } from '#src/ledger/postgres/ledger.ts';
import { migrations } from '#src/ledger/postgres/migrations/migrations.ts';
import { openSqliteSource, openSqliteTarget } from '#src/ledger/sqlite/copy.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { checkTheLedgerAt } from '#src/operations/ledger.ts';
import { act, newRun } from '#test/contracts/support/build.ts';
import { damageTables } from '#test/support/damage-ledger.ts';
import type { PostgresServer } from '#test/support/postgres-server.ts';
import { describeOnPostgres } from '#test/support/with-postgres.ts';
import { startChild } from './support/child-process.ts';
import { filledRows, fillLedger, lastGiven } from './support/filled-ledger.ts';
import { newSchema } from './support/postgres-ledgers.ts';
import { tempFolder } from './support/temp-ledger.ts';

const quiet = { act: act('ledgerCopy'), onProgress: () => undefined, signal: new AbortController().signal };
/** What the copy changes behind its comparison. */
const settled = ['flights', 'staged', 'batches', 'records'];

async function copied(from: string, to: string) {
  const isUrl = (text: string): boolean => text.startsWith('postgres:');
  const source = isUrl(from) ? await openPostgresSource(from, '') : await openSqliteSource(from);
  try {
    const target = isUrl(to) ? await openPostgresTarget(to, '') : await openSqliteTarget(to);
    try {
      return await copyLedger(source, target, quiet);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** A filled ledger, and a schema that is not there yet. */
async function places(server: PostgresServer, rowsOf?: (table: string) => number) {
  const folder = tempFolder();
  const file = join(folder, 'ledger.sqlite');
  await fillLedger(file, rowsOf);
  const schema = newSchema();
  const url = server.url(`&schema=${schema}`);
  const query = async (sql: string): Promise<readonly Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: server.url(), options: `-c search_path=${schema}` });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };
  return { folder, file, schema, url, query };
}

describeOnPostgres('a ledger that is copied', (server) => {
  test('knows every table of the schema', async () => {
    const { url, query } = await places(server());
    await (await openPostgresLedger(url)).close();
    const tables = await query(
      "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'",
    );
    const own = ['meta', 'changes'];
    expect(
      tables
        .map(({ relname }) => String(relname))
        .filter((name) => !own.includes(name))
        .sort(),
    ).toEqual(copiedTables.map(({ name }) => name).sort());
  });

  test('into PostgreSQL and back has every value of every column, its identity, and numbers that were never given', async () => {
    const { folder, file, url, query } = await places(server());
    const into = await copied(file, url);
    const back = join(folder, 'back.sqlite');
    const again = await copied(url, back);
    const plain = (counts: typeof into) => counts.filter(({ table }) => !settled.includes(table));
    expect(plain(again)).toEqual(plain(into));
    expect(into.filter(({ rows }) => rows === filledRows)).toHaveLength(copiedTables.length - 1);
    expect(await query('SELECT count(*)::int AS owned FROM flights WHERE owner IS NOT NULL')).toEqual([{ owned: 0 }]);
    const late = "extract(epoch FROM now() + interval '61 minutes') * 1000";
    expect(await query(`SELECT id FROM records WHERE at > ${late} AND state IN ('waiting', 'noticeWaits')`)).toEqual(
      [],
    );
    const first = openSqliteLedger(file);
    for (const ledger of [await openPostgresLedger(url), openSqliteLedger(back)]) {
      expect(ledger.id).toBe(first.id);
      expect(await ledger.deadLetters.revision()).toBe(99);
      await ledger.runs.create(newRun('next'));
      const [run] = await ledger.runs.list({ limit: 1 });
      expect([run?.id, run?.sequence]).toEqual(['next', lastGiven + 1]);
      await ledger.close();
    }
    await first.close();
  });

  test('is refused where the target has anything, or other processes have either open', async () => {
    const { folder, file, url, query, schema } = await places(server());
    await copied(file, url);
    await expect(copied(file, url)).rejects.toMatchObject({
      code: 'copyTargetTaken',
      message: expect.stringMatching(/schema=\w+ is not empty: feeds has rows$/),
    });
    const open = await openPostgresLedger(url);
    await expect(copied(url, join(folder, 'back.sqlite'))).rejects.toMatchObject({
      code: 'ledgerInUse',
      message: expect.stringMatching(/open: patchbay listener \d+ on 127\.0\.0\.1/),
    });
    await open.close();
    const strange = `${schema}_strange`;
    await query(`CREATE SCHEMA ${strange}; CREATE TABLE ${strange}.notes (text text)`);
    await expect(copied(file, server().url(`&schema=${strange}`))).rejects.toMatchObject({
      code: 'copyTargetTaken',
      message: expect.stringContaining('it holds the table notes'),
    });
    const empty = server().url(`&schema=${schema}_empty`);
    const looked = await openPostgresLedger(empty);
    await expect(copied(file, empty)).rejects.toMatchObject({ code: 'ledgerInUse' });
    await looked.close();
    expect(await copied(file, empty)).toHaveLength(copiedTables.length);
  });

  test.each([
    [
      'a function',
      'CREATE FUNCTION S.f(integer) RETURNS integer LANGUAGE sql AS $$ SELECT $1 $$',
      'function S.f(integer)',
    ],
    ['a type', "CREATE TYPE S.colour AS ENUM ('red')", 'type colour'],
    ['a domain', 'CREATE DOMAIN S.key AS text', 'type key'],
    ['a collation', 'CREATE COLLATION S.german FROM "C"', 'collation german'],
  ])('is refused where the schema of the target holds %s', async (_what, sql, name) => {
    const { file, query, schema } = await places(server());
    const strange = `${schema}_strange`;
    const here = (text: string): string => text.replace('S.', `${strange}.`);
    await query(
      `CREATE SCHEMA ${strange}; ALTER DEFAULT PRIVILEGES IN SCHEMA ${strange} GRANT SELECT ON TABLES TO public; ${here(sql)}`,
    );
    const target = server().url(`&schema=${strange}`);
    const message = expect.stringMatching(/is not empty: it holds the /);
    const refused = await copied(file, target).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'copyTargetTaken', message });
    expect(String(refused)).toContain(here(name));
    await query(`DROP SCHEMA ${strange} CASCADE; CREATE SCHEMA ${strange}`);
    expect(await copied(file, target)).toHaveLength(copiedTables.length);
  });

  test('onto itself is said to be that, also under another name of the server', async () => {
    const { file, url } = await places(server());
    await copied(file, url);
    for (const target of [url, url.replace('127.0.0.1', 'localhost')]) {
      await expect(copied(url, target)).rejects.toMatchObject({
        code: 'copyOntoItself',
        message: expect.stringContaining('source and target are one'),
      });
    }
    const other = server().url(`&schema=${newSchema()}`);
    expect(await copied(url, other)).toHaveLength(copiedTables.length);
  });

  test('that is not there is missing, with the advice that fits whose was looked for', async () => {
    const { url } = await places(server());
    const hintOf = (mode: 'real' | 'sandbox', suffix: string) =>
      checkTheLedgerAt({ kind: 'database', url, suffix }, mode).catch(({ code, hint }) => `${code}: ${hint}`);
    expect(await hintOf('real', '')).toMatch(/^ledgerMissing: Name its schema with schema=NAME .* say --sandbox/);
    expect(await hintOf('sandbox', '_sandbox')).toMatch(/^ledgerMissing: (?!.*--sandbox).*schema=NAME/);
  });

  test('is not written to by others meanwhile', async () => {
    const { file, url, query } = await places(server());
    await copied(file, url);
    const source = await openPostgresSource(url, '');
    const other = await openPostgresLedger(url);
    await expect(other.runs.create(newRun('late'))).rejects.toMatchObject({ code: 'ledgerBusy' });
    expect(await query('SELECT count(*)::int AS runs FROM runs')).toEqual([{ runs: filledRows }]);
    await source.close();
    await other.runs.create(newRun('late'));
    await other.close();
  });

  test('is compared: a target that changes a row on its way gets nothing', async () => {
    const { file, url, query, schema } = await places(server());
    await (await openPostgresLedger(url)).close();
    await query(
      `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.theirs := 'other'; RETURN NEW; END $$;
       CREATE TRIGGER spoil BEFORE INSERT ON held FOR EACH ROW WHEN (NEW.line = 7) EXECUTE FUNCTION ${schema}.spoil()`,
    );
    await expect(copied(file, url)).rejects.toMatchObject({ code: 'copyDiffers', facts: { table: 'held' } });
    expect(await query('SELECT count(*)::int AS runs FROM runs')).toEqual([{ runs: 0 }]);
    await query('DROP TRIGGER spoil ON held');
    expect(await copied(file, url)).toHaveLength(copiedTables.length);
  });

  test('that is damaged makes no ledger', async () => {
    const { file, url } = await places(server());
    damageTables(file, ['letters']);
    await expect(copied(file, url)).rejects.toMatchObject({ code: 'ledgerDamaged' });
    expect(await hasPostgresLedger(url)).toBe(false);
  });

  const many = (table: string): number => (table === 'contacts' || table === 'known' ? 3_000 : 1);

  test.each(['copying', 'comparing'])(
    'by a process that is killed while %s leaves nothing, either way, and can be repeated',
    async (dies) => {
      const { folder, file, url } = await places(server(), many);
      const copies = new URL('support/copy-process.ts', import.meta.url);
      expect(await startChild(copies, file, url, dies).nextLine()).toBeNull();
      expect(await hasPostgresLedger(url)).toBe(false);
      expect(await startChild(copies, file, url, 'never').nextLine()).toBe('copied');
      expect(await hasPostgresLedger(url)).toBe(true);
      const back = join(folder, 'back.sqlite');
      expect(await startChild(copies, url, back, dies).nextLine()).toBeNull();
      expect(existsSync(back)).toBe(false);
      expect(await startChild(copies, url, back, 'never').nextLine()).toBe('copied');
      expect(existsSync(back)).toBe(true);
    },
  );

  test('while the server dies in the middle leaves nothing', async () => {
    const { file, url } = await places(server(), many);
    const source = await openSqliteSource(file);
    const target = await openPostgresTarget(url, '');
    let stopped: Promise<void> | null = null;
    const onProgress = ({ done, total }: { readonly done: number; readonly total: number }): void => {
      if (done > total / 3) stopped ??= server().stop('crash');
    };
    await expect(copyLedger(source, target, { ...quiet, onProgress })).rejects.toMatchObject({ code: 'ledgerAway' });
    await target.close();
    await source.close();
    await stopped;
    await server().startAgain();
    expect(await hasPostgresLedger(url)).toBe(false);
    await copied(file, url);
    expect((await checkPostgresLedger(url)).schema).toBe(migrations.length);
  });
});
