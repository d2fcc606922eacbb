/** Commands while the database of the ledger is away, or takes no writes (`docs/operations.md`, "PostgreSQL"). */
import { expect, onTestFinished } from 'vitest';
import { newSchema } from '#test/ledger/support/postgres-ledgers.ts';
import { type Journey, test } from '#test/support/journey.ts';
import type { PatchbayProcess } from '#test/support/patchbay-process.ts';
import { peopleCsv, peopleKeys } from '#test/support/people.ts';
import type { PostgresServer } from '#test/support/postgres-server.ts';
import { until } from '#test/support/until.ts';
import { describeOnPostgres } from '#test/support/with-postgres.ts';

const envOn = (server: PostgresServer) => ({
  DATABASE_URL: server.url(`&schema=${newSchema()}`),
  PATCHBAY_UPSERT_ROWS_PER_BATCH: '10',
  // What was leased when the database went away waits for this.
  PATCHBAY_UPSERT_LEASE: '20s',
});

const saying = (one: PatchbayProcess, words: string) =>
  until(
    () => `"${words}"; it said ${one.stderr}`,
    () => one.stderr.includes(words),
  );

/** While `work` goes on the database is away: until all of these say so. */
async function awayWhile(server: PostgresServer, watchers: readonly PatchbayProcess[]): Promise<void> {
  await server.stop('fast');
  for (const one of watchers) await saying(one, 'waiting for the ledger');
  await server.startAgain();
}

async function interrupted(one: PatchbayProcess): Promise<void> {
  one.signal('SIGTERM');
  expect((await one.ended()).code, one.stderr).toBe(143);
}

async function readOnly(server: PostgresServer): Promise<() => Promise<void>> {
  await server.query('ALTER DATABASE patchbay SET default_transaction_read_only = on');
  const allow = async (): Promise<void> => {
    await server.query('ALTER DATABASE patchbay RESET default_transaction_read_only');
  };
  onTestFinished(allow);
  return allow;
}

describeOnPostgres('a ledger that is away', (server) => {
  const importing = (journey: Journey, env: Readonly<Record<string, string>>, more: readonly string[] = []) =>
    journey.start(['import', '--json', ...more, journey.file('people.csv', peopleCsv(60))], env);

  test('a one-shot that is its own engine waits for it, and ends as if nothing had been', async ({ journey }) => {
    const service = await journey.service(['create:latency=100ms']);
    const one = importing(journey, envOn(server()));
    await service.creates(10);
    await awayWhile(server(), [one]);
    const { code, documents, stderr } = await one.ended();
    expect(code, stderr).toBe(0);
    expect(documents).toMatchObject([{ rows: 60, created: 60, dead: 0, exitCode: 0 }]);
    expect(stderr).toMatch(/waiting for the ledger for up to 10m \(--wait\): .* does not answer: .* \[ledgerAway\]/);
    expect(await service.keys()).toEqual(peopleKeys(60));
  });

  test('a one-shot that follows a running engine does, too; after --wait it ends with 6 and the cause', async ({
    journey,
  }) => {
    const service = await journey.service(['create:latency=100ms']);
    const env = envOn(server());
    const engine = journey.start(['start', '--json'], env);
    await engine.firstLine();
    const [patient, hasty] = [importing(journey, env), importing(journey, env, ['--wait', '8s'])];
    await service.creates(10);
    await server().stop('fast');
    await saying(patient, 'waiting for the ledger');
    const ended = await hasty.ended();
    expect(ended.code, ended.stderr).toBe(6);
    expect(ended.documents).toMatchObject([
      { file: 'people.csv', state: 'stopped', error: { code: 'ledgerAway' }, exitCode: 6 },
    ]);
    await server().startAgain();
    const { code, documents, stderr } = await patient.ended();
    expect(code, stderr).toBe(0);
    expect(documents).toMatchObject([{ rows: 60, dead: 0, exitCode: 0 }]);
    await interrupted(engine);
  });

  test('an import begins once it answers, or ends after --wait; what only looks ends at once', async ({ journey }) => {
    const service = await journey.service();
    const env = envOn(server());
    await server().stop('fast');
    const [one, hasty, left] = [
      importing(journey, env),
      importing(journey, env, ['--wait', '1s']),
      importing(journey, env),
    ];
    const looked = await journey.call(['status', '--json'], env);
    expect(looked.documents).toMatchObject([{ error: { code: 'ledgerAway' }, exitCode: 6 }]);
    expect((await hasty.ended()).documents).toMatchObject([{ error: { code: 'ledgerAway' }, exitCode: 6 }]);
    await saying(left, 'waiting for the ledger');
    left.signal('SIGINT');
    expect(await left.ended()).toMatchObject({ code: 130, documents: [{ error: { code: 'interrupted' } }] });
    await saying(one, 'waiting for the ledger');
    await server().startAgain();
    const { code, stderr } = await one.ended();
    expect(code, stderr).toBe(0);
    expect(await service.keys()).toEqual(peopleKeys(60));
  });

  test('an engine and a worker begin once it answers, and can be stopped while it does not', async ({ journey }) => {
    await journey.service();
    const env = envOn(server());
    const begun = async (args: readonly string[]): Promise<PatchbayProcess> => {
      await server().stop('fast');
      const [one, left] = [journey.start(args, env), journey.start(args, env)];
      for (const waiting of [one, left]) await saying(waiting, 'waiting for the ledger: ');
      await interrupted(left);
      await server().startAgain();
      await one.firstLine();
      return one;
    };
    const engine = await begun(['start', '--json']);
    const worker = await begun(['start', '--worker', '--json']);
    await server().stop('fast');
    await interrupted(worker);
    await interrupted(engine);
    await server().startAgain();
  });

  test('that takes no writes is waited for before anything begins', async ({ journey }) => {
    const service = await journey.service();
    const env = envOn(server());
    expect((await journey.call(['doctor'], env)).code, 'the ledger is there').toBe(0);
    const allow = await readOnly(server());
    const why = "the ledger's database takes no writes now: it is set to read-only [ledgerReadOnly]";
    const told = await journey.call(['status', '--json'], env);
    expect(told.documents[0].surroundings.troubles).toEqual([
      "The ledger's database takes no writes now: it is set to read-only.",
    ]);
    const doctor = await journey.call(['doctor', '--json'], env);
    expect(doctor.documents[0]).toMatchObject({ ok: false, exitCode: 6 });
    expect(doctor.stdout).toContain(
      "the ledger's database takes no writes now: it is set to read-only. The database may be a standby",
    );
    const { code, documents, stderr } = await importing(journey, env, ['--wait', '1s']).ended();
    expect(code, stderr).toBe(6);
    expect(documents).toMatchObject([{ error: { code: 'ledgerReadOnly' }, exitCode: 6 }]);
    const one = importing(journey, env);
    await saying(one, why);
    await allow();
    const ended = await one.ended();
    expect(ended.code, ended.stderr).toBe(0);
    expect(await service.keys()).toEqual(peopleKeys(60));
    const allowAgain = await readOnly(server());
    const engine = journey.start(['start', '--json'], env);
    await saying(engine, '[ledgerReadOnly]');
    await allowAgain();
    await engine.firstLine();
    await interrupted(engine);
  });
});
