/** What was opened is closed in reverse order, however far the opening got. */
import { messageOf } from '#src/errors.ts';
import { isLedgerTrouble } from '#src/ledger/sqlite/damage.ts';
import type { Logger } from '#src/log.ts';

export interface Closers {
  add(close: () => Promise<void> | void): void;
  /** Never rejects: one that fails is logged, and the others are closed. A second call finds nothing to do. */
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
