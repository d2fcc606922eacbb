/**
 * BullMQ workers for the job catalog.
 *
 * Jobs are removed when they end, well or not: the ledger remembers, and an id that stays would make the next `add` a
 * silent no-op.
 */

import type { RedisOptions } from 'bullmq';
import { type Job, Worker } from 'bullmq';
import { messageOf, PatchbayError } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import { closeWorker } from './close-worker.ts';
import { timedOut, within } from './embedded/deadline.ts';
import type { AnyJobDefinition } from './job-definition.ts';
import { queueName } from './queue-names.ts';

/** After a lost connection; BullMQ's own 15 s would make a stop, and the work after an outage, wait for as long. */
export const retryDelayMs = 1_000;
/**
 * The job of a killed process goes to another one when its lock has run out and a check has seen so: within lock and
 * check together, which must stay well below the 12 s that a killed worker may hold others up.
 */
const lockMs = 6_000;
const stalledCheckMs = 3_000;

export interface WorkersOptions<Context> {
  readonly ledgerId: string;
  readonly connection: RedisOptions;
  readonly catalog: readonly AnyJobDefinition<Context>[];
  readonly context: Context;
  /** Jobs of a name at work at once, where it is not what the catalog says. */
  readonly concurrency?: Readonly<Record<string, number>>;
  readonly log: Logger;
  /** Called after each job, however it ended. */
  readonly onJobEnd: (name: string, id: string, failed: boolean) => void;
}

export interface Workers {
  /** Takes no new job, waits for those at work, and after the deadline leaves them to the ledger. */
  stop(deadlineMs: number): Promise<void>;
}

export function startWorkers<Context>(options: WorkersOptions<Context>): Workers {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const workers = options.catalog.map((definition) => startWorker(options, definition, stopping.signal, running));
  /** Ends: no job is taken any more, and one that is on its way to us returns at once. */
  const allEnded = async (): Promise<void> => {
    while (running.size > 0) await Promise.allSettled(running);
  };
  return {
    stop: async (deadlineMs) => {
      stopping.abort();
      // Takes no new job and goes on holding the locks of those at work.
      await Promise.all(workers.map((worker) => worker.pause(true)));
      const overdue = (await within(deadlineMs, allEnded())) === timedOut;
      await Promise.all(workers.map((worker) => (overdue ? closeWorker(worker, 0) : closeWorker(worker))));
    },
  };
}

function startWorker<Context>(
  options: WorkersOptions<Context>,
  definition: AnyJobDefinition<Context>,
  stopping: AbortSignal,
  running: Set<Promise<void>>,
): Worker {
  const { ledgerId, connection, context, log, onJobEnd } = options;
  const { name } = definition;
  const concurrency = options.concurrency?.[name] ?? definition.concurrency;
  const lost = new Map<string, AbortController>();
  const run = async (job: Job): Promise<void> => {
    const id = job.id ?? '';
    const lock = new AbortController();
    lost.set(id, lock);
    const startedAtMs = performance.now();
    let failed = false;
    try {
      const payload = definition.schema.parse(job.data);
      await definition.process(payload, context, AbortSignal.any([stopping, lock.signal]));
      log.debug({ job: name, id, ms: Math.round(performance.now() - startedAtMs) }, 'job done');
    } catch (error) {
      failed = !(error instanceof Error && error.name === 'AbortError');
      if (failed) logFailure(log, name, id, error);
    } finally {
      // After a flush the same job may run twice here: each forgets its own only.
      if (lost.get(id) === lock) lost.delete(id);
      onJobEnd(name, id, failed);
    }
  };
  const track = async (job: Job): Promise<void> => {
    // Not begun: the ledger hands it out again.
    if (stopping.aborted) return;
    const work = run(job);
    running.add(work);
    await work.finally(() => running.delete(work));
  };
  const worker = new Worker(queueName(ledgerId, name), track, {
    connection,
    concurrency,
    lockDuration: lockMs,
    stalledInterval: stalledCheckMs,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
    drainDelay: 5,
    runRetryDelay: retryDelayMs,
  });
  // Losing the lock does not stop a processor: it is told, and its next write is fenced by the ledger.
  worker.on('lockRenewalFailed', (ids: string[]) => {
    for (const id of ids) lost.get(id)?.abort(new DOMException('the job lost its lock', 'AbortError'));
  });
  worker.on('error', (error) => log.debug({ job: name, reason: messageOf(error) }, 'queue connection'));
  return worker;
}

/** The system's ENOSPC, and SQLite's own word for it. The work is tried again until there is room. */
function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === 'ENOSPC') || ('errcode' in error && error.errcode === 13);
}

function logFailure(log: Logger, job: string, id: string, error: unknown): void {
  const full = isDiskFull(error);
  const code = error instanceof PatchbayError ? error.code : full ? 'diskFull' : 'unexpected';
  const kind = error instanceof PatchbayError ? error.kind : full ? 'transient' : 'bug';
  const waits = kind === 'auth' || kind === 'unreachable' || kind === 'transient';
  // The engine tells these once, when they begin and end.
  const isTold = code === 'diskFull' || code === 'ledgerBusy' || code === 'ledgerIoFails';
  // The words of our own errors may quote the service, and the service may quote a contact: only the code is logged.
  const reason = error instanceof PatchbayError && kind !== 'bug' ? {} : { reason: messageOf(error) };
  log[isTold ? 'debug' : waits ? 'warn' : 'error']({ job, id, code, kind, ...reason }, 'job ended early');
}
