/** A Redis that has no memory left, or that is frozen: nothing waits for ever, nothing is lost, nothing is done twice. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { nameQueue, renameQueue } from '#src/engine/queue-identity.ts';
import { checkQueue } from '#src/engine/surroundings.ts';
import { createLogger, silentLogger } from '#src/log.ts';
import { openQueueServer } from '#src/queue/connection.ts';
import { openProducer } from '#src/queue/producer.ts';
import { askRedis } from '#src/queue/redis-answers.ts';
import { startWorkers } from '#src/queue/workers.ts';
import { applyingRun } from '#test/contracts/support/build.ts';
import { peopleKeys } from '#test/support/people.ts';
import { findRedisServer, type RedisServer, startRedisServer } from '#test/support/redis-server.ts';
import { until } from '#test/support/until.ts';
import { openQueueBench, settleBatch } from './support/queue-bench.ts';

const binary = findRedisServer();
const reason = binary === null ? ' (skipped: no redis-server on PATH)' : '';
const job = { name: 'sweep', id: 'sweep-1', payload: { slot: 1 } };

const openAt = (redisUrl: string) =>
  openQueueServer({ redisUrl, isShared: false, folder: '/nowhere', log: silentLogger() });

describe.skipIf(binary === null)(`a redis-server of this machine in trouble${reason}`, () => {
  let redis: RedisServer | null = null;
  const url = (): string => redis?.url ?? '';
  beforeAll(async () => {
    redis = await startRedisServer(binary ?? '');
  });
  afterAll(async () => {
    await redis?.close();
  });

  /** A producer of its own, with everything it told. */
  async function openObserved(commandTimeout = 5_000) {
    const bench = await openQueueBench(url());
    const told: string[] = [];
    const producer = openProducer(
      bench.ledger.id,
      { ...bench.server.producer, commandTimeout },
      silentLogger(),
      (error) => told.push(error === null ? 'taken' : error.message),
    );
    onTestFinished(() => producer.close());
    return { bench, producer, told };
  }

  test('without memory takes no jobs and says why; with memory again the run goes on to its end', async () => {
    const { bench, producer, told } = await openObserved();
    expect(await producer.add([job])).toBe(true);
    await bench.redis.config('SET', 'maxmemory-policy', 'noeviction');
    await bench.redis.config('SET', 'maxmemory', '1');
    expect(await producer.add([{ ...job, id: 'sweep-2' }])).toBe(false);
    expect(told).toEqual(['taken', expect.stringContaining('OOM ')]);

    const keys = peopleKeys(20);
    const run = await applyingRun(bench.ledger, 'run', keys);
    let written = 0;
    bench.work(async (payload) => {
      const settledNow = await settleBatch(bench.ledger, payload);
      written += settledNow;
    });
    await bench.dispatcher.sweep();
    expect(await bench.ledger.runs.pendingCount(run.id)).toBe(keys.length);
    await bench.redis.config('SET', 'maxmemory', '0');
    await until('the end of the run', async () => {
      await bench.dispatcher.sweep();
      return (await bench.ledger.runs.get(run.id))?.state === 'done';
    });
    expect(written).toBe(keys.length);
  });

  test('without memory says so, and without being written to', async () => {
    const { bench } = await openObserved();
    const { redis: client } = bench;
    const keys = (await client.keys('*')).toSorted();
    expect(await askRedis(url(), 5_000)).toEqual({ away: null, refusal: null, policy: 'noeviction' });
    await client.config('SET', 'maxmemory', '1');
    expect(await askRedis(url(), 5_000)).toMatchObject({ away: null, refusal: expect.stringMatching(/^OOM /) });
    await expect(
      renameQueue(bench.server.producer, bench.ledger.id, 'q-1'),
      'to a host that has nothing to add',
    ).rejects.toThrow(/^OOM /);
    await client.config('SET', 'maxmemory', '0');
    expect(await askRedis(url(), 5_000)).toMatchObject({ refusal: null });
    expect((await client.keys('*')).toSorted()).toEqual(keys);
  });

  test('that loses its memory while a job is at work gets that job again, and its rows are settled once', async () => {
    const { bench } = await openObserved();
    const keys = peopleKeys(2);
    const run = await applyingRun(bench.ledger, 'run', keys);
    const allowed = Promise.withResolvers<void>();
    let begun = 0;
    let written = 0;
    bench.work(async (payload) => {
      begun += 1;
      await allowed.promise;
      const settledNow = await settleBatch(bench.ledger, payload);
      written += settledNow;
    });
    bench.dispatcher.wake();
    await until('the job at work', () => begun === 1);
    await bench.redis.config('SET', 'maxmemory', '1');
    allowed.resolve();
    await until('the settled rows', () => written === keys.length);
    await bench.redis.config('SET', 'maxmemory', '0');
    await until('the end of the run', async () => {
      await bench.dispatcher.sweep();
      return (await bench.ledger.runs.get(run.id))?.state === 'done';
    });
    expect(written).toBe(keys.length);
  });

  test('a job that fails comes again with the next sweep, and not at once', async () => {
    const { bench } = await openObserved();
    const run = await applyingRun(bench.ledger, 'run', peopleKeys(2));
    let begun = 0;
    bench.work(async (payload) => {
      begun += 1;
      if (begun === 1) throw new Error('the disk is full, say');
      await settleBatch(bench.ledger, payload);
    });
    bench.dispatcher.wake();
    await until('the job that failed', () => begun === 1);
    for (let wake = 0; wake < 20; wake += 1) {
      bench.dispatcher.wake();
      await new Promise((turn) => setTimeout(turn, 5));
    }
    expect(begun).toBe(1);
    await until('the end of the run', async () => {
      await bench.dispatcher.sweep();
      return (await bench.ledger.runs.get(run.id))?.state === 'done';
    });
    expect(begun).toBe(2);
  });

  test('that is frozen holds nobody up for ever', async () => {
    const { producer, told } = await openObserved(200);
    expect(await producer.add([job])).toBe(true);
    redis?.freeze();
    try {
      expect(await producer.add([{ ...job, id: 'sweep-3' }])).toBe(false);
      expect(told.at(-1)).toBe('Command timed out');
      expect(await askRedis(url(), 200)).toMatchObject({ away: 'no answer within 0.2 s' });
    } finally {
      redis?.thaw();
    }
    await until('jobs that are taken', () => producer.add([{ ...job, id: 'sweep-4' }]));
    expect(await askRedis(url(), 5_000)).toEqual({ away: null, refusal: null, policy: 'noeviction' });
  });

  test('that is frozen does not hold up the end of a producer until its commands time out', async () => {
    const { producer } = await openObserved(3_600_000);
    expect(await producer.add([{ ...job, id: 'sweep-5' }])).toBe(true);
    redis?.freeze();
    try {
      const adding = producer.add([{ ...job, id: 'sweep-6' }]);
      producer.giveUp();
      expect(await adding).toBe(false);
      await expect(producer.close()).resolves.toBeUndefined();
    } finally {
      redis?.thaw();
    }
  });

  test('whose disk fails is no reason not to start: it answers, and says what it refuses', async () => {
    const { bench, producer, told } = await openObserved();
    await redis?.failDisk();
    try {
      const server = await openAt(url());
      expect(server.description).toBe(`Redis at ${new URL(url()).host}`);
      expect(await askRedis(url(), 5_000)).toMatchObject({ away: null, refusal: expect.stringMatching(/^MISCONF /) });
      expect(await producer.add([job])).toBe(false);
      expect(told.at(-1)).toContain('MISCONF ');
      await expect(nameQueue(server, bench.ledger.id, 'q-1')).rejects.toMatchObject({
        ...{ kind: 'unreachable', code: 'queueRefuses', message: expect.stringContaining('answers MISCONF ') },
      });
    } finally {
      await redis?.mendDisk();
    }
    expect(await producer.add([job])).toBe(true);
  });

  test('with another password, or without that database, is refused as the setting that does not work', async () => {
    const { bench } = await openObserved();
    await bench.redis.config('SET', 'requirepass', 'rightpw');
    const { host } = new URL(url());
    try {
      for (const login of ['', ':wrong@', 'stranger:rightpw@']) {
        await expect(openAt(`redis://${login}${host}`), login).rejects.toMatchObject({
          ...{ kind: 'usage', code: 'queueLoginRefused', hint: expect.stringContaining('REDIS_URL') },
          message: expect.stringMatching(
            /^Redis at 127\.0\.0\.1:\d+ (asks for a password, and REDIS_URL has none|refuses the user or the password: WRONGPASS .*[^.])$/,
          ),
        });
      }
      expect(await checkQueue({ redisUrl: `redis://:wrong@${host}` })).toMatchObject({
        isRefused: true,
        trouble: {
          code: 'queueLoginRefused',
          message: expect.stringMatching(/ WRONGPASS .*disabled\. Check user and password in REDIS_URL/),
        },
      });
      await openAt(`redis://:rightpw@${host}`);
      await openAt(`redis://:rightpw@${host}/15`);
      await expect(openAt(`redis://:rightpw@${host}/99`)).rejects.toMatchObject({
        ...{
          kind: 'usage',
          code: 'queueDatabaseMissing',
          message: expect.stringContaining('DB index is out of range'),
        },
      });
      const refusal = expect.stringContaining('DB index is out of range');
      expect(await askRedis(`redis://:rightpw@${host}/99`, 5_000)).toMatchObject({ away: null, refusal });
    } finally {
      await bench.redis.config('SET', 'requirepass', '');
    }
  });

  /** Its address for a user with these rights. */
  async function asUser(rights: string): Promise<string> {
    const { bench } = await openObserved();
    await bench.redis.call('ACL', 'SETUSER', 'limited', 'reset', 'on', '>limitedpw', ...rights.split(' '));
    return `redis://limited:limitedpw@${new URL(url()).host}`;
  }

  test('that may evict jobs is told of once, in words of our own, and each library keeps silent', async () => {
    const { bench, producer } = await openObserved();
    await bench.redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const said = vi.spyOn(console, 'warn');
    onTestFinished(async () => {
      said.mockRestore();
      await bench.redis.config('SET', 'maxmemory-policy', 'noeviction');
    });
    const lines: string[] = [];
    const write = (line: string) => void lines.push(line);
    const log = createLogger({ level: 'info', stream: { write } });
    await openQueueServer({ redisUrl: url(), isShared: false, folder: '/nowhere', log });
    expect(await producer.add([job])).toBe(true);
    expect(said).not.toHaveBeenCalled();
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'warn', code: 'queueEvicts', reason: expect.stringContaining('maxmemory-policy allkeys-lru') },
    ]);
  });

  test('whose user may not ask INFO does all work, and no library writes about it', async () => {
    const redisUrl = await asUser('~bull:* ~patchbay-* +@all -@dangerous');
    const said = vi.spyOn(console, 'warn');
    onTestFinished(() => said.mockRestore());
    const { ledger } = (await openObserved()).bench;
    const server = await openAt(redisUrl);
    const producer = openProducer(ledger.id, server.producer, silentLogger());
    const done = Promise.withResolvers<number>();
    const workers = startWorkers({
      ...{ ledgerId: ledger.id, connection: server.worker, context: null, log: silentLogger() },
      catalog: [
        {
          ...{ name: job.name, schema: z.object({ slot: z.number() }), concurrency: 1 },
          process: async ({ slot }) => done.resolve(slot),
        },
      ],
      onJobEnd: () => undefined,
    });
    onTestFinished(async () => {
      await workers.stop(5_000);
      await producer.close();
    });
    await until('a job that is taken', () => producer.add([job]));
    expect(await done.promise).toBe(1);
    expect(await renameQueue(server.producer, ledger.id, 'q-1')).toBe(true);
    expect(await askRedis(redisUrl, 5_000)).toEqual({ away: null, refusal: null, policy: null });
    expect(said).not.toHaveBeenCalled();
  });

  test.each([
    ['~bull* +@all -@dangerous', 'SET patchbay-tried'],
    ['~patchbay-* +@all -@dangerous', 'SET bull:patchbay'],
    ['~* +@all -@dangerous -@scripting', 'EVAL bull:patchbay'],
    ['~* +@all -multi', "'multi' command"],
  ])('whose user has the rights %s alone is refused with what it lacks', async (rights, lacked) => {
    const redisUrl = await asUser(rights);
    const hint = expect.stringContaining('ACL SETUSER NAME ~bull:* ~patchbay-* +@all -@dangerous');
    await expect(openAt(redisUrl)).rejects.toMatchObject({
      ...{ kind: 'usage', code: 'queueLoginRefused', message: expect.stringContaining(lacked), hint },
    });
    const { isRefused, trouble } = (await checkQueue({ redisUrl })) ?? {};
    expect(isRefused).toBe(true);
    expect(trouble?.message).toContain(lacked);
  });

  test('that lets its user write the identity of the queue, and no jobs, is in trouble for a host that has none to add', async () => {
    const redisUrl = await asUser('~bull:* ~patchbay-* +@all -@dangerous');
    const server = await openAt(redisUrl);
    expect(await renameQueue(server.producer, 'l-1', 'q-1')).toBe(true);
    await asUser('~patchbay-* +@all -@dangerous');
    await expect(renameQueue(server.producer, 'l-1', 'q-1')).rejects.toThrow(/^NOPERM .*\(SET bull:patchbay\)$/);
  });

  test('that is no Redis does not answer as one', async () => {
    const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await expect(openAt(`redis://127.0.0.1:${port}`)).rejects.toMatchObject({
      ...{
        kind: 'unreachable',
        code: 'queueUnreachable',
        hint: 'Check REDIS_URL, or unset it to use the embedded queue. Nothing was lost.',
      },
      message: expect.stringMatching(/^Redis at 127\.0\.0\.1:\d+ does not answer as a Redis: .*"H"$/),
    });
  });

  test('that is not there is told so', async () => {
    const { away } = await askRedis('redis://127.0.0.1:9', 5_000);
    expect(away).toContain('ECONNREFUSED');
  });
});
