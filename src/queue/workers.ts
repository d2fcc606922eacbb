/**
 * BullMQ workers for the job catalog.
 *
 * A job that fails ends in the queue as failed, with a code for a reason: no words, which may quote somebody. It is never
 * tried again there: the ledger says what is still to be done (`kept-jobs.ts` says how an ended one makes way).
 */
import { type Job, type RedisOptions, UnrecoverableError, Worker } from 'bullmq';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { isLedgerTrouble } from '#src/ledger/sqlite/damage.ts';
import { inLogContext, type LogContext, type Logger } from '#src/log.ts';
import { closeWorker } from './close-worker.ts';
import { timedOut, within } from './embedded/deadline.ts';
import type { AnyJobDefinition } from './job-definition.ts';
import { type LinesUnderway, openJobLog } from './job-log.ts';
import { keptWhenEnded } from './kept-jobs.ts';
import { queueName } from './queue-names.ts';
import { nextWakeUp } from './wake-ups.ts';

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
  const underway: LinesUnderway = { count: 0 };
  const workers = options.catalog.map((definition) =>
    startWorker(options, definition, stopping.signal, running, underway),
  );
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
  underway: LinesUnderway,
): Worker {
  const { ledgerId, connection, log, onJobEnd } = options;
  const { name } = definition;
  const concurrency = options.concurrency?.[name] ?? definition.concurrency;
  const lost = new Map<string, AbortController>();
  const run = async (job: Job): Promise<void> => {
    const id = job.id ?? '';
    const lock = new AbortController();
    lost.set(id, lock);
    const lines = openJobLog(job, underway);
    let code: string | null = null;
    try {
      const signal = AbortSignal.any([stopping, lock.signal]);
      const about = await aboutJob(options, definition, job.data);
      code = await inLogContext(about, () => carryOut(options, definition, job, signal), lines.add);
    } finally {
      lines.close();
      // After a flush the same job may run twice here: each forgets its own only.
      if (lost.get(id) === lock) lost.delete(id);
      onJobEnd(name, id, code !== null);
    }
    if (code !== null) throw failedJob(code);
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
    removeOnComplete: keptWhenEnded(name),
    removeOnFail: keptWhenEnded(name),
    drainDelay: 5,
    runRetryDelay: retryDelayMs,
    settings: { repeatStrategy: nextWakeUp },
  });
  // Losing the lock does not stop a processor: it is told, and its next write is fenced by the ledger.
  worker.on('lockRenewalFailed', (ids: string[]) => {
    for (const id of ids) lost.get(id)?.abort(new DOMException('the job lost its lock', 'AbortError'));
  });
  worker.on('error', (error) => log.debug({ job: name, reason: messageOf(error) }, 'queue connection'));
  return worker;
}

/** @returns null, or the code of what it failed for. A job that was cut off has not failed. */
async function carryOut<Context>(
  { context, log }: WorkersOptions<Context>,
  definition: AnyJobDefinition<Context>,
  job: Job,
  signal: AbortSignal,
): Promise<string | null> {
  const { name, tellsEnd } = definition;
  const id = job.id ?? '';
  const startedAtMs = performance.now();
  try {
    await definition.process(definition.schema.parse(job.data), context, signal);
    const ms = Math.round(performance.now() - startedAtMs);
    log[tellsEnd === true ? 'info' : 'debug']({ job: name, id, ms }, 'job done');
    return null;
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') return null;
    return logFailure(log, name, id, error);
  }
}

/** What the payload itself says, and what the job knows besides. */
async function aboutJob<Context>(
  { context }: WorkersOptions<Context>,
  definition: AnyJobDefinition<Context>,
  data: unknown,
): Promise<LogContext> {
  const { runId, batch, tickId } = Object(data) as Readonly<Record<string, unknown>>;
  const said: LogContext = {
    ...(typeof runId === 'string' ? { run: runId } : {}),
    ...(typeof batch === 'number' ? { batch } : {}),
    ...(typeof tickId === 'string' ? { tick: tickId } : {}),
  };
  try {
    return { ...said, ...(await definition.about?.(definition.schema.parse(data), context)) };
  } catch {
    // A payload that is none, or a ledger that does not answer: the job itself meets that at once, and says so.
    return said;
  }
}

/** Shown as failed, with the code alone: no stack either. */
function failedJob(code: string): UnrecoverableError {
  const error = new UnrecoverableError(code);
  error.stack = '';
  return error;
}

/** The system's ENOSPC, and SQLite's own word for it. The work is tried again until there is room. */
function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === 'ENOSPC') || ('errcode' in error && error.errcode === 13);
}

/** @returns its code. */
function logFailure(log: Logger, job: string, id: string, error: unknown): string {
  const full = isDiskFull(error);
  const code = error instanceof PatchbayError ? error.code : full ? 'diskFull' : 'unexpected';
  const kind = error instanceof PatchbayError ? error.kind : full ? 'transient' : 'bug';
  const waits = kind === 'auth' || kind === 'unreachable' || kind === 'transient';
  // The engine tells these once, when they begin and end.
  const isTold = full || isLedgerTrouble(error);
  // The words of our own errors may quote the service, and the service may quote a contact: only the code is logged.
  const reason = error instanceof PatchbayError && kind !== 'bug' ? {} : { reason: messageOf(error) };
  log[isTold ? 'debug' : waits ? 'warn' : 'error']({ job, id, code, kind, ...reason }, 'job ended early');
  return code;
}
