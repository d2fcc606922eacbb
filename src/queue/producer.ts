/** Puts jobs into the queue. While Redis is away a job is simply not there: the sweeper puts it back from the ledger. */

import type { RedisOptions } from 'bullmq';
import { Queue } from 'bullmq';
import { messageOf } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import { queueName } from './queue-names.ts';

export interface JobToAdd {
  readonly name: string;
  readonly id: string;
  /** Ids and numbers only. */
  readonly payload: Readonly<Record<string, string | number>>;
  readonly delayMs?: number;
}

export interface Producer {
  /** @returns whether the queue took them. */
  add(jobs: readonly JobToAdd[]): Promise<boolean>;
  /**
   * Forgets every job of these names. What a killed engine had begun would else be waited for until its lock is known to
   * be void, about ten seconds; the ledger knows what is to be done.
   */
  forget(names: readonly string[]): Promise<void>;
  /** The queue of that job, for a look at it. */
  queue(name: string): Queue;
  close(): Promise<void>;
}

const eventsMax = 200;

export function openProducer(ledgerId: string, connection: RedisOptions, log: Logger): Producer {
  const queues = new Map<string, Queue>();
  const queue = (name: string): Queue => {
    let known = queues.get(name);
    if (known === undefined) {
      known = new Queue(queueName(ledgerId, name), {
        connection,
        defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
        // What happened stands in the ledger; a queue page needs the last few events only.
        streams: { events: { maxLen: eventsMax } },
      });
      known.on('error', (error) => log.debug({ reason: messageOf(error) }, 'queue connection'));
      queues.set(name, known);
    }
    return known;
  };
  return {
    queue,
    add: async (jobs) => {
      const byName = Map.groupBy(jobs, (job) => job.name);
      try {
        for (const [name, ofName] of byName) {
          const bulk = ofName.map(({ id, payload, delayMs }) => ({
            name,
            data: payload,
            opts: { jobId: id, ...(delayMs === undefined ? {} : { delay: delayMs }) },
          }));
          await queue(name).addBulk(bulk);
        }
        return true;
      } catch (error) {
        log.warn({ reason: messageOf(error) }, 'queue does not take jobs');
        return false;
      }
    },
    forget: async (names) => {
      for (const name of names) {
        try {
          await queue(name).waitUntilReady();
          await queue(name).obliterate({ force: true });
        } catch (error) {
          log.warn({ job: name, reason: messageOf(error) }, 'jobs of an earlier engine stay for a while');
        }
      }
    },
    close: async () => {
      await Promise.allSettled([...queues.values()].map((one) => one.close()));
    },
  };
}
