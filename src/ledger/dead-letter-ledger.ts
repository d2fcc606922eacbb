/** The part of the ledger that holds dead letters. */
import type { DeadLetter, DeadLetterFilter } from './dead-letter.ts';

export interface DeadLetterLedger {
  list(filter: DeadLetterFilter): Promise<readonly DeadLetter[]>;
  get(id: string): Promise<DeadLetter | null>;
  countOpen(): Promise<number>;
  /** Open letters by code and field, with an example. */
  groups(limit: number): Promise<readonly DeadLetterGroup[]>;
  /** Marks letters as being tried again by that run. Answers those that were open. */
  markRedriven(ids: readonly string[], runId: string): Promise<readonly string[]>;
  /** Letters that the run took and did not settle are open again. */
  reopenUnsettled(runId: string): Promise<void>;
}

export interface DeadLetterGroup {
  readonly class: string;
  readonly code: string;
  readonly field: string | null;
  readonly count: number;
  readonly example: DeadLetter;
}
