/**
 * BullMQ workers for the job catalog.
 *
 * A job that fails is shown as failed in the queue, with a code as its reason: a message might contain personal data. BullMQ
 * does not retry it: the ledger knows what remains to be done. The log lines of a job are also kept in the queue, for pages
 * that show queues.
 */
import { type Job, type RedisOptions, UnrecoverableError, Worker } from 'bullmq';
import { timedOut, within } from '#src/clock.ts';
import { type ErrorKind, messageOf, PatchbayError } from '#src/errors.ts';
import type { JobFailure } from '#src/ledger/port.ts';
import { isLedgerTrouble } from '#src/ledger/trouble.ts';
import { inLogContext, type LogContext, type Logger, wordsOf } from '#src/log.ts';
import { isDiskFull, isOfFolder } from '#src/whole-file.ts';
import { type AnyJobDefinition, keptWhenEnded, queueName } from './job-definition.ts';
import { retryDelayMs, type StartedWorker, startWorker } from './started-worker.ts';
import { nextWakeUp } from './wake-ups.ts';

/**
 * The job of a killed process goes to another one when its lock has expired and a check has found that: within the sum of
 * both times, which must stay well below the 12 s that a killed worker may delay others.
 */
const lockMs = 6_000;
const stalledCheckMs = 3_000;

interface WorkersOptions<Context> {
  readonly ledgerId: string;
  /** As `queueName`. */
  readonly host?: string | null;
  readonly connection: RedisOptions;
  readonly catalog: readonly AnyJobDefinition<Context>[];
  readonly context: Context;
  /** Overrides the catalog: active jobs at once, by name. */
  readonly concurrency?: Readonly<Record<string, number>>;
  readonly log: Logger;
  /** Called before each job. */
  readonly onJobBegin?: (name: string) => void;
  /** Called where a job ended well, or with an error that it may end with again and again; absent: that is logged, and nothing else. */
  readonly onOutcome?: (end: JobEnd) => void;
  /** Called after each job, whether it completed or failed. */
  readonly onJobEnd: (name: string, id: string, failed: boolean) => void;
}

/** How a job ended. */
export interface JobEnd extends Pick<JobFailure, 'job' | 'runId'> {
  readonly id: string;
  /** Null where it ended well. The code is `unexpected` for an error of Patchbay's own. */
  readonly failure: Pick<JobFailure, 'code' | 'message'> | null;
}

export interface Workers {
  /** Takes no new job and waits for the active ones, until the deadline. The ledger knows what they left undone. */
  stop(deadlineMs: number): Promise<void>;
}

export function startWorkers<Context>(options: WorkersOptions<Context>): Workers {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const underway: LinesUnderway = { count: 0 };
  const workers = options.catalog.map((definition) =>
    startJobWorker(options, definition, stopping.signal, running, underway),
  );
  /** Ends: no job is taken any more, and one that arrives late returns at once. */
  const allEnded = async (): Promise<void> => {
    while (running.size > 0) await Promise.allSettled(running);
  };
  return {
    stop: async (deadlineMs) => {
      stopping.abort();
      // Takes no new job, and keeps renewing the locks of the active ones.
      await Promise.all(workers.map(({ pause }) => pause()));
      const overdue = (await within(deadlineMs, allEnded())) === timedOut;
      await Promise.all(workers.map(({ close }) => (overdue ? close(0) : close())));
    },
  };
}

function startJobWorker<Context>(
  options: WorkersOptions<Context>,
  definition: AnyJobDefinition<Context>,
  stopping: AbortSignal,
  running: Set<Promise<void>>,
  underway: LinesUnderway,
): StartedWorker {
  const { log, onJobBegin, onJobEnd } = options;
  const { name } = definition;
  const lost = new Map<string, AbortController>();
  const run = async (job: Job): Promise<void> => {
    const id = job.id ?? '';
    const lock = new AbortController();
    lost.set(id, lock);
    const lines = openJobLog(job, underway);
    let code: string | null = null;
    onJobBegin?.(name);
    try {
      const signal = AbortSignal.any([stopping, lock.signal]);
      const about = await aboutJob(options, definition, job.data);
      code = await inLogContext(about, () => carryOut(options, definition, job, signal), lines.add);
    } finally {
      lines.close();
      // After a flush the same job may run twice in this process: each removes its own entry only.
      if (lost.get(id) === lock) lost.delete(id);
      onJobEnd(name, id, code !== null);
    }
    if (code !== null) throw failedJob(code);
  };
  const track = async (job: Job): Promise<void> => {
    // Not begun: it is added again from the ledger.
    if (stopping.aborted) return;
    const work = run(job);
    running.add(work);
    await work.finally(() => running.delete(work));
  };
  return startWorker(() => openWorker(options, definition, track, lost), log.child({ job: name }));
}

/** It takes no job before it is run. @param lost what cuts off the jobs that it works on, by their ids. */
function openWorker<Context>(
  { ledgerId, host, connection, concurrency }: WorkersOptions<Context>,
  { name, concurrency: usual }: AnyJobDefinition<Context>,
  process: (job: Job) => Promise<void>,
  lost: ReadonlyMap<string, AbortController>,
): Worker {
  const worker = new Worker(queueName(ledgerId, name, host), process, {
    connection,
    autorun: false,
    concurrency: concurrency?.[name] ?? usual,
    lockDuration: lockMs,
    stalledInterval: stalledCheckMs,
    removeOnComplete: keptWhenEnded(name),
    removeOnFail: keptWhenEnded(name),
    drainDelay: 5,
    runRetryDelay: retryDelayMs,
    settings: { repeatStrategy: nextWakeUp },
  });
  // Losing the lock does not stop a processor: it gets a signal, and the ledger refuses its next write.
  worker.on('lockRenewalFailed', (ids: string[]) => {
    for (const id of ids) lost.get(id)?.abort(new DOMException('the job lost its lock', 'AbortError'));
  });
  return worker;
}

/** @returns null, or the code of the failure. A job that was cut off has not failed. */
async function carryOut<Context>(
  { context, log, onOutcome }: WorkersOptions<Context>,
  definition: AnyJobDefinition<Context>,
  job: Job,
  signal: AbortSignal,
): Promise<string | null> {
  const { name, reportsEnd } = definition;
  const id = job.id ?? '';
  const startedAtMs = performance.now();
  try {
    await definition.process(definition.schema.parse(job.data), context, signal);
    const ms = Math.round(performance.now() - startedAtMs);
    log[reportsEnd === true ? 'info' : 'debug']({ job: name, id, ms }, 'job done');
    onOutcome?.({ id, job: name, runId: runOf(job.data), failure: null });
    return null;
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') return null;
    const { code, kind } = logFailure(log, name, id, error);
    const failure = failureOf(error, code, kind);
    if (failure !== null) onOutcome?.({ id, job: name, runId: runOf(job.data), failure });
    return code;
  }
}

/** What people should know of; null of what the engine reports itself: the key, the service, the ledger and its disk. */
function failureOf(error: unknown, code: string, kind: ErrorKind): JobEnd['failure'] {
  if (isOfFolder(error)) return { code, message: error.message };
  if (kind === 'auth' || kind === 'unreachable' || kind === 'transient' || isLedgerTrouble(error)) return null;
  // Our own words may quote a file, and those of others anything.
  return { code: kind === 'bug' ? 'unexpected' : code, message: wordsOf(messageOf(error)) };
}

/** The run that the payload names. */
function runOf(data: unknown): string | null {
  const { runId } = Object(data) as Readonly<Record<string, unknown>>;
  return typeof runId === 'string' ? runId : null;
}

/** What the payload itself says, and what the job adds. */
async function aboutJob<Context>(
  { context }: WorkersOptions<Context>,
  definition: AnyJobDefinition<Context>,
  data: unknown,
): Promise<LogContext> {
  const { batch, tickId } = Object(data) as Readonly<Record<string, unknown>>;
  const run = runOf(data);
  const said: LogContext = {
    ...(run === null ? {} : { run }),
    ...(typeof batch === 'number' ? { batch } : {}),
    ...(typeof tickId === 'string' ? { tick: tickId } : {}),
  };
  try {
    return { ...said, ...(await definition.about?.(definition.schema.parse(data), context)) };
  } catch {
    // An invalid payload, or a ledger that does not answer: the job itself fails at once, and reports it.
    return said;
  }
}

/** Shown as failed with the code alone, without a stack. */
function failedJob(code: string): UnrecoverableError {
  const error = new UnrecoverableError(code);
  error.stack = '';
  return error;
}

/** The system's code for it, and SQLite's. The work is retried until there is room. */
function hasNoRoom(error: unknown): boolean {
  return isDiskFull(error) || (error instanceof Error && 'errcode' in error && error.errcode === 13);
}

function logFailure(
  log: Logger,
  job: string,
  id: string,
  error: unknown,
): { readonly code: string; readonly kind: ErrorKind } {
  const full = hasNoRoom(error);
  const code = error instanceof PatchbayError ? error.code : full ? 'diskFull' : 'unexpected';
  const kind = error instanceof PatchbayError ? error.kind : full ? 'transient' : 'bug';
  const waits = kind === 'auth' || kind === 'unreachable' || kind === 'transient';
  // The engine reports these once, when they begin and end.
  const folder = isOfFolder(error) ? { folder: error.facts.folder } : {};
  const isReported = full || (isLedgerTrouble(error) && !isOfFolder(error));
  // Our own messages may quote the service, and the service may quote a contact: only the code is logged.
  const reason = error instanceof PatchbayError && kind !== 'bug' ? {} : { reason: messageOf(error) };
  log[isReported ? 'debug' : waits ? 'warn' : 'error'](
    { job, id, code, kind, ...folder, ...reason },
    'job ended early',
  );
  return { code, kind };
}

/**
 * The log lines of a job, as they are kept in the queue; the log files have them all. Invariant: sending a line delays no
 * work and fails no work, and no line is added after the job's end. While Redis is away, lines beyond a bound are dropped.
 */
interface JobLog {
  add(line: string): void;
  /** Later lines are dropped. */
  close(): void;
}

/** Lines being sent to Redis, of all jobs of a process. */
interface LinesUnderway {
  count: number;
}

export const jobLinesMax = 200;
/** Together with `jobsKeptMax` it bounds the memory of the embedded queue. */
const jobCharsMax = 32_768;
const underwayMax = 100;

const lastLine = JSON.stringify({ msg: 'more lines are in the log files' });

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
