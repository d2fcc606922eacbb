/** The commands on a ledger in PostgreSQL: `DATABASE_URL`. */
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test } from '#test/support/journey.ts';
import { peopleCsv, peopleKeys } from '#test/support/people.ts';
import { lockedUser } from '#test/support/postgres-server.ts';
import { until } from '#test/support/until.ts';
import { describeOnPostgres } from '#test/support/with-postgres.ts';

describeOnPostgres('with DATABASE_URL', (server) => {
  test('a file is imported, imported again, and looked at; there is no ledger in the data folder', async ({
    journey,
  }) => {
    await server().query('CREATE SCHEMA home_sandbox AUTHORIZATION locked');
    await server().query('GRANT CONNECT ON DATABASE patchbay TO locked');
    await server().query(`ALTER DATABASE patchbay OWNER TO locked`);
    const { name, password } = lockedUser;
    const env = {
      DATABASE_URL: `postgres://${name}:${password}@127.0.0.1:${server().port}/patchbay?sslmode=disable&schema=home`,
    };
    const file = journey.file('people.csv', peopleCsv(30, { more: ['p-900,Nobody,x,letters'] }));
    const first = await journey.run(['import', '--json', '--sandbox', file], env);
    expect(first.documents.at(-1), first.stderr).toMatchObject({ rows: 31, created: 30, dead: 1, pending: 0 });
    const second = await journey.run(['import', '--json', '--sandbox', file], env);
    expect(second.documents.at(-1), second.stderr).toMatchObject({ rows: 31, unchanged: 30, deadNew: 0 });
    const status = await journey.run(['status', '--json', '--sandbox'], env);
    expect(status.documents[0], status.stderr).toMatchObject({
      ledger: { file: expect.stringMatching(/^postgres:\/\/locked@127\.0\.0\.1:\d+\/patchbay\?schema=home_sandbox$/) },
      deadLetters: 1,
    });
    const check = await journey.run(['ledger', 'check', '--json', '--sandbox'], env);
    expect(check.documents[0], check.stderr).toMatchObject({ state: 'sound', findings: [], notes: [], exitCode: 0 });
    const backup = await journey.run(['ledger', 'backup', 'b.dump', '--json', '--sandbox'], env);
    expect(backup).toMatchObject({ code: 2 });
    expect(backup.documents[0].error).toMatchObject({
      code: 'backupByServer',
      hint: expect.stringMatching(
        /^Run: pg_dump --format=custom --schema=home_sandbox --file='.*b\.dump' 'postgres:\/\/locked@127/,
      ),
    });
    const doctor = await journey.run(['doctor', '--json', '--sandbox'], env);
    expect(doctor.stdout).toContain('PostgreSQL answers');
    const printed = await journey.run(['config', 'print'], env);
    expect(printed.stdout).toContain('databaseUrl: postgres://locked:********@127.0.0.1');
    for (const ended of [first, second, status, check, backup, doctor, printed]) {
      expect(`${ended.stdout}${ended.stderr}`).not.toContain(password);
    }
    expect(existsSync(join(journey.data, 'ledger.sqlite'))).toBe(false);
    expect(existsSync(join(journey.data, 'sandbox', 'ledger.sqlite'))).toBe(false);
  });

  test('a command that only shows makes no schema, and status says that there is no ledger', async ({ journey }) => {
    const env = {
      DATABASE_URL: `postgres://postgres@127.0.0.1:${server().port}/patchbay?sslmode=disable&schema=shown`,
    };
    const status = await journey.call(['status', '--json'], env);
    expect(status.documents[0], status.stderr).toMatchObject({ ledger: { bytes: 0, state: 'noneYet' }, hosts: [] });
    for (const command of ['runs', 'dead', 'held', 'hosts', 'schedule']) {
      const { code, stderr } = await journey.call([command, 'ls', '--sandbox'], env);
      expect(code, stderr).toBe(0);
    }
    const made = `SELECT 'made' AS made FROM pg_namespace WHERE nspname LIKE 'shown%'`;
    expect(JSON.stringify(await server().query(made))).not.toContain('made');
  });

  test('an engine works on, over a restart of the database in the middle of a run', { timeout: 180_000 }, async ({
    journey,
  }) => {
    const service = await journey.service(['create:latency=50ms']);
    const env = {
      DATABASE_URL: `postgres://postgres@127.0.0.1:${server().port}/patchbay?schema=restarted`,
      PATCHBAY_UPSERT_ROWS_PER_BATCH: '10',
      // What was leased when the database went away waits for this.
      PATCHBAY_UPSERT_LEASE: '20s',
    };
    const engine = journey.start(['start', '--json'], env);
    const banner = JSON.parse(await engine.firstLine());
    const part = join(banner.importFolder, 'people.csv.part');
    journey.file('people.csv', peopleCsv(80));
    renameSync(join(journey.data, '..', 'people.csv'), part);
    renameSync(part, join(banner.importFolder, 'people.csv'));
    await service.creates(10);
    await server().stop('crash');
    const ready = await fetch(`${banner.page}/readyz`);
    await server().startAgain();
    expect([200, 503]).toContain(ready.status);
    let seen: unknown;
    const saying = () => `the end of the run; the last answer was ${JSON.stringify(seen)}`;
    const status = await until(saying, async () => {
      const { documents } = await journey.call(['status', '--json'], env);
      seen = documents[0]?.last ?? documents[0];
      return documents[0]?.last?.state === 'done' && documents[0];
    });
    expect(status.last).toMatchObject({ rows: 80, created: 80, dead: 0 });
    expect(await service.keys()).toEqual(peopleKeys(80));
    engine.signal('SIGTERM');
    expect((await engine.ended()).code).toBe(143);
  });

  test('a database that is away ends a command with 6, and says what to do', async ({ journey }) => {
    const env = { DATABASE_URL: 'postgres://me:hush@127.0.0.1:1/patchbay' };
    const { code, documents, stderr } = await journey.call(['status', '--json', '--sandbox'], env);
    expect(code, stderr).toBe(6);
    expect(documents[0].error).toMatchObject({ code: 'ledgerAway', hint: expect.stringContaining('DATABASE_URL') });
    expect(JSON.stringify(documents)).not.toContain('hush');
  });

  test.for([
    ['away', (): string => 'postgres://me:hush@127.0.0.1:1/patchbay', 'ledgerAway', 6],
    [
      'refused',
      (): string => `postgres://${lockedUser.name}:hush@127.0.0.1:${server().port}/patchbay`,
      'ledgerRefused',
      2,
    ],
  ] as const)('doctor checks all else where the database is %s', async ([_how, url, code, exitCode], { journey }) => {
    const service = await journey.service();
    const env = { DATABASE_URL: url(), PATCHBAY_BASE_URL: service.origin };
    const told = await journey.call(['doctor', '--json'], env);
    expect(told.code, told.stderr).toBe(exitCode);
    const [{ ok, checks, windows }] = told.documents;
    expect(ok).toBe(false);
    expect(windows).toHaveLength(5);
    expect(checks.map(({ check, ok: isOk }: { check: string; ok: boolean }) => [check, isOk])).toEqual([
      ...[
        ['node', true],
        ['data folder', true],
        ['disk', true],
        ['ledger', false],
      ],
      ...[
        ['engine', true],
        ['queue', true],
        ['service', true],
      ],
    ]);
    const ledger = checks.find(({ check }: { check: string }) => check === 'ledger');
    expect(ledger.detail).toMatch(
      code === 'ledgerAway' ? /does not answer: .*\. Check DATABASE_URL/ : /refuses the user or the password\. Check/,
    );
    expect(told.stdout).not.toContain('hush');
    const text = await journey.call(['doctor'], env);
    expect(text.stdout).toContain('FAIL ledger');
    expect(text.stdout).toContain('ok   service');
  });
});
