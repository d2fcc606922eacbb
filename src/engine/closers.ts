/** Closes what was opened, in reverse order, also after an opening that failed halfway. */
import { messageOf } from '#src/errors.ts';
import { isLedgerTrouble } from '#src/ledger/sqlite/damage.ts';
import type { Logger } from '#src/log.ts';

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
