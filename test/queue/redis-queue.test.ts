import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { test } from '#test/support/journey.ts';
import { peopleCsv, peopleKeys } from '#test/support/people.ts';
import { findRedisServer, type RedisServer, startRedisServer } from '#test/support/redis-server.ts';
import { until } from '#test/support/until.ts';
import { queueContract } from './queue-contract.ts';

const binary = findRedisServer();
const reason = binary === null ? ' (skipped: no redis-server on PATH)' : '';

describe.skipIf(binary === null)(`the queue on a redis-server of this machine${reason}`, () => {
  let redis: RedisServer | null = null;
  beforeAll(async () => {
    redis = await startRedisServer(binary ?? '');
  });
  afterAll(async () => {
    await redis?.close();
  });

  queueContract(() => redis?.url ?? '');

  test('may die in the middle of a run and come back empty: a worker goes on, and ends without it', async ({
    journey,
  }) => {
    const service = await journey.service(['create:latency=100ms']);
    const env = { REDIS_URL: redis?.url ?? '', PATCHBAY_UPSERT_ROWS_PER_BATCH: '10' };
    const worker = journey.start(['start', '--json'], env);
    const banner = JSON.parse(await worker.firstLine());
    expect(banner.queue).toMatch(/^Redis at 127\.0\.0\.1:/);
    const part = join(banner.importFolder, 'people.csv.part');
    writeFileSync(part, peopleCsv(80));
    renameSync(part, join(banner.importFolder, 'people.csv'));
    await service.creates(5);
    await redis?.kill();
    await redis?.startAgain();

    const [run] = await until('the end of the run', async () => {
      const runs = await journey.runs();
      return runs[0]?.state === 'done' && runs;
    });
    expect(run?.counts).toMatchObject({ rows: 80, created: 80, dead: 0 });
    expect(await service.keys()).toEqual(peopleKeys(80));
    expect(service.createCount(), 'no POST is repeated').toBe(80);

    await redis?.kill();
    worker.signal('SIGINT');
    expect((await worker.ended()).code).toBe(130);
    await redis?.startAgain();
  });
});
