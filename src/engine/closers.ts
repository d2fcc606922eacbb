/** How a process ends what it opened: in reverse order, and within a deadline. */
import type { Clock } from '#src/clock.ts';
import { messageOf } from '#src/errors.ts';
import { isLedgerTrouble } from '#src/ledger/trouble.ts';
import type { Logger } from '#src/log.ts';

/** Closes what was opened, in reverse order, also after an opening that failed halfway. */
export interface Closers {
  add(close: () => Promise<void> | void): void;
  /** Never rejects: a failure is logged, and the others are still closed. A second call does nothing. */
  closeAll(): Promise<void>;
}

export function createClosers(log: Logger): Closers {
  const closers: (() => Promise<void> | void)[] = [];
  return {
    add: (close) => void closers.push(close),
    closeAll: async () => {
      for (const close of closers.splice(0).reverse()) {
        try {
          await close();
        } catch (error) {
          log[isLedgerTrouble(error) ? 'debug' : 'warn']({ reason: messageOf(error) }, 'close failed');
        }
      }
    },
  };
}

/** What is left of the time for a stop, in milliseconds. It begins with the first question. */
export function createStopDeadline(clock: Pick<Clock, 'monotonicMs'>, deadlineMs: number): () => number {
  let overAtMs: number | null = null;
  return () => {
    overAtMs ??= clock.monotonicMs() + deadlineMs;
    return Math.max(0, overAtMs - clock.monotonicMs());
  };
}
