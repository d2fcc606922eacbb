/** The journal in a database: every write that landed, by run and by key (`docs/rules.md`, "The journal"). */
import type { JournalFilter, JournalRow, NewJournalRow } from '#src/ledger/contacts.ts';

export interface JournalTables {
  /** A row of a run that is not there is left out. */
  addJournal(rows: readonly NewJournalRow[]): Promise<void>;
  journalPage(filter: JournalFilter): Promise<readonly JournalRow[]>;
  /** The oldest first. @returns how many were deleted: fewer than `limit` where no older one is left. */
  forgetJournal(beforeMs: number, limit: number): Promise<number>;
}
