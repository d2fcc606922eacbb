/** A copy of a ledger beside its original, on the same Redis: they have one id, and would take jobs of each other. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect } from 'vitest';
import { z } from 'zod';
import { openLedger } from '#src/ledger/place.ts';
import { newSchema } from '#test/ledger/support/postgres-ledgers.ts';
import { type Journey, test } from '#test/support/journey.ts';
import type { PatchbayProcess } from '#test/support/patchbay-process.ts';
import { peopleCsv } from '#test/support/people.ts';
import { until } from '#test/support/until.ts';
import { describeOnServers } from '#test/support/with-servers.ts';

type Env = Readonly<Record<string, string>>;

async function started(journey: Journey, env: Env): Promise<PatchbayProcess> {
  const engine = journey.start(['start', '--json'], env);
  await engine.firstLine();
  return engine;
}

async function stop(engine: PatchbayProcess): Promise<void> {
  engine.signal('SIGTERM');
  expect((await engine.ended()).code).toBe(143);
}

async function expectRefused(journey: Journey, args: readonly string[], env: Env): Promise<void> {
  const { documents, stderr } = await journey.run([...args, '--json'], env);
  expect(documents[0], stderr).toMatchObject({
    error: { code: 'ledgerTwice', hint: expect.stringContaining('REDIS_URL') },
    exitCode: 2,
  });
  expect(stderr).toContain('until the entry of another engine in Redis lapses');
}

/** What `doctor` says of the queue, which changes nothing in it. */
async function queueCheck(journey: Journey, env: Env): Promise<unknown> {
  const { documents, stderr } = await journey.run(['doctor', '--json'], env);
  const { checks } = z.object({ checks: z.array(z.looseObject({ check: z.string() })) }).parse(documents[0], {
    error: () => stderr,
  });
  return checks.find(({ check }) => check === 'queue');
}

const refusedByDoctor = { ok: false, detail: expect.stringContaining('one is a copy of the other') };

describeOnServers('a copy of a ledger', (servers) => {
  test('in another database is refused while an engine works on the original, and works once that has stopped', async ({
    journey,
  }) => {
    await journey.service();
    const { postgres, redis } = servers();
    const original = { DATABASE_URL: postgres.url(`&schema=${newSchema()}`), REDIS_URL: redis.url };
    const copy = {
      ...{ DATABASE_URL: original.DATABASE_URL.replace('/patchbay?', '/copied?'), REDIS_URL: redis.url },
      PATCHBAY_DATA: join(journey.data, 'copy'),
    };
    expect(copy.DATABASE_URL).not.toBe(original.DATABASE_URL);
    const first = await journey.run(['import', '--json', journey.file('people.csv', peopleCsv(5))], original);
    expect(first.documents[0], first.stderr).toMatchObject({ created: 5 });
    await until('a copy', () => postgres.query('CREATE DATABASE copied TEMPLATE patchbay').catch(() => null));

    const engine = await started(journey, original);
    expect(await queueCheck(journey, original)).toMatchObject({ ok: true });
    expect(await queueCheck(journey, copy)).toMatchObject(refusedByDoctor);
    await expectRefused(journey, ['start'], copy);
    await stop(engine);
    const again = await journey.run(['import', '--json', journey.file('people.csv', peopleCsv(6))], copy);
    expect(again.documents[0], again.stderr).toMatchObject({ created: 1, unchanged: 5 });
  });

  test('in a copied data folder is refused in the same way, and an engine that meets one says so', async ({
    journey,
  }) => {
    await journey.service();
    const { redis } = servers();
    const original = { REDIS_URL: redis.url };
    const copy = { ...original, PATCHBAY_DATA: join(journey.data, 'copy') };
    await journey.run(['import', journey.file('people.csv', peopleCsv(5))], original);
    const file = join(journey.data, 'ledger.sqlite');
    cpSync(file, join(copy.PATCHBAY_DATA, 'ledger.sqlite'));
    const engine = await started(journey, original);
    expect(await queueCheck(journey, original)).toMatchObject({ ok: true });
    expect(await queueCheck(journey, copy)).toMatchObject(refusedByDoctor);
    await expectRefused(journey, ['import', journey.file('more.csv', peopleCsv(6))], copy);

    const ledger = await openLedger({ kind: 'file', file });
    const entry = `patchbay-${ledger.id}-ledger`;
    const client = new Redis(redis.url);
    expect(await client.get(entry)).toBe(await ledger.placeId());
    await ledger.close();
    // As after a flush in which a copy was faster.
    await client.set(entry, 'elsewhere');
    await until('the trouble', () => /"code":"ledgerTwice".*"a problem began"/.test(engine.stderr));
    await client.del(entry);
    await until('its end', () => /"code":"ledgerTwice".*"a problem ended"/.test(engine.stderr));
    client.disconnect();
    await stop(engine);
    const again = await journey.run(['import', '--json', journey.file('people.csv', peopleCsv(6))], copy);
    expect(again.documents[0], again.stderr).toMatchObject({ created: 1, unchanged: 5 });
  });
});
