/**
 * What every queue has to do for us, whichever server it lives on: hand out what the ledger says is to be done, and be
 * nothing but replaceable (`docs/design.md`, decision 1).
 */
import { expect, it } from 'vitest';
import { applyingRun, createdAtMs, deadRow, slice, stagingRun } from '#test/contracts/support/build.ts';
import { peopleKeys } from '#test/support/people.ts';
import { until } from '#test/support/until.ts';
import { type BatchPayload, openQueueBench, type QueueBench, settleBatch } from './support/queue-bench.ts';

/** `redisUrl` is asked for in each test; null is the embedded queue. */
export function queueContract(redisUrl: () => string | null): void {
  const done = (bench: QueueBench, runId: string) =>
    until('the end of the run', async () => (await bench.ledger.runs.get(runId))?.state === 'done');

  it('hands out each batch once, then finishes the run, and keeps the jobs that ended for people to see', async () => {
    const bench = await openQueueBench(redisUrl());
    const run = await applyingRun(bench.ledger, 'run', peopleKeys(60));
    const batches: number[] = [];
    bench.work(async (payload) => {
      batches.push(payload.batch);
      await settleBatch(bench.ledger, payload);
    });
    bench.dispatcher.wake();
    await done(bench, run.id);
    expect(batches.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
    await until('a queue whose jobs have all ended', async () => {
      const counts = await bench.producer
        .queue('upsert-batch')
        .getJobCounts('completed', 'active', 'waiting', 'delayed');
      return counts.completed === 30 && counts.active === 0 && counts.waiting === 0 && counts.delayed === 0;
    });
  });

  it('tells how many jobs of each name wait, and how many are worked on', async () => {
    const bench = await openQueueBench(redisUrl());
    await applyingRun(bench.ledger, 'run', peopleKeys(4));
    bench.dispatcher.wake();
    const depths = await until('the jobs', async () => {
      const told = await bench.producer.depths(['upsert-batch', 'audit']);
      return told?.some(({ waiting }) => waiting > 0) && told;
    });
    expect(depths).toEqual([
      { job: 'upsert-batch', waiting: 2, active: 0 },
      { job: 'audit', waiting: 0, active: 0 },
    ]);
  });

  it('has no personal data in a job: ids and numbers alone', async () => {
    const bench = await openQueueBench(redisUrl());
    const run = await applyingRun(bench.ledger, 'run', peopleKeys(4));
    bench.dispatcher.wake();
    const queue = bench.producer.queue('upsert-batch');
    const jobs = await until('the jobs', async () => {
      const waiting = await queue.getJobs(['waiting', 'prioritized', 'delayed']);
      return waiting.length === 2 && waiting;
    });
    expect(jobs.map((job) => job.data)).toEqual(
      expect.arrayContaining([
        { runId: run.id, batch: 1, generation: 0 },
        { runId: run.id, batch: 2, generation: 0 },
      ]),
    );
  });

  it('may be flushed in the middle: the sweeper puts back what is missing, and nothing is settled twice', async () => {
    const bench = await openQueueBench(redisUrl());
    const keys = peopleKeys(40);
    const run = await applyingRun(bench.ledger, 'run', keys);
    const begun: number[] = [];
    const allowed = Promise.withResolvers<void>();
    let written = 0;
    bench.work(async (payload) => {
      begun.push(payload.batch);
      await allowed.promise;
      const settledNow = await settleBatch(bench.ledger, payload);
      written += settledNow;
    });
    bench.dispatcher.wake();
    await until('two batches at work', () => begun.length === 2);
    await bench.redis.flushall();
    // Two workers at work on what the sweep hands out again: the ledger takes each record once.
    await bench.dispatcher.sweep();
    allowed.resolve();
    await until('the end of the run', async () => {
      await bench.dispatcher.sweep();
      return (await bench.ledger.runs.get(run.id))?.state === 'done';
    });
    expect(written).toBe(keys.length);
    expect((await bench.ledger.runs.get(run.id))?.counts).toMatchObject({ rows: 40, created: 40 });
  });

  it('hands a batch that was put off out again when it is due, and not before', async () => {
    const bench = await openQueueBench(redisUrl());
    const run = await applyingRun(bench.ledger, 'run', peopleKeys(2));
    const dueAtMs = Date.now() + 300;
    const startedAtMs: number[] = [];
    bench.work(async (payload) => {
      startedAtMs.push(Date.now());
      if (payload.generation === 0) {
        await bench.ledger.runs.releaseBatch(run.id, payload.batch, 0, dueAtMs);
        return;
      }
      await settleBatch(bench.ledger, payload);
    });
    bench.dispatcher.wake();
    await done(bench, run.id);
    expect(startedAtMs).toHaveLength(2);
    expect(startedAtMs[1]).toBeGreaterThanOrEqual(dueAtMs);
  });

  it('stops: tells the jobs at work, waits for them, and takes no new one', async () => {
    const bench = await openQueueBench(redisUrl());
    await applyingRun(bench.ledger, 'run', peopleKeys(20));
    const begun: BatchPayload[] = [];
    let ended = 0;
    const workers = bench.work(async (payload, signal) => {
      begun.push(payload);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      ended += 1;
    });
    bench.dispatcher.wake();
    await until('two batches at work', () => begun.length === 2);
    await workers.stop(20_000);
    expect(ended).toBe(2);
    expect(begun).toHaveLength(2);
  });

  it('stops at its deadline although a job does not end', async () => {
    const bench = await openQueueBench(redisUrl());
    await applyingRun(bench.ledger, 'run', peopleKeys(2));
    const told = Promise.withResolvers<void>();
    const never = Promise.withResolvers<void>();
    let begun = false;
    const workers = bench.work(async (_payload, signal) => {
      begun = true;
      signal.addEventListener('abort', () => told.resolve(), { once: true });
      await never.promise;
    });
    bench.dispatcher.wake();
    await until('the job at work', () => begun);
    await workers.stop(100);
    await told.promise;
    never.resolve();
  });

  it('shows open dead letters as failed jobs, also after a flush, and a retry pressed there tries the letter again', async () => {
    const bench = await openQueueBench(redisUrl());
    const run = await stagingRun(bench.ledger, 'run');
    const dead = [deadRow('k-1', { line: 4 }), deadRow('k-2', { code: 'emailInvalid' })];
    await bench.ledger.runs.stage(slice(run, { dead, counts: { rows: 2, dead: 2 } }));
    await bench.ledger.runs.move(run.id, ['staging'], 'doneWithDead', { atMs: createdAtMs + 50 });
    const pressed = Promise.withResolvers<void>();
    const view = bench.openView(pressed.resolve);
    const queue = bench.producer.queue('dead-letters');
    const failed = async (count: number) =>
      await until(`${count} failed jobs`, async () => {
        const jobs = await queue.getFailed();
        return jobs.length === count && jobs;
      });

    await view.refresh();
    await failed(2);
    await bench.redis.flushall();
    await view.refresh();
    const shown = await failed(2);
    expect(shown.map((job) => job.failedReason).sort()).toEqual([
      'invalid: emailInvalid (run run, line 2)',
      'invalid: phoneInvalid (run run, line 4)',
    ]);
    expect(JSON.stringify(shown.map((job) => job.data))).not.toMatch(/k-1|k-2|Ann/);
    await view.refresh();
    await failed(2);

    const chosen = shown.find((job) => job.failedReason.includes('phoneInvalid'));
    await chosen?.retry();
    await pressed.promise;
    const [redrive] = await bench.ledger.runs.list({ states: ['queued'], limit: 10 });
    expect(redrive).toMatchObject({ kind: 'redrive', fileName: `dead letter ${chosen?.id}` });
    expect(await bench.ledger.deadLetters.get(chosen?.id ?? '')).toMatchObject({
      state: 'redriven',
      redriveRunId: redrive?.id,
    });
    await view.refresh();
    expect((await failed(1))[0]?.failedReason).toContain('emailInvalid');
  });
}
