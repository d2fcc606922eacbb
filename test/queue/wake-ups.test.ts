/** BullMQ's schedulers wake the engine up, and may lose everything (`docs/rules.md`, "Schedules"). */
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { silentLogger } from '#src/log.ts';
import type { JobDefinition } from '#src/queue/job-definition.ts';
import { nextWakeUp } from '#src/queue/wake-ups.ts';
import { startWorkers } from '#src/queue/workers.ts';
import type { WakeUp } from '#src/schedules/start-schedules.ts';
import { keysOf } from '#test/support/redis-text.ts';
import { until } from '#test/support/until.ts';
import { openQueueBench, shareServer } from './support/queue-bench.ts';

const url = shareServer();
const nightly = { kind: 'at', at: '30 2 * * *', zone: 'Europe/Berlin' } as const;
const hourly = { kind: 'every', everyMs: 3_600_000 } as const;

it('the queue holds one scheduler for each schedule; a flushed Redis gets them back, stale ones go', async () => {
  const bench = await openQueueBench(url());
  const { producer, redis } = bench;
  const queue = producer.queue('wake-schedules');
  const held = async () =>
    (await queue.getJobSchedulers(0, 100, true))
      .map(({ key, next, pattern, tz, every }) => ({ key, next, pattern, tz, every }))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
  const nowMs = Date.now();
  const dueAtMs = nowMs + 600_000;
  const nightAtMs = nextWakeUp(nowMs, { pattern: nightly.at, tz: nightly.zone }) ?? 0;
  const wakeUps: WakeUp[] = [
    { name: 'crm', rule: nightly, dueAtMs: nightAtMs },
    { name: 'phone-numbers', rule: hourly, dueAtMs },
  ];
  const both = [
    { key: 'crm', next: nightAtMs, pattern: nightly.at, tz: nightly.zone, every: undefined },
    { key: 'phone-numbers', next: dueAtMs, pattern: undefined, tz: undefined, every: hourly.everyMs },
  ];
  expect(await producer.schedule(wakeUps, { nowMs, anew: true })).toBe(true);
  expect(await held()).toEqual(both);
  const jobs = await queue.getDelayed();
  expect(jobs.map((job) => job.data).toSorted((a, b) => a.slot - b.slot)).toEqual(
    [{ slot: dueAtMs }, { slot: nightAtMs }].toSorted((a, b) => a.slot - b.slot),
  );

  // What is right stays as it is.
  await producer.schedule(wakeUps, { nowMs, anew: false });
  expect(await queue.getDelayed()).toHaveLength(2);

  await redis.flushall();
  await producer.schedule(wakeUps, { nowMs, anew: false });
  expect(await held()).toEqual(both);

  // An engine that starts forgets the jobs of the one before; the schedulers get theirs back.
  await producer.forget(['wake-schedules']);
  await producer.schedule(wakeUps, { nowMs, anew: true });
  expect(await queue.getDelayed()).toHaveLength(2);

  // Another rule, another due time, a pause.
  const changed: WakeUp[] = [{ name: 'phone-numbers', rule: hourly, dueAtMs: dueAtMs + 60_000 }];
  await producer.schedule(changed, { nowMs, anew: false });
  expect(await held()).toMatchObject([{ key: 'phone-numbers', next: dueAtMs + 60_000 }]);
  expect(await queue.getDelayed()).toHaveLength(1);

  await producer.schedule([], { nowMs, anew: false });
  expect(await held()).toEqual([]);
  await until('a queue without wake-ups', async () =>
    (await keysOf(redis)).every((key) => !key.includes('wake-schedules:repeat')),
  );
});

it('wakes up again and again, and no job stays', async () => {
  const bench = await openQueueBench(url());
  const { ledger, server, producer } = bench;
  const slots: number[] = [];
  const wakes: JobDefinition<{ readonly slot: number }, null> = {
    name: 'wake-schedules',
    schema: z.object({ slot: z.number() }),
    concurrency: 1,
    process: async ({ slot }) => {
      slots.push(slot);
    },
  };
  const workers = startWorkers({
    ledgerId: ledger.id,
    connection: server.worker,
    catalog: [wakes],
    context: null,
    log: silentLogger(),
    onJobEnd: () => undefined,
  });
  onTestFinished(() => workers.stop(5_000));
  const nowMs = Date.now();
  const often = { name: 'crm', rule: { kind: 'every', everyMs: 50 }, dueAtMs: nowMs + 50 } as const;
  await producer.schedule([often], { nowMs, anew: true });
  await until('three wake-ups', () => slots.length >= 3);
  await producer.schedule([], { nowMs, anew: false });
  expect(new Set(slots)).toEqual(new Set([nowMs + 50]));
  const queue = producer.queue('wake-schedules');
  await until(
    'no job',
    async () => (await queue.getJobCountByTypes('waiting', 'active', 'delayed', 'completed')) === 0,
  );
});

it('the night on which clocks change at midnight has its wake-up', () => {
  const afterMs = Date.parse('2026-09-05T12:00Z');
  const next = nextWakeUp(afterMs, { pattern: '0 0 * * *', tz: 'America/Santiago' });
  expect(new Date(next ?? 0).toISOString()).toBe('2026-09-06T04:00:00.000Z');
  expect(nextWakeUp(afterMs, { every: 5 })).toBeUndefined();
});
