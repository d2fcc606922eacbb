/**
 * The BullMQ queue `dead-letters`: a view of the ledger's open dead letters for any BullMQ page.
 *
 * The job of a letter fails on purpose at its first start, so that it is listed among the failed jobs with its reason. A later
 * start means that a person pressed retry, and does what `dead retry` does. The view is bounded, derived from the ledger,
 * and holds no personal data.
 */
import { type Job, type RedisOptions, UnrecoverableError, Worker } from 'bullmq';
import { messageOf } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { Logger } from '#src/log.ts';
import { retryLetters } from '#src/operations/dead-letters.ts';
import { queueName } from '#src/queue/job-definition.ts';
import type { Producer } from '#src/queue/producer.ts';
import { closeWorker, retryDelayMs } from '#src/queue/workers.ts';
import type { SubmitParts } from '#src/runs/enter-run.ts';

export const deadLettersQueue = 'dead-letters';
const jobsMax = 10_000;
const jobsPerPage = 500;

export interface DeadLetterView {
  /** Makes the queue show what the ledger holds. Never rejects. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface DeadLetterViewOptions {
  readonly ledger: Ledger;
  readonly producer: Producer;
  readonly connection: RedisOptions;
  readonly submit: SubmitParts;
  readonly log: Logger;
  /** A redrive was entered. */
  readonly onRedrive: () => void;
}

export function openDeadLetterView(options: DeadLetterViewOptions): DeadLetterView {
  const { ledger, connection, submit, log, onRedrive } = options;
  const process = async (job: Job): Promise<void> => {
    const letterId = String(job.data.letterId);
    const letter = await ledger.deadLetters.get(letterId);
    if (letter?.state !== 'open') return;
    // Counts failures only: a start that a killed process left behind is not a retry by a person.
    if (job.attemptsMade > 0) {
      await retryLetters({ submit }, { ids: [letterId] });
      onRedrive();
      return;
    }
    throw new UnrecoverableError(`${letter.class}: ${letter.code} (run ${letter.runId}, line ${letter.line})`);
  };
  const worker = new Worker(queueName(ledger.id, deadLettersQueue), process, {
    connection,
    concurrency: 1,
    lockDuration: 10_000,
    stalledInterval: 5_000,
    runRetryDelay: retryDelayMs,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: jobsMax },
  });
  worker.on('error', (error) => log.debug({ reason: messageOf(error) }, 'queue connection'));
  let refreshing: Promise<void> = Promise.resolve();
  return {
    refresh: () => {
      // One after the other: two at once would add the same jobs twice.
      refreshing = refreshing
        .then(() => refresh(options))
        .catch((error: unknown) => {
          log.debug({ reason: messageOf(error) }, 'dead letters not shown in the queue');
        });
      return refreshing;
    },
    close: async () => {
      await refreshing;
      await closeWorker(worker);
    },
  };
}

async function refresh({ ledger, producer }: DeadLetterViewOptions): Promise<void> {
  const open = await ledger.deadLetters.list({ states: ['open'], limit: jobsMax });
  const wanted = new Set(open.map((letter) => letter.id));
  const shown = await shownIds(producer);
  const queue = producer.queue(deadLettersQueue);
  for (const id of shown) {
    if (!wanted.has(id)) await queue.remove(id);
  }
  const missing = open.filter((letter) => !shown.has(letter.id));
  for (let start = 0; start < missing.length; start += jobsPerPage) {
    const page = missing.slice(start, start + jobsPerPage).map(({ id, class: reason, code, runId, line }) => ({
      name: deadLettersQueue,
      data: { letterId: id, class: reason, code, run: runId, line },
      opts: { jobId: id, removeOnFail: { count: jobsMax } },
    }));
    await queue.addBulk(page);
  }
}

/** Ends with the first empty page, or at the bound. */
async function shownIds(producer: Producer): Promise<ReadonlySet<string>> {
  const queue = producer.queue(deadLettersQueue);
  const ids = new Set<string>();
  for (let start = 0; start < jobsMax * 2; start += jobsPerPage) {
    const page = await queue.getJobs(['failed', 'waiting', 'active', 'delayed'], start, start + jobsPerPage - 1);
    for (const job of page) if (job?.id !== undefined) ids.add(job.id);
    if (page.length === 0) break;
  }
  return ids;
}
