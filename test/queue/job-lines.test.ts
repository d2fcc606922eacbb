/**
 * People see in a page for queues what became of a job and what it said, and a job that stays there stands in nobody's
 * way (`src/queue/job-definition.ts`).
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import { createLogger, inLogContext } from '#src/log.ts';
import { jobId, jobsKeptMax } from '#src/queue/job-definition.ts';
import { openProducer } from '#src/queue/producer.ts';
import { jobLinesMax, openJobLog } from '#src/queue/workers.ts';
import { applyingRun } from '#test/contracts/support/build.ts';
import { peopleKeys } from '#test/support/people.ts';
import { redisText } from '#test/support/redis-text.ts';
import { until } from '#test/support/until.ts';
import { openQueueBench, type QueueBench, settleBatch, shareServer } from './support/queue-bench.ts';

const url = shareServer();

function collectedLog(level = 'info') {
  const lines: string[] = [];
  return { lines, log: createLogger({ level, stream: { write: (line: string) => void lines.push(line.trimEnd()) } }) };
}

const ended = (bench: QueueBench, runId: string) =>
  until('the end of the run', async () => (await bench.ledger.runs.get(runId))?.state === 'done');

describe('the lines of a job', () => {
  it('stand in its job log as they stand in the file, with run, feed and batch, and none of another job', async () => {
    const { lines, log } = collectedLog();
    const bench = await openQueueBench(url(), log);
    const run = await applyingRun(bench.ledger, 'run', peopleKeys(4));
    bench.work(async (payload) => {
      log.debug('too detailed');
      inLogContext({ line: payload.batch + 10 }, () => log.warn({ code: 'sample' }, 'row looked at'));
      await settleBatch(bench.ledger, payload);
    });
    bench.dispatcher.wake();
    await ended(bench, run.id);
    const queue = bench.producer.queue('upsert-batch');
    const seen = await until('both jobs among the ended ones', async () => {
      const jobs = await queue.getCompleted();
      return jobs.length === 2 && jobs;
    });
    for (const job of seen) {
      const { logs } = await queue.getJobLogs(job.id ?? '');
      const { batch } = job.data;
      expect(logs.map((line) => JSON.parse(line))).toEqual([
        expect.objectContaining({ run: run.id, feed: run.feed, batch, line: batch + 10, msg: 'row looked at' }),
      ]);
      expect(lines).toEqual(expect.arrayContaining(logs));
    }
  });

  it('are bounded, say so, wait for nobody, and end with the job', async () => {
    const sent: string[] = [];
    const answered = Promise.withResolvers<number>();
    const underway = { count: 0 };
    const log = (line: string): Promise<number> => {
      sent.push(line);
      return answered.promise;
    };
    const frozen = openJobLog({ log }, underway);
    for (let number = 0; number < 1_000; number += 1) frozen.add(`line ${number}`);
    expect(sent).toHaveLength(100);
    answered.reject(new Error('Connection is closed.'));
    await until('no line underway', () => underway.count === 0);

    const lines: string[] = [];
    const well = openJobLog({ log: async (line) => lines.push(line) }, underway);
    for (let number = 0; number < 1_000; number += 1) {
      well.add(`line ${number}`);
      await Promise.resolve();
      await Promise.resolve();
      await Promise.resolve();
    }
    expect(lines).toHaveLength(jobLinesMax);
    expect(lines.at(-1)).toContain('more lines are in the log files');

    const late: string[] = [];
    const over = openJobLog({ log: async (line) => late.push(line) }, underway);
    over.add('x'.repeat(100_000));
    over.close();
    over.add('after the end');
    expect(late).toEqual([expect.stringContaining('more lines')]);
  });
});

describe('an ended job', () => {
  it('that failed shows its code and nothing else, and is handed out again by the next sweep', async () => {
    const { lines, log } = collectedLog();
    const bench = await openQueueBench(url(), log);
    const run = await applyingRun(bench.ledger, 'run', peopleKeys(2));
    let begun = 0;
    bench.work(async (payload) => {
      begun += 1;
      if (begun === 1) {
        throw new PatchbayError('unreachable', 'serviceFailing', 'the service said: no Quill Marrow, +14155550123');
      }
      await settleBatch(bench.ledger, payload);
    });
    bench.dispatcher.wake();
    const queue = bench.producer.queue('upsert-batch');
    const failed = await until('the failed job', async () => (await queue.getFailed())[0]);
    expect(failed.failedReason).toBe('serviceFailing');
    expect(failed.stacktrace).toEqual([]);
    expect((await queue.getJobLogs(failed.id ?? '')).logs.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ run: run.id, batch: 1, code: 'serviceFailing', msg: 'job ended early' }),
    ]);
    expect(await redisText(bench.redis)).not.toMatch(/Marrow|5550123/);
    expect(lines.join()).not.toMatch(/Marrow|5550123/);

    await bench.dispatcher.sweep();
    await ended(bench, run.id);
    expect(begun).toBe(2);
    expect(await queue.getFailedCount()).toBe(0);
    expect((await queue.getCompleted()).map((job) => job.id)).toEqual([failed.id]);
  });

  it('that failed with an error of Patchbay’s own tells it without what it quotes', async () => {
    const bench = await openQueueBench(url());
    const run = await applyingRun(bench.ledger, 'run', peopleKeys(2));
    const told: unknown[] = [];
    bench.work(
      async () => {
        throw new SyntaxError('Unexpected token in "Quill Marrow", of quill@example.com');
      },
      (end) => told.push(end),
    );
    bench.dispatcher.wake();
    await until('the error', () => told.length > 0);
    expect(told[0]).toMatchObject({
      ...{ job: 'upsert-batch', runId: run.id },
      failure: { code: 'unexpected', message: 'Unexpected token in "…", of …' },
    });
  });

  it('that ended well and early is handed out again as well', async () => {
    const bench = await openQueueBench(url());
    const run = await applyingRun(bench.ledger, 'run', peopleKeys(2));
    let begun = 0;
    bench.work(async (payload) => {
      begun += 1;
      if (begun > 1) await settleBatch(bench.ledger, payload);
    });
    bench.dispatcher.wake();
    await until('the end of the run', async () => {
      await bench.dispatcher.sweep();
      return (await bench.ledger.runs.get(run.id))?.state === 'done';
    });
    // A sweep that read the ledger just before the second end may start it a third time, with nothing left to do.
    expect(begun).toBeGreaterThanOrEqual(2);
  });

  it('makes way for one process alone: what is at work or waits is never handed out twice', async () => {
    // No run in the ledger: the two producers alone hand out.
    const bench = await openQueueBench(url());
    const other = openProducer(bench.ledger.id, bench.server.producer, collectedLog().log);
    onTestFinished(() => other.close());
    const allowed = Promise.withResolvers<void>();
    let atWork = 0;
    let most = 0;
    let begun = 0;
    bench.work(async () => {
      begun += 1;
      atWork += 1;
      most = Math.max(most, atWork);
      if (begun > 1) await allowed.promise;
      atWork -= 1;
    });
    const payload = { runId: 'run', batch: 1, generation: 0 };
    const job = { name: 'upsert-batch', id: jobId('run', 1, 0), payload };
    const queue = bench.producer.queue('upsert-batch');
    await bench.producer.add([job]);
    await until('the first end', async () => (await queue.getCompletedCount()) === 1);
    // Both see the ended one and want it again, many times.
    for (let round = 0; round < 20; round += 1) await Promise.all([bench.producer.add([job]), other.add([job])]);
    await until('the second start', () => begun === 2);
    for (let round = 0; round < 20; round += 1) await Promise.all([bench.producer.add([job]), other.add([job])]);
    expect({ begun, most, waiting: await queue.getWaitingCount() }).toEqual({ begun: 2, most: 1, waiting: 0 });
    allowed.resolve();
  });

  it('stays until a hundred newer ones have ended, with its lines no longer than itself', async () => {
    const { log } = collectedLog();
    const bench = await openQueueBench(url(), log);
    bench.work(async () => {
      log.info('a line');
    });
    const total = jobsKeptMax + 30;
    const ids = Array.from({ length: total }, (_, index) => jobId('run', index, 0));
    await bench.producer.add(
      ids.map((id, index) => ({ name: 'upsert-batch', id, payload: { runId: 'run', batch: index, generation: 0 } })),
    );
    const queue = bench.producer.queue('upsert-batch');
    await until('the end of all', async () => {
      const counts = await queue.getJobCounts('waiting', 'active', 'completed');
      return counts.waiting === 0 && counts.active === 0 && counts.completed === jobsKeptMax;
    });
    const keys = await bench.redis.keys(`*${bench.ledger.id}*:logs`);
    expect(keys).toHaveLength(jobsKeptMax);
  });
});
