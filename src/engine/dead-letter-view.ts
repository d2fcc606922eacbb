/**
 * The BullMQ queue `dead-letters`: a view of the ledger's open dead letters for any BullMQ page.
 *
 * The job of a letter fails on purpose at its first start, so that it is listed among the failed jobs with its reason. A later
 * start means that a person pressed retry, and does what `dead retry` does. The view is bounded, derived from the ledger,
 * and holds no personal data.
 */
import { type Job, type Queue, type RedisOptions, UnrecoverableError, Worker } from 'bullmq';
import { messageOf } from '#src/errors.ts';
import type { Actor } from '#src/ledger/acts.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { Logger } from '#src/log.ts';
import { retryLetters } from '#src/operations/dead-letters.ts';
import { queueName } from '#src/queue/job-definition.ts';
import type { Producer } from '#src/queue/producer.ts';
import { retryDelayMs, startWorker } from '#src/queue/started-worker.ts';
import { oneAtATime } from '#src/repeat.ts';
import type { SubmitParts } from '#src/runs/enter-run.ts';
import { lineText } from '#src/sources/row.ts';

const deadLettersQueue = 'dead-letters';
const jobsMax = 10_000;
const jobsPerPage = 200;
const idsPerPage = 2_000;

/** The page of the queue does not tell who opened it. */
const queuePage: Actor = { who: 'a page of the queue', by: 'queue' };

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
      await retryLetters({ submit, actor: queuePage }, { ids: [letterId] });
      onRedrive();
      return;
    }
    throw new UnrecoverableError(
      `${letter.class}: ${letter.code} (${[`run ${letter.runId}`, ...lineText(letter)].join(', ')})`,
    );
  };
  const open = () =>
    new Worker(queueName(ledger.id, deadLettersQueue), process, {
      connection,
      autorun: false,
      concurrency: 1,
      lockDuration: 10_000,
      stalledInterval: 5_000,
      runRetryDelay: retryDelayMs,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: jobsMax },
    });
  const worker = startWorker(open, log);
  let shown: Shown | null = null;
  // Two at once would add the same jobs twice.
  const refreshing = oneAtATime(
    async () => {
      shown = await refresh(options, shown);
    },
    (error) => {
      shown = null;
      log.debug({ reason: messageOf(error) }, 'dead letters not shown in the queue');
    },
  );
  return {
    refresh: () => refreshing.ask(),
    close: async () => {
      await Promise.all([refreshing.stop(), worker.close()]);
    },
  };
}

/** What the queue showed when it was refreshed last. */
interface Shown {
  /** Of the ledger's letters (`deadLetters.revision`). */
  readonly revision: number;
  readonly count: number;
}

const shownTypes = ['failed', 'waiting', 'active', 'delayed'] as const;

/**
 * Costs one look each at ledger and queue while nothing has changed. What a flushed or restarted queue has lost is missed by
 * its count.
 */
async function refresh({ ledger, producer }: DeadLetterViewOptions, last: Shown | null): Promise<Shown> {
  const queue = producer.queue(deadLettersQueue);
  const revision = await ledger.deadLetters.revision();
  if (last?.revision === revision && (await queue.getJobCountByTypes(...shownTypes)) === last.count) return last;
  const open = await ledger.deadLetters.summaries({ states: ['open'], limit: jobsMax });
  const wanted = new Set(open.map((letter) => letter.id));
  const shown = await shownIds(queue);
  const surplus = [...shown].filter((id) => !wanted.has(id));
  for (let start = 0; start < surplus.length; start += jobsPerPage) {
    await Promise.all(surplus.slice(start, start + jobsPerPage).map((id) => queue.remove(id)));
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
  return { revision, count: wanted.size };
}

/** Ends with the first empty page, or at the bound. */
async function shownIds(queue: Queue): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (let start = 0; start < jobsMax * 2; start += idsPerPage) {
    const page = await queue.getRanges([...shownTypes], start, start + idsPerPage - 1);
    for (const id of page) ids.add(id);
    if (page.length === 0) break;
  }
  return ids;
}
