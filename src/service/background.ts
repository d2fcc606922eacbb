/**
 * Work that goes on after its request was answered (the fault lateCommit).
 *
 * What has not begun when the service closes never begins, as in a process that died; what has begun is awaited.
 */
import type { Clock } from '#src/clock.ts';
import { messageOf } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';

export interface Background {
  /** Aborts when the service closes. */
  readonly closing: AbortSignal;
  /** Starts the work after a delay. The work must not throw. */
  readonly later: (delayMs: number, work: () => Promise<unknown>) => void;
  readonly close: () => Promise<void>;
}

export function createBackground(clock: Clock, log: Logger): Background {
  const controller = new AbortController();
  const pending = new Set<Promise<void>>();
  return {
    closing: controller.signal,
    later: (delayMs, work) => {
      const one = clock
        .sleep(delayMs, controller.signal)
        .then(async () => void (await work()))
        .catch((error: unknown) => {
          // The abort is the service closing: what has not begun is dropped. Nobody else waits for what fails here.
          if (!controller.signal.aborted) log.warn({ reason: messageOf(error) }, 'late work failed');
        })
        .finally(() => pending.delete(one));
      pending.add(one);
    },
    close: async () => {
      controller.abort();
      await Promise.all(pending);
    },
  };
}
