/**
 * Work that goes on after its request was answered (the fault lateCommit).
 *
 * What has not begun when the service closes never begins, as in a process that died; what has begun is awaited. What
 * waits holds its request in memory: above a limit, work is dropped.
 */
import type { Clock } from '#src/clock.ts';
import { messageOf } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';

export interface Background {
  /** Aborts when the service closes. */
  readonly closing: AbortSignal;
  /** Starts the work after a delay, or drops it where too much waits already. The work must not throw. */
  readonly later: (delayMs: number, bodyBytes: number, work: () => Promise<unknown>) => void;
  readonly close: () => Promise<void>;
}

/** Each holds its request, some kilobytes, beside the body. */
export const lateWorksMax = 1_024;
export const lateBodyBytesMax = 64 * 1024 * 1024;

export function createBackground(clock: Clock, log: Logger): Background {
  const controller = new AbortController();
  const pending = new Set<Promise<void>>();
  let pendingBytes = 0;
  let isDroppingTold = false;
  const isFull = (bodyBytes: number) => {
    if (pending.size < lateWorksMax && pendingBytes + bodyBytes <= lateBodyBytesMax) return false;
    // Told once: whoever causes it causes it again and again.
    if (!isDroppingTold) log.warn({ lateWorksMax, lateBodyBytesMax }, 'late work dropped: too much waits');
    isDroppingTold = true;
    return true;
  };
  return {
    closing: controller.signal,
    later: (delayMs, bodyBytes, work) => {
      if (isFull(bodyBytes)) return;
      pendingBytes += bodyBytes;
      const one = clock
        .sleep(delayMs, controller.signal)
        .then(async () => void (await work()))
        .catch((error: unknown) => {
          // The abort is the service closing: what has not begun is dropped. Nobody else waits for what fails here.
          if (!controller.signal.aborted) log.warn({ reason: messageOf(error) }, 'late work failed');
        })
        .finally(() => {
          pendingBytes -= bodyBytes;
          pending.delete(one);
        });
      pending.add(one);
    },
    close: async () => {
      controller.abort();
      await Promise.all(pending);
    },
  };
}
