/** The journal in a database: every write that landed, by run and by key (`docs/rules.md`, "The journal"). */
import type { JournalChange, JournalEntry } from '#src/contacts/outcome.ts';

export interface NewJournalRow extends Pick<JournalEntry, 'contactId' | 'kind' | 'changes'> {
  readonly key: string;
  /** The run whose write it was; it is entered with the run's sequence. */
  readonly runId: string;
  /** When it was entered, by the wall clock. */
  readonly atMs: number;
}

export interface JournalRow extends NewJournalRow {
  /** In the order of entry. */
  readonly number: number;
  readonly runSequence: number;
  readonly changes: readonly JournalChange[];
}

/** All that is given must hold: of one run, or of one key. */
export interface JournalFilter {
  readonly runId?: string;
  readonly key?: string;
  /** In the order of entry, or against it. */
  readonly newestFirst?: boolean;
  /** The last one of the page before. */
  readonly after?: number;
  readonly limit: number;
}

export interface JournalTables {
  /** A row of a run that is not there is left out. */
  addJournal(rows: readonly NewJournalRow[]): Promise<void>;
  journalPage(filter: JournalFilter): Promise<readonly JournalRow[]>;
  /** The oldest first. @returns how many were deleted: fewer than `limit` where no older one is left. */
  forgetJournal(beforeMs: number, limit: number): Promise<number>;
}
