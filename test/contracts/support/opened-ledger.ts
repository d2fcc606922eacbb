/** How a contract suite gets its ledger: a fresh, empty one for each test. */
import { onTestFinished } from 'vitest';
import type { Ledger } from '#src/ledger/port.ts';

export interface OpenedLedger {
  readonly ledger: Ledger;
  /** Another connection to the same ledger, as another process has it; the first one stays open. */
  reopen(): Promise<Ledger>;
  /** Closes every connection and leaves nothing behind. */
  close(): Promise<void>;
}

export type OpenLedger = () => Promise<OpenedLedger>;

/** Opens a ledger that is closed when the test ends. */
export async function openForTest(open: OpenLedger): Promise<OpenedLedger> {
  const opened = await open();
  onTestFinished(() => opened.close());
  return opened;
}
