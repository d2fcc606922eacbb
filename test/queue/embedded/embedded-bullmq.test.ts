import { FlowProducer, type Job, Queue, QueueEvents, Worker, type WorkerOptions } from 'bullmq';
import { describe, expect, vi } from 'vitest';
import type { EmbeddedValkey } from '#src/queue/embedded/embedded-valkey.ts';
import { test as base } from './embedded-test.ts';

interface Closable {
  close(): Promise<void>;
}

interface BullFixtures {
  readonly valkey: EmbeddedValkey;
  readonly queue: Queue;
  /** Closed after the test, last opened first. */
  readonly closing: <T extends Closable>(opened: T) => T;
  readonly work: (processor: (job: Job) => Promise<unknown>, options?: Partial<WorkerOptions>) => Worker;
}

const test = base.extend<BullFixtures>({
  valkey: async ({ shared }, use) => use(shared),
  closing: async ({ valkey: _valkey }, use) => {
    const opened: Closable[] = [];
    await use((closable) => {
      opened.push(closable);
      return closable;
    });
    for (const closable of opened.reverse()) await closable.close();
  },
  queue: async ({ valkey, closing }, use) => use(closing(new Queue('work', { connection: { ...valkey.connection } }))),
  work: async ({ valkey, closing }, use) =>
    use((processor, options = {}) => {
      const connection = { ...valkey.connection, maxRetriesPerRequest: null };
      return closing(new Worker('work', processor, { connection, ...options }));
    }),
});

/** Resolves when `count` jobs were completed by the worker. */
function completed(worker: Worker, count: number): Promise<void> {
  return new Promise((resolve) => {
    let left = count;
    worker.on('completed', () => {
      if (--left === 0) resolve();
    });
  });
}

describe('BullMQ on the embedded queue', () => {
  test('processes 500 jobs, each once', async ({ queue, work }) => {
    const seen: number[] = [];
    const worker = work(async (job) => seen.push(job.data.batch), { concurrency: 20 });
    const done = completed(worker, 500);
    await queue.addBulk(Array.from({ length: 500 }, (_, batch) => ({ name: 'batch', data: { batch } })));
    await done;
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 500 }, (_, batch) => batch));
    expect(await queue.getJobCounts('completed', 'failed', 'waiting', 'active')).toEqual({
      completed: 500,
      failed: 0,
      waiting: 0,
      active: 0,
    });
  });

  test('runs a delayed job not before its time', async ({ queue, work }) => {
    const ranAtMs = new Promise<number>((resolve) => work(async () => resolve(Date.now())));
    const addedAtMs = Date.now();
    await queue.add('later', {}, { delay: 150 });
    expect((await ranAtMs) - addedAtMs).toBeGreaterThanOrEqual(149);
  });

  test('tries a failed job again and then keeps it as failed', async ({ queue, work, valkey, closing }) => {
    const events = closing(new QueueEvents('work', { connection: { ...valkey.connection } }));
    await events.waitUntilReady();
    work(async () => {
      throw new Error('refused');
    });
    const job = await queue.add('fails', {}, { attempts: 3, backoff: { type: 'fixed', delay: 5 } });
    await expect(job.waitUntilFinished(events)).rejects.toThrow('refused');
    expect((await queue.getFailed()).map((failed) => failed.attemptsMade)).toEqual([3]);
  });

  test('runs the parent of a flow after its children', async ({ valkey, work, closing, queue }) => {
    const order: string[] = [];
    const done = completed(
      work(async (job) => order.push(job.name)),
      3,
    );
    const flow = closing(new FlowProducer({ connection: { ...valkey.connection } }));
    await flow.add({
      name: 'finish',
      queueName: queue.name,
      children: ['one', 'two'].map((name) => ({ name, queueName: queue.name })),
    });
    await done;
    expect(order.at(-1)).toBe('finish');
  });

  test('runs a scheduled job again and again', async ({ queue, work }) => {
    const thrice = completed(
      work(async () => undefined),
      3,
    );
    await queue.upsertJobScheduler('tick', { every: 30 }, { name: 'tick' });
    await thrice;
    expect(await queue.removeJobScheduler('tick')).toBe(true);
  });

  test('lets a worker finish its job before it closes', async ({ queue, work }) => {
    const begun = Promise.withResolvers<void>();
    const allowed = Promise.withResolvers<void>();
    const worker = work(async () => {
      begun.resolve();
      await allowed.promise;
    });
    await queue.add('slow', {});
    await begun.promise;
    const closed = worker.close();
    allowed.resolve();
    await closed;
    expect(await queue.getCompletedCount()).toBe(1);
  });

  test('is usable after FLUSHALL under a running worker', async ({ valkey, clientOf, queue, work }) => {
    const seen: string[] = [];
    const worker = work(async (job) => seen.push(job.name));
    // A flush takes the locks of running jobs with it; the worker reports that and goes on.
    worker.on('error', () => undefined);
    await queue.add('before', {});
    await vi.waitFor(() => expect(seen).toContain('before'), 10_000);
    await clientOf(valkey).flushall();
    await queue.add('after', {});
    await vi.waitFor(() => expect(seen).toContain('after'), 10_000);
  });

  test('finds waiting jobs again after a restart', async ({ start, closing }) => {
    const valkey = await start();
    const queue = closing(new Queue('work', { connection: { ...valkey.connection } }));
    await queue.addBulk(Array.from({ length: 20 }, (_, batch) => ({ name: 'batch', data: { batch } })));
    queue.on('error', () => undefined);
    await valkey.stop();
    await start();
    await vi.waitFor(async () => expect(await queue.getWaitingCount()).toBe(20), 10_000);
  });
});
