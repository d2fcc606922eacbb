/** `patchbay ledger copy`: a ledger moves into PostgreSQL and back, and whoever goes on with the copy finds what was known. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test } from '#test/support/journey.ts';
import { peopleCsv } from '#test/support/people.ts';
import { lockedUser } from '#test/support/postgres-server.ts';
import { describeOnPostgres } from '#test/support/with-postgres.ts';

describeOnPostgres('ledger copy', (server) => {
  test('moves a ledger into PostgreSQL and back: the same file is all unchanged, and rejected rows are known', async ({
    journey,
  }) => {
    const service = await journey.service();
    const { name, password } = lockedUser;
    await server().query('ALTER DATABASE patchbay OWNER TO locked');
    const url = `postgres://${name}:${password}@127.0.0.1:${server().port}/patchbay?sslmode=disable&schema=moved`;
    const people = journey.file('people.csv', peopleCsv(60, { more: ['p-900,Nobody,x,letters'] }));
    const first = await journey.run(['import', '--json', people]);
    expect(first.documents[0], first.stderr).toMatchObject({ created: 60, dead: 1, deadNew: 1 });

    const into = await journey.run(['ledger', 'copy', '--to', url]);
    expect(into.code, into.stderr).toBe(0);
    expect(into.stdout).toMatch(
      /^ledger \S+ledger\.sqlite → postgres:\/\/locked@127\.0\.0\.1:\d+\/patchbay\?schema=moved: copied\n {2}\d+ rows in 25 tables, equal by number and checksum, in \d/,
    );
    expect(into.stderr).toContain('Set DATABASE_URL to it from now on');
    expect(`${into.stdout}${into.stderr}`).not.toContain(password);
    const wrong = url.replace(password, 'not-the-password');
    const refused = await journey.run(['ledger', 'copy', '--to', wrong]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('[ledgerRefused]') });
    expect(refused.stderr).toContain('Check user and password in --to');
    expect(`${refused.stdout}${refused.stderr}`).not.toContain('not-the-password');
    const file = join(journey.data, 'ledger.sqlite');
    const unchanged = { rows: 61, unchanged: 60, dead: 1, deadNew: 0 };
    const second = await journey.run(['import', '--json', people], { DATABASE_URL: url });
    expect(second.documents[0], second.stderr).toMatchObject(unchanged);
    const check = await journey.call(['ledger', 'check', '--json'], { DATABASE_URL: url });
    expect(check.documents[0], check.stderr).toMatchObject({ state: 'sound', findings: [], notes: [] });

    const taken = await journey.run(['ledger', 'copy', '--json', '--to', file], { DATABASE_URL: url });
    expect(taken.documents[0]).toMatchObject({ error: { code: 'copyExists' }, exitCode: 2 });
    for (const ending of ['', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true });
    const back = await journey.run(['ledger', 'copy', '--json', '--to', `sqlite:${file}`], { DATABASE_URL: url });
    expect(back.documents[0], back.stderr).toMatchObject({ to: file, exitCode: 0 });
    const third = await journey.run(['import', '--json', people]);
    expect(third.documents[0], third.stderr).toMatchObject(unchanged);
    expect((await journey.runs()).map(({ id }) => id)).toHaveLength(3);
    expect(service.createCount()).toBe(60);
  });

  test('is refused while an engine works, at either end, and names what it does not take', async ({ journey }) => {
    await journey.service();
    const url = `postgres://postgres@127.0.0.1:${server().port}/patchbay?sslmode=disable&schema=refused`;
    const copy = async (to: string, env = {}) => {
      const { documents, stderr } = await journey.call(['ledger', 'copy', '--json', '--to', to], env);
      return documents[0]?.error?.code ?? stderr;
    };
    const engine = journey.start(['start', '--json']);
    await engine.firstLine();
    expect(await copy(url)).toBe('engineRunning');
    engine.signal('SIGTERM');
    await engine.ended();

    const onDatabase = journey.start(['start', '--json'], { DATABASE_URL: url });
    await onDatabase.firstLine();
    const elsewhere = { PATCHBAY_DATA: join(journey.data, '..', 'other'), DATABASE_URL: url };
    expect(await copy(join(journey.data, '..', 'copy.sqlite'), elsewhere)).toBe('ledgerInUse');
    expect(await copy(url, { PATCHBAY_DATA: join(journey.data, '..', 'other') })).toBe('ledgerMissing');
    onDatabase.signal('SIGTERM');
    await onDatabase.ended();

    expect(await copy('mysql://db/patchbay')).toBe('copyTargetUnknown');
    expect(await copy(join(journey.data, 'second.sqlite'))).toBe('copyToFile');
    expect(await copy(join(journey.data, 'none', 'ledger.sqlite'), { DATABASE_URL: url })).toBe('copyNotWritten');
    expect(existsSync(join(journey.data, 'none'))).toBe(false);
  });
});
