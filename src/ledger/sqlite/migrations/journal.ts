/** Migration 6, second design: the journal of every write. It begins empty: earlier writes were not told. */
import type { MigrationStep } from './step.ts';

const journal = `
  CREATE TABLE journal (
    number INTEGER PRIMARY KEY,
    run_sequence INTEGER NOT NULL,
    key TEXT NOT NULL,
    contact_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    changes TEXT NOT NULL
  ) STRICT;
  CREATE INDEX journal_by_run ON journal (run_sequence);
  CREATE INDEX journal_by_key ON journal (key);
`;

export const journalSteps: readonly MigrationStep[] = [journal];
