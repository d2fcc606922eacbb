/** A Redis without memory is named by every place that tells how things are (`docs/operations.md`, "Outages"). */
import { Redis } from 'ioredis';
import { expect, onTestFinished } from 'vitest';
import { newSchema } from '#test/ledger/support/postgres-ledgers.ts';
import { test } from '#test/support/journey.ts';
import { peopleCsv } from '#test/support/people.ts';
import { until } from '#test/support/until.ts';
import { describeOnServers, type Servers } from '#test/support/with-servers.ts';

const full = /^The queue is out of memory: Redis at 127\.0\.0\.1:\d+\. Work waits, and nothing is lost\.$/;

/** A client, and how to take the memory away and give it back. */
function memoryOf({ redis: { url } }: Servers) {
  const client = new Redis(url);
  const set = (bytes: number) => client.config('SET', 'maxmemory', `${bytes}`);
  onTestFinished(async () => {
    await set(0);
    client.disconnect();
  });
  return { fill: () => set(1), free: () => set(0) };
}

describeOnServers('a Redis without memory', (servers) => {
  test('is named by status and doctor, and no longer once it has some', async ({ journey }) => {
    await journey.service();
    const env = { REDIS_URL: servers().redis.url };
    const { fill, free } = memoryOf(servers());
    await fill();
    const told = await journey.call(['status', '--json'], env);
    expect(told.documents[0]).toMatchObject({
      surroundings: { queueAnswers: true, troubles: [expect.stringMatching(full)] },
    });
    const doctor = await journey.call(['doctor', '--json'], env);
    expect(doctor.documents[0]).toMatchObject({ ok: false, exitCode: 6 });
    const queue = doctor.documents[0].checks.find(({ check }: { check: string }) => check === 'queue');
    expect(queue).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/out of memory.* Raise its maxmemory, or free some\.$/),
    });
    await free();
    expect((await journey.call(['status', '--json'], env)).documents[0].surroundings.troubles).toEqual([]);
    expect((await journey.call(['doctor', '--json'], env)).documents[0]).toMatchObject({ ok: true });
  });

  test('that may evict jobs is named by status and doctor with the setting to change, and work goes on', async ({
    journey,
  }) => {
    await journey.service();
    const env = { REDIS_URL: servers().redis.url };
    const client = new Redis(servers().redis.url);
    await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    onTestFinished(async () => {
      await client.config('SET', 'maxmemory-policy', 'noeviction');
      client.disconnect();
    });
    const words = expect.stringMatching(
      /^The queue may lose jobs: .* maxmemory-policy allkeys-lru\. Set it to noeviction;/,
    );
    const { documents } = await journey.call(['status', '--json'], env);
    expect(documents[0]).toMatchObject({ surroundings: { queueAnswers: true, troubles: [words] } });
    const doctor = await journey.call(['doctor', '--json'], env);
    const queue = doctor.documents[0].checks.find(({ check }: { check: string }) => check === 'queue');
    expect(queue).toMatchObject({ ok: false, detail: words });
    const imported = await journey.run(['import', '--json', journey.file('people.csv', peopleCsv(3))], env);
    expect(imported.documents[0]).toMatchObject({ state: 'done', created: 3 });
    expect(imported.stderr).not.toContain('IMPORTANT!');
  });

  test('keeps no start from its page, and no one-shot longer than it waits', async ({ journey }) => {
    await journey.service();
    const env = { REDIS_URL: servers().redis.url };
    const { fill, free } = memoryOf(servers());
    await fill();
    const file = journey.file('people.csv', peopleCsv(3));
    const { code, documents, stderr } = await journey.run(['import', file, '--wait', '3s', '--json'], env);
    expect(stderr).toContain('waiting for the queue for up to 3s (--wait): The queue is out of memory');
    expect({ code, error: documents.at(-1).error }).toMatchObject({
      code: 6,
      error: { code: 'queueFull', message: expect.stringMatching(full) },
    });
    const plan = await journey.run(['plan', file, '--json'], env);
    expect(plan).toMatchObject({ code: 6, documents: [{ error: { code: 'queueFull' } }] });
    const engine = journey.start(['start', '--json'], env);
    const { page } = JSON.parse(await engine.firstLine());
    const readiness = async () => (await fetch(`${page}/readyz`)).json();
    expect(await readiness()).toMatchObject({ degraded: true, reasons: [expect.stringMatching(full)] });
    await free();
    await until('the run that was waiting', async () => (await journey.runs())[0]?.state === 'done');
    engine.signal('SIGTERM');
    expect((await engine.ended()).code).toBe(143);
  });

  test('is named by the probe of a host that has nothing to do', async ({ journey }) => {
    await journey.service();
    const env = { REDIS_URL: servers().redis.url, DATABASE_URL: servers().postgres.url(`&schema=${newSchema()}`) };
    const { fill, free } = memoryOf(servers());
    const engine = journey.start(['start', '--json'], env);
    const { page } = JSON.parse(await engine.firstLine());
    const ready = async () =>
      (await (await fetch(`${page}/readyz`)).json()) as { degraded: boolean; reasons: string[] };
    await until('a probe that is well', async () => !(await ready()).degraded);
    await fill();
    const seen = await until('a probe that names it', async () => {
      const answer = await ready();
      return answer.degraded && answer;
    });
    expect(seen).toEqual({ ready: true, degraded: true, reasons: [expect.stringMatching(full)] });
    await free();
    await until('a probe that is well again', async () => !(await ready()).degraded);
    engine.signal('SIGTERM');
    expect((await engine.ended()).code).toBe(143);
  });
});

const failing =
  /^The queue does not accept jobs: Redis at 127\.0\.0\.1:\d+ answers MISCONF .*Work waits, and nothing is lost\.$/;

describeOnServers('a Redis whose disk fails', (servers) => {
  test('ends a one-shot with 6 and its words, keeps no start from its page, and gets the work done once it has a disk', async ({
    journey,
  }) => {
    await journey.service();
    const { redis } = servers();
    const env = { REDIS_URL: redis.url };
    const file = journey.file('people.csv', peopleCsv(3));
    await redis.failDisk();
    onTestFinished(() => redis.mendDisk());
    const { code, documents } = await journey.run(['import', file, '--wait', '3s', '--json'], env);
    expect({ code, error: documents.at(-1).error }).toMatchObject({
      code: 6,
      error: { code: 'queueRefuses', message: expect.stringMatching(failing) },
    });
    const engine = journey.start(['start', '--json'], env);
    const { page } = JSON.parse(await engine.firstLine());
    await until('a probe that names it', async () => {
      const { reasons } = (await (await fetch(`${page}/readyz`)).json()) as { reasons: string[] };
      return reasons.some((one) => failing.test(one));
    });
    await redis.mendDisk();
    await until('the run that was waiting', async () => (await journey.runs())[0]?.state === 'done');
    engine.signal('SIGTERM');
    expect((await engine.ended()).code).toBe(143);
  });

  test('is named by an import beside a start that has asked nothing of it since', async ({ journey }) => {
    await journey.service();
    const { redis } = servers();
    const env = { REDIS_URL: redis.url };
    const engine = journey.start(['start', '--json'], env);
    await engine.firstLine();
    await redis.failDisk();
    onTestFinished(() => redis.mendDisk());
    const file = journey.file('people.csv', peopleCsv(3));
    const { code, documents } = await journey.call(['import', file, '--wait', '1s', '--json'], env);
    expect({ code, error: documents.at(-1).error }).toMatchObject({
      code: 6,
      error: { code: 'queueRefuses', message: expect.stringMatching(/^no progress for .* answers MISCONF/) },
    });
    await redis.mendDisk();
    await until('the run that was waiting', async () => (await journey.runs())[0]?.state === 'done');
    engine.signal('SIGTERM');
    expect((await engine.ended()).code).toBe(143);
  });
});
