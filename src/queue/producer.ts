/**
 * Puts jobs into the queue. While Redis is away, full or frozen a job is simply not there: the sweeper puts it back from
 * the ledger.
 *
 * Invariant: nothing here waits longer than a limit.
 */
import { Queue, type RedisOptions } from 'bullmq';
import { timedOut, within } from '#src/clock.ts';
import { messageOf } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import type { WakeUp } from '#src/schedules/start-schedules.ts';
import { keptWhenEnded, makeWay, queueName } from './job-definition.ts';
import { holdWakeUps, nextWakeUp, type WakeUpOptions, wakeJobName } from './wake-ups.ts';
import { jobLinesMax } from './workers.ts';

export interface JobToAdd {
  readonly name: string;
  readonly id: string;
  /** Ids and numbers only. */
  readonly payload: Readonly<Record<string, string | number>>;
  /** Waits behind all jobs of its name that do not stand back. */
  readonly standsBack?: boolean;
}

export interface Producer {
  /** @returns whether the queue took them. */
  add(jobs: readonly JobToAdd[]): Promise<boolean>;
  /**
   * Forgets every job of these names. What a killed engine had begun would else be waited for until its lock is known to
   * be void, about ten seconds; the ledger knows what is to be done.
   */
  forget(names: readonly string[]): Promise<void>;
  /** At most so many jobs of that name are at work at once, over all processes, until the queue is flushed or forgets. */
  limitAtOnce(name: string, jobsMax: number): Promise<void>;
  /**
   * Makes the queue hold these wake-ups of schedules and no others (`wake-ups.ts`). @returns whether it does; never rejects.
   */
  schedule(wakeUps: readonly WakeUp[], options: WakeUpOptions): Promise<boolean>;
  /** The queue of that job, for a look at it. */
  queue(name: string): Queue;
  close(): Promise<void>;
}

/** How the queue took jobs: null is well. An error of its connection comes without jobs, too. Must not throw. */
export type QueueObserver = (trouble: Error | null, tookMs: number) => void;

/** Jobs without a priority go before all that have one. */
const anyPriority = 1;
const eventsMax = 200;
/** A frozen Redis answers nothing, and its connection stays up. */
const commandMsMax = 5_000;
/** Jobs are added in a few commands for each name; connecting may come before. */
const addMsMax = 10_000;

export function openProducer(
  ledgerId: string,
  server: RedisOptions,
  log: Logger,
  observe: QueueObserver = () => undefined,
): Producer {
  const connection: RedisOptions = { commandTimeout: commandMsMax, ...server };
  const queues = new Map<string, Queue>();
  const queue = (name: string): Queue => {
    let known = queues.get(name);
    if (known === undefined) {
      known = new Queue(queueName(ledgerId, name), {
        connection,
        defaultJobOptions: {
          attempts: 1,
          removeOnComplete: keptWhenEnded(name),
          removeOnFail: keptWhenEnded(name),
          keepLogs: jobLinesMax,
        },
        // What happened stands in the ledger; a queue page needs the last few events only.
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
  return {
    queue,
    add: async (jobs) => {
      const startedAtMs = performance.now();
      const tookMs = (): number => performance.now() - startedAtMs;
      try {
        if ((await within(addMsMax, addByName(queue, jobs))) === timedOut) throw new Error('Command timed out');
        observe(null, tookMs());
        return true;
      } catch (error) {
        log.debug({ reason: messageOf(error) }, 'queue does not take jobs');
        observe(error instanceof Error ? error : new Error(String(error)), tookMs());
        return false;
      }
    },
    forget: async (names) => {
      for (const name of names) {
        try {
          if ((await within(addMsMax, queue(name).waitUntilReady())) === timedOut) throw new Error('no connection');
          await queue(name).obliterate({ force: true });
        } catch (error) {
          log.warn({ job: name, reason: messageOf(error) }, 'jobs of an earlier engine stay for a while');
        }
      }
    },
    limitAtOnce: async (name, jobsMax) => {
      try {
        await within(addMsMax, queue(name).setGlobalConcurrency(jobsMax));
      } catch (error) {
        // More at once costs requests and nothing else; whoever limits says so again.
        log.debug({ job: name, reason: messageOf(error) }, 'jobs at once are not limited');
      }
    },
    schedule: async (wakeUps, options) => {
      try {
        return (await within(addMsMax, holdWakeUps(queue(wakeJobName), wakeUps, options))) !== timedOut;
      } catch (error) {
        // The sweep looks what is due all the same.
        log.debug({ reason: messageOf(error) }, 'queue does not take wake-ups');
        return false;
      }
    },
    close: async () => {
      await Promise.allSettled([...queues.values()].map((one) => one.close()));
    },
  };
}

async function addByName(queue: (name: string) => Queue, jobs: readonly JobToAdd[]): Promise<void> {
  for (const [name, ofName] of Map.groupBy(jobs, (job) => job.name)) {
    const bulk = ofName.map(({ id, payload, standsBack }) => ({
      name,
      data: payload,
      opts: {
        jobId: id,
        ...(standsBack === true ? { priority: anyPriority } : {}),
      },
    }));
    const ids = ofName.map(({ id }) => id);
    await makeWay(queue(name), name, ids);
    await queue(name).addBulk(bulk);
  }
}
