import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findRedisServer, type RedisServer, startRedisServer } from '../support/redis-server.ts';
import { until } from '../support/until.ts';
import { sharedRateGateContract } from './shared-rate-gate-contract.ts';
import { keepTaking, openGateBench, type RedisPlace, shortestMs } from './support/rate-gate-bench.ts';

const binary = findRedisServer();
const reason = binary === null ? ' (skipped: no redis-server on PATH)' : '';
const frozenMs = 700;

describe.skipIf(binary === null)(`the shared rate gate on a redis-server of this machine${reason}`, () => {
  let shared: RedisServer | null = null;
  let troubled: RedisServer | null = null;
  beforeAll(async () => {
    [shared, troubled] = await Promise.all([startRedisServer(binary ?? ''), startRedisServer(binary ?? '')]);
  });
  afterAll(async () => {
    await shared?.close();
    await troubled?.close();
  });

  sharedRateGateContract(() => placeOf(shared));

  it.concurrent('keeps the limit while its Redis is frozen, flushed, killed and comes back empty', async (context) => {
    const bench = openGateBench(placeOf(troubled), context.onTestFinished);
    const processId = Number(/process_id:(\d+)/.exec(await bench.redis.info('server'))?.[1]);
    const stop = new AbortController();
    const writtenAtMs: number[] = [];
    const taking = keepTaking([bench.open(20), bench.open(20)], stop.signal, writtenAtMs);
    const more = async (count: number) => {
      const enough = writtenAtMs.length + count;
      await until(`${count} more`, () => writtenAtMs.length >= enough);
    };
    await more(3);
    process.kill(processId, 'SIGSTOP');
    await sleep(frozenMs);
    process.kill(processId, 'SIGCONT');
    await more(10);
    await bench.redis.flushall();
    await more(10);
    await troubled?.kill();
    await troubled?.startAgain();
    await more(10);
    stop.abort();
    await taking;
    expect(shortestMs(writtenAtMs, 20)).toBeGreaterThanOrEqual(1_000);
  });
});

function placeOf(server: RedisServer | null): RedisPlace {
  const { hostname: host, port } = new URL(server?.url ?? 'redis://127.0.0.1:1');
  return { host, port: Number(port) };
}
