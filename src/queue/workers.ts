/**
 * BullMQ workers for the job catalog.
 *
 * A job that fails ends in the queue as failed, with a code for a reason: no words, which may quote somebody. It is never
 * tried again there: the ledger says what is still to be done (`kept-jobs.ts` says how an ended one makes way).
 */
import { type Job, type RedisOptions, UnrecoverableError, Worker } from 'bullmq';
import { timedOut, within } from '#src/clock.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { isLedgerTrouble } from '#src/ledger/sqlite/damage.ts';
import { inLogContext, type LogContext, type Logger } from '#src/log.ts';
import { type AnyJobDefinition, keptWhenEnded, queueName } from './job-definition.ts';
import { nextWakeUp } from './wake-ups.ts';

/** After a lost connection; BullMQ's own 15 s would make a stop, and the work after an outage, wait for as long. */
export const retryDelayMs = 1_000;
/**
 * The job of a killed process goes to another one when its lock has run out and a check has seen so: within lock and
 * check together, which must stay well below the 12 s that a killed worker may hold others up.
 */
const lockMs = 6_000;
const stalledCheckMs = 3_000;

interface WorkersOptions<Context> {
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

/**
 * The log lines of a job, beside the log files also in the queue, where a page that shows queues finds them.
 *
 * Invariant: nobody waits for a line, none fails the work, none comes after the job's end. While Redis is away, lines
 * beyond a bound are left out: the files have them all.
 */
interface JobLog {
  add(line: string): void;
  /** What comes later is left out. */
  close(): void;
}

/** Lines on their way to Redis, of all jobs of a process. */
interface LinesUnderway {
  count: number;
}

export const jobLinesMax = 200;
/** With the ended jobs that are kept, it bounds what the embedded queue holds in memory. */
const jobCharsMax = 32_768;
const underwayMax = 100;

const lastLine = JSON.stringify({ msg: 'further lines stand in the log files' });

export function openJobLog(job: Pick<Job, 'log'>, underway: LinesUnderway): JobLog {
  let linesLeft = jobLinesMax;
  let charsLeft = jobCharsMax;
  let closed = false;
  const send = (line: string): void => {
    if (underway.count >= underwayMax) return;
    underway.count += 1;
    const done = (): void => {
      underway.count -= 1;
    };
    job.log(line).then(done, done);
  };
  return {
    add: (line) => {
      if (closed || linesLeft === 0) return;
      linesLeft -= 1;
      charsLeft -= line.length;
      if (linesLeft > 0 && charsLeft >= 0) return send(line);
      linesLeft = 0;
      send(lastLine);
    },
    close: () => {
      closed = true;
    },
  };
}

// Closes a BullMQ worker that has no job at work any more.
//
// While Redis is away `close()` waits for an event that does not come, and so does `disconnect()`. What is left then are
// promises that nobody needs: the ledger knows what is to be done.

/** Far above what it takes to tell Redis the end of a few jobs. */
const graceMs = 3_000;

/** @param patienceMs how long to wait; 0 where a job that does not end is known to stand in the way. */
export async function closeWorker(worker: Worker, patienceMs = graceMs): Promise<void> {
  // A close that fails ends like one that is late: what the worker had begun stands in the ledger.
  const closing = worker.close().catch(() => undefined);
  if ((await within(patienceMs, closing)) !== timedOut) return;
  // `close(true)` after `close()` does not force (`bad-inputs.md`): the connections are cut instead.
  // One that fails leaves nothing to be done: the process ends, and the system closes what is left.
  worker.disconnect().catch(() => undefined);
}
