/**
 * Puts jobs into the queue. While Redis is away, full or frozen a job is not added: a later sweep adds it from the ledger.
 *
 * Invariant: every call here ends within a time limit.
 */
import { Queue, type RedisOptions } from 'bullmq';
import { timedOut, within } from '#src/clock.ts';
import { messageOf } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import type { WakeUp } from '#src/schedules/start-schedules.ts';
import { keptWhenEnded, queueName, removeEnded } from './job-definition.ts';
import { openWithQuietClients } from './quiet-redis.ts';
import { holdWakeUps, nextWakeUp, type WakeUpOptions, wakeJobName } from './wake-ups.ts';
import { jobLinesMax } from './workers.ts';

export interface JobToAdd {
  readonly name: string;
  readonly id: string;
  /** Ids and numbers only. */
  readonly payload: Readonly<Record<string, string | number>>;
  /** Waits behind all jobs of its name that are not `isNew`: deferred batches are resumed before new ones. */
  readonly isNew?: boolean;
}

export interface Producer {
  /** @returns whether the queue is known to have accepted them; never rejects. */
  add(jobs: readonly JobToAdd[]): Promise<boolean>;
  /** Ends each `add` that waits, and accepts no jobs any more: a stop must not wait for a frozen Redis. */
  giveUp(): void;
  /**
   * Deletes every job of these names. Otherwise jobs that a killed engine had begun would block theirs until their locks
   * expire, about ten seconds; the ledger knows what is to be done.
   */
  forget(names: readonly string[]): Promise<void>;
  /** Limits how many jobs of that name are active at once, over all processes. Lost when the queue is flushed. Never rejects. */
  limitAtOnce(name: string, jobsMax: number): Promise<void>;
  /**
   * Makes the queue hold exactly these wake-ups of schedules (`wake-ups.ts`). @returns whether it does; never rejects.
   */
  schedule(wakeUps: readonly WakeUp[], options: WakeUpOptions): Promise<boolean>;
  /** How many jobs of each name wait, or are worked on; null where the queue does not say in time. Never rejects. */
  depths(names: readonly string[]): Promise<readonly QueueDepth[] | null>;
  /** The queue of that job. */
  queue(name: string): Queue;
  /** Closes the connections, and cuts those whose Redis does not answer within a second. Never rejects. */
  close(): Promise<void>;
}

export interface QueueDepth {
  /** The name of the job. */
  readonly job: string;
  readonly waiting: number;
  readonly active: number;
}

/** Called with null when the queue accepted jobs, and with each error, also of the connection alone. Must not throw. */
export type QueueObserver = (trouble: Error | null, tookMs: number) => void;

/** Jobs without a priority are taken before all that have one. */
const anyPriority = 1;
const eventsMax = 200;
/** A frozen Redis does not answer, and its connection stays open. */
const commandMsMax = 5_000;
/** Figures are not worth a longer wait. */
const depthsMsMax = 2_000;
/** Adding takes a few commands for each name, and perhaps a connection. */
const addMsMax = 10_000;
/** Far above the time in which Redis answers. Nothing is lost without its answer: the ledger knows what is to be done. */
const closeGraceMs = 1_000;
const givenUp = Symbol('given up');

/** @param host as `queueName`. */
export function openProducer(
  ledgerId: string,
  server: RedisOptions,
  log: Logger,
  observe: QueueObserver = () => undefined,
  host: string | null = null,
): Producer {
  openWithQuietClients();
  const connection: RedisOptions = { commandTimeout: commandMsMax, ...server };
  let isGivenUp = false;
  /** Each ends an `add` that waits. */
  const waiting = new Set<() => void>();
  const queues = new Map<string, Queue>();
  const queue = (name: string): Queue => {
    let known = queues.get(name);
    if (known === undefined) {
      known = new Queue(queueName(ledgerId, name, host), {
        connection,
        defaultJobOptions: {
          attempts: 1,
          removeOnComplete: keptWhenEnded(name),
          removeOnFail: keptWhenEnded(name),
          keepLogs: jobLinesMax,
        },
        // The ledger records what happened; a queue page needs the last few events only.
        streams: { events: { maxLen: eventsMax } },
        settings: { repeatStrategy: nextWakeUp },
      });
      known.on('error', (error) => {
        log.debug({ reason: messageOf(error) }, 'queue connection');
        observe(error, 0);
      });
      queues.set(name, known);
    }
    return known;
  };
  /** What Redis refuses for one name it refuses for all: that is the observer's, which says it once. */
  const noteKept = (job: string, error: unknown): void => {
    const reason = messageOf(error);
    const isOfName = reason.startsWith('Cannot obliterate');
    log[isOfName ? 'warn' : 'debug']({ job, reason }, 'jobs of an earlier engine stay for a while');
    if (!isOfName) observe(error instanceof Error ? error : new Error(reason), 0);
  };
  return {
    queue,
    add: async (jobs) => {
      if (isGivenUp) return false;
      const startedAtMs = performance.now();
      const tookMs = (): number => performance.now() - startedAtMs;
      const end = Promise.withResolvers<typeof givenUp>();
      const endNow = (): void => end.resolve(givenUp);
      waiting.add(endNow);
      try {
        const added = await within(addMsMax, Promise.race([addByName(queue, jobs), end.promise]));
        if (added === givenUp) return false;
        if (added === timedOut) throw new Error('Command timed out');
        observe(null, tookMs());
        return true;
      } catch (error) {
        log.debug({ reason: messageOf(error) }, 'queue does not accept jobs');
        observe(error instanceof Error ? error : new Error(String(error)), tookMs());
        return false;
      } finally {
        waiting.delete(endNow);
      }
    },
    giveUp: () => {
      isGivenUp = true;
      for (const endNow of waiting) endNow();
    },
    forget: async (names) => {
      for (const name of names) {
        try {
          if ((await within(addMsMax, queue(name).waitUntilReady())) === timedOut) throw new Error('no connection');
          await queue(name).obliterate({ force: true });
        } catch (error) {
          noteKept(name, error);
        }
      }
    },
    limitAtOnce: async (name, jobsMax) => {
      try {
        await within(addMsMax, queue(name).setGlobalConcurrency(jobsMax));
      } catch (error) {
        // More at once only cost requests, and the next sweep sets the limit again.
        log.debug({ job: name, reason: messageOf(error) }, 'active jobs are not limited');
      }
    },
    depths: async (names) => {
      const depthOf = async (job: string): Promise<QueueDepth> => {
        const counts = await queue(job).getJobCounts('wait', 'prioritized', 'delayed', 'active');
        const waiting = (counts.wait ?? 0) + (counts.prioritized ?? 0) + (counts.delayed ?? 0);
        return { job, waiting, active: counts.active ?? 0 };
      };
      const all = Promise.all(names.map(depthOf)).catch(() => null);
      const depths = await within(depthsMsMax, all);
      return depths === timedOut ? null : depths;
    },
    schedule: async (wakeUps, options) => {
      try {
        return (await within(addMsMax, holdWakeUps(queue(wakeJobName), wakeUps, options))) !== timedOut;
      } catch (error) {
        // The sweep finds what is due in any case.
        log.debug({ reason: messageOf(error) }, 'queue does not accept wake-ups');
        return false;
      }
    },
    close: async () => {
      await Promise.all([...queues.values()].map(closeQueue));
    },
  };
}

/** While Redis is frozen, `close()` waits for its answer until the command times out, and `disconnect()` for the end of the connection. */
async function closeQueue(queue: Queue): Promise<void> {
  const closing = queue.close().catch(() => undefined);
  if ((await within(closeGraceMs, closing)) === timedOut) queue.disconnect().catch(() => undefined);
}

async function addByName(queue: (name: string) => Queue, jobs: readonly JobToAdd[]): Promise<void> {
  for (const [name, ofName] of Map.groupBy(jobs, (job) => job.name)) {
    const bulk = ofName.map(({ id, payload, isNew }) => ({
      name,
      data: payload,
      opts: {
        jobId: id,
        ...(isNew === true ? { priority: anyPriority } : {}),
      },
    }));
    const ids = ofName.map(({ id }) => id);
    await removeEnded(queue(name), name, ids);
    await queue(name).addBulk(bulk);
  }
}
