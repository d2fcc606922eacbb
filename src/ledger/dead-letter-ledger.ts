/** The part of the ledger that holds dead letters. */
import type { DeadLetter, DeadLetterFilter, LetterChoice } from './dead-letter.ts';
import type { NewRun, RunRecord } from './run-record.ts';

export interface DeadLetterLedger {
  list(filter: DeadLetterFilter): Promise<readonly DeadLetter[]>;
  get(id: string): Promise<DeadLetter | null>;
  countOpen(): Promise<number>;
  /** Open letters by code and field, with an example. */
  groups(limit: number): Promise<readonly DeadLetterGroup[]>;
  /** How many open letters fit, by feed and by the run that met them last. The oldest run first. */
  openByRun(choice: LetterChoice): Promise<readonly OpenOfRun[]>;
  /**
   * Enters a redrive together with the open letters of its feed that fit and that one of these runs met last: they are being
   * tried again from the moment it is there. Null, and nothing is entered, where none is open any more. Durable.
   */
  enterRedrive(
    run: Omit<NewRun, 'kind' | 'fileName'>,
    choice: LetterChoice & { readonly metBy: readonly string[] },
  ): Promise<RunRecord | null>;
  /** What a redrive took and has not settled, in the order it was met; also what has died again in it. */
  lettersOf(
    runId: string,
    afterOrdinal: number,
    limit: number,
  ): Promise<readonly (DeadLetter & { readonly ordinal: number })[]>;
  /** Letters that the run took and did not settle are open again. */
  reopenUnsettled(runId: string): Promise<void>;
  /**
   * Closes the open letters without a key whose rows a full file of their feed does not hold any more, and notes that in its
   * run: nothing else could ever close them. Answers how many they were.
   */
  closeUnmet(runId: string): Promise<number>;
  /** Forgets letters that are closed, with their rows, where they were met last before that moment. Answers how many. */
  forget(beforeMs: number): Promise<number>;
}

export interface OpenOfRun {
  readonly feed: string;
  readonly runId: string;
  readonly count: number;
}

export interface DeadLetterGroup {
  readonly class: string;
  readonly code: string;
  readonly field: string | null;
  readonly count: number;
  readonly example: DeadLetter;
}
