/**
 * BullMQ workers for the job catalog.
 *
 * Settings measured in `toolchain.md`: lock 10 s, stalled check 5 s. Jobs are removed when they end, well or not: the
 * ledger remembers, and an id that stays would make the next `add` a silent no-op.
 */

import type { RedisOptions } from 'bullmq';
import { type Job, Worker } from 'bullmq';
import { messageOf, PatchbayError } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import type { AnyJobDefinition } from './job-definition.ts';
import { queueName } from './queue-names.ts';

export interface WorkersOptions<Context> {
  readonly ledgerId: string;
  readonly connection: RedisOptions;
  readonly catalog: readonly AnyJobDefinition<Context>[];
  readonly context: Context;
  readonly log: Logger;
  /** Called after each job, however it ended. */
  readonly onJobEnd: (name: string, id: string) => void;
}

export interface Workers {
  /** Takes no new job, waits for those at work, and after the deadline leaves them to the ledger. */
  stop(deadlineMs: number): Promise<void>;
}

export function startWorkers<Context>(options: WorkersOptions<Context>): Workers {
  const stopping = new AbortController();
  const workers = options.catalog.map((definition) => startWorker(options, definition, stopping.signal));
  return {
    stop: async (deadlineMs) => {
      stopping.abort();
      const closing = Promise.all(workers.map((worker) => worker.close()));
      const overdue = await raceDeadline(closing, deadlineMs);
      // `close(true)` after `close()` does not force (`bad-inputs.md`): the connections are cut instead.
      if (overdue) await Promise.allSettled(workers.map((worker) => worker.disconnect()));
    },
  };
}

function startWorker<Context>(
  options: WorkersOptions<Context>,
  definition: AnyJobDefinition<Context>,
  stopping: AbortSignal,
): Worker {
  const { ledgerId, connection, context, log, onJobEnd } = options;
  const { name, concurrency } = definition;
  const lost = new Map<string, AbortController>();
  const run = async (job: Job): Promise<void> => {
    const id = job.id ?? '';
    const lock = new AbortController();
    lost.set(id, lock);
    const startedAtMs = performance.now();
    try {
      const payload = definition.schema.parse(job.data);
      await definition.process(payload, context, AbortSignal.any([stopping, lock.signal]));
      log.debug({ job: name, id, ms: Math.round(performance.now() - startedAtMs) }, 'job done');
    } catch (error) {
      if (!(error instanceof Error && error.name === 'AbortError')) logFailure(log, name, id, error);
    } finally {
      lost.delete(id);
      onJobEnd(name, id);
    }
  };
  const worker = new Worker(queueName(ledgerId, name), run, {
    connection,
    concurrency,
    lockDuration: 10_000,
    stalledInterval: 5_000,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
    drainDelay: 5,
  });
  // Losing the lock does not stop a processor: it is told, and its next write is fenced by the ledger.
  worker.on('lockRenewalFailed', (ids: string[]) => {
    for (const id of ids) lost.get(id)?.abort(new DOMException('the job lost its lock', 'AbortError'));
  });
  worker.on('error', (error) => log.debug({ job: name, reason: messageOf(error) }, 'queue connection'));
  return worker;
}

function logFailure(log: Logger, job: string, id: string, error: unknown): void {
  const code = error instanceof PatchbayError ? error.code : 'unexpected';
  const kind = error instanceof PatchbayError ? error.kind : 'bug';
  const waits = kind === 'auth' || kind === 'unreachable' || kind === 'transient';
  // The words of our own errors may quote the service, and the service may quote a contact: only the code is logged.
  const reason = error instanceof PatchbayError && kind !== 'bug' ? {} : { reason: messageOf(error) };
  log[waits ? 'warn' : 'error']({ job, id, code, kind, ...reason }, 'job ended early');
}

/** @returns whether the deadline came first. */
async function raceDeadline(work: Promise<unknown>, deadlineMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(true), deadlineMs);
  });
  try {
    return await Promise.race([work.then(() => false), deadline]);
  } finally {
    clearTimeout(timer);
  }
}
