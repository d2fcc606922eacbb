/**
 * What approvals and redrives need: part of migration 4.
 *
 * `redriven_letters`: the letters that a redrive took, in the order in which they were met, until it has ended. Those of
 * redrives that were entered before this table was there are filled in.
 */
export const guardTables = `
  ALTER TABLE runs ADD COLUMN approvals TEXT NOT NULL DEFAULT '[]';

  CREATE TABLE redriven_letters (
    run_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    letter_id TEXT NOT NULL,
    PRIMARY KEY (run_id, ordinal)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO redriven_letters (run_id, ordinal, letter_id)
    SELECT redrive_run_id, row_number() OVER (PARTITION BY redrive_run_id ORDER BY sequence, line, id), id
    FROM dead_letters WHERE state = 'redriven' AND redrive_run_id IS NOT NULL;
  CREATE INDEX dead_letters_by_redrive ON dead_letters (redrive_run_id) WHERE redrive_run_id IS NOT NULL;
  CREATE INDEX dead_letters_without_key ON dead_letters (feed, sequence) WHERE key IS NULL AND state = 'open';
`;
