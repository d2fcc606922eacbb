/**
 * One BullMQ worker, from its first connection to its end.
 *
 * BullMQ keeps the failure of a first connection: its loop would then ask again and again without a pause, so that no timer and no signal
 * gets its turn any more. So a worker begins when it is connected, and one that could not connect is replaced.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'bullmq';
import { timedOut, within } from '#src/clock.ts';
import { messageOf } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import { openWithQuietClients } from './quiet-redis.ts';

/** After a lost connection. With BullMQ's default of 15 s, stopping and resuming after an outage would take that long. */
export const retryDelayMs = 1_000;
/** Far above the time in which Redis learns the end of a few jobs. */
const closeGraceMs = 3_000;

export interface StartedWorker {
  /** Takes no new job, and keeps renewing the locks of the active ones. */
  pause(): Promise<void>;
  /** @param patienceMs how long to wait for the jobs at hand; 0 if one is known not to end. */
  close(patienceMs?: number): Promise<void>;
}

/** @param open makes a worker that does not run by itself (`autorun: false`). */
export function startWorker(open: () => Worker, log: Logger): StartedWorker {
  openWithQuietClients();
  let worker = opened();
  let isToEnd = false;

  function opened(): Worker {
    const one = open();
    one.on('error', noteTrouble);
    return one;
  }
  function noteTrouble(error: unknown): void {
    log.debug({ reason: messageOf(error) }, 'queue connection');
  }
  /** Ends with the worker, which runs until it is closed, or before its first connection when it is to end. */
  async function begin(): Promise<void> {
    while (!isToEnd) {
      try {
        await worker.waitUntilReady();
      } catch (error) {
        noteTrouble(error);
        void closeWorker(worker, 0);
        await sleep(retryDelayMs, undefined, { ref: false });
        if (!isToEnd) worker = opened();
        continue;
      }
      return await worker.run();
    }
  }

  begin().catch(noteTrouble);
  return {
    pause: async () => {
      isToEnd = true;
      await worker.pause(true);
    },
    close: async (patienceMs) => {
      isToEnd = true;
      await closeWorker(worker, patienceMs);
    },
  };
}

/**
 * Closes a BullMQ worker. While Redis is away, `close()` and `disconnect()` wait for an event that does not come; the promises
 * left behind do no harm, since the ledger knows what is to be done.
 */
async function closeWorker(worker: Worker, patienceMs = closeGraceMs): Promise<void> {
  // A failed close is treated like a late one: the ledger knows what the worker had begun.
  const closing = worker.close().catch(() => undefined);
  if ((await within(patienceMs, closing)) !== timedOut) return;
  // `close(true)` after `close()` does not force (`docs/bad-inputs.md`): the connections are cut instead. If that fails too, the
  // system closes them at the end of the process.
  worker.disconnect().catch(() => undefined);
}
