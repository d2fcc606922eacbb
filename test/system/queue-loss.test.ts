import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { describe, expect } from 'vitest';
import { type Journey, test } from '#test/support/journey.ts';
import { peopleCsv, peopleKeys } from '#test/support/people.ts';
import { keysOf } from '#test/support/redis-text.ts';
import { until } from '#test/support/until.ts';

const smallBatches = { PATCHBAY_UPSERT_ROWS_PER_BATCH: '10' };

/** As a program does that writes exports: complete at once. */
function drop(journey: Journey, name: string, content: string): void {
  const part = join(journey.data, 'import', `${name}.part`);
  writeFileSync(part, content);
  renameSync(part, join(journey.data, 'import', name));
}

async function runsAtEnd(journey: Journey, count: number) {
  return await until(`the end of ${count} runs`, async () => {
    const runs = await journey.runs();
    return runs.filter((run) => run.state === 'done').length === count && runs;
  });
}

describe.concurrent('a queue', () => {
  test('may be flushed in the middle of a run, again and again: the run ends, and nothing stays behind', async ({
    journey,
  }) => {
    const service = await journey.service(['create:latency=100ms']);
    const worker = journey.start(['start', '--json'], smallBatches);
    await worker.firstLine();
    const redis = journey.queue();

    // Fewer keys than a feed must know before a file of nothing but others stops.
    drop(journey, 'first.csv', peopleCsv(90));
    for (const moment of [1, 2, 30, 31]) {
      await service.creates(moment);
      await redis.flushall();
    }
    const [first] = await runsAtEnd(journey, 1);
    expect(first?.counts).toMatchObject({ rows: 90, created: 90, updated: 0, adopted: 0, dead: 0 });
    expect(await service.keys()).toEqual(peopleKeys(90));
    expect(service.createCount(), 'no POST is repeated').toBe(90);
    await onlyBookkeepingIsLeft(redis);

    await service.setFaults([]);
    drop(journey, 'second.csv', peopleCsv(90, { prefix: 'q' }));
    await runsAtEnd(journey, 2);
    expect(service.createCount()).toBe(180);
    await onlyBookkeepingIsLeft(redis);

    worker.signal('SIGTERM');
    expect((await worker.ended()).code).toBe(143);
  });

  test('may lose its saved data between two starts: the run goes on', async ({ journey }) => {
    const service = await journey.service(['create:latency=200ms']);
    const killed = journey.start(['start', '--json'], smallBatches);
    await killed.firstLine();
    drop(journey, 'people.csv', peopleCsv(80));
    await service.creates(20);
    await killed.kill();
    rmSync(join(journey.data, 'queue', 'dump.rdb'), { force: true });

    await service.setFaults([]);
    const worker = journey.start(['start', '--json'], smallBatches);
    const [run] = await runsAtEnd(journey, 1);
    expect(run?.counts).toMatchObject({ rows: 80, created: 80, dead: 0 });
    expect(await service.keys()).toEqual(peopleKeys(80));
    expect(service.createCount(), 'no POST is repeated').toBe(80);
    worker.signal('SIGINT');
    expect((await worker.ended()).code).toBe(130);
  });

  test('that does not answer ends an import with 6 before anything is sent', async ({ journey }) => {
    const service = await journey.service();
    const file = journey.file('people.csv', peopleCsv(3));
    const { code, documents } = await journey.call(['import', '--json', file], { REDIS_URL: 'redis://127.0.0.1:9' });
    expect(code).toBe(6);
    expect(documents).toMatchObject([{ error: { code: 'queueUnreachable' }, exitCode: 6 }]);
    expect(service.writeCount()).toBe(0);
  });
});

/** What BullMQ keeps of a queue whose jobs have all ended, those jobs, and the rate gate. */
const bookkeeping =
  /-[a-z-]+:(meta|id|events|marker|stalled-check|completed|failed|j[0-9a-f]{24}(:logs)?)$|^patchbay-rate-gate:/;

async function onlyBookkeepingIsLeft(redis: Redis): Promise<void> {
  await until('a queue that holds bookkeeping alone', async () =>
    (await keysOf(redis)).every((key) => bookkeeping.test(key)),
  );
}
