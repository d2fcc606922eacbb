/**
 * What the ledger needs to tell how long things wait: part of migration 4.
 *
 * `staged_parked`: rows that were put off are few, and found without a walk over all. `stopped_at`, since when a run is
 * stopped; `stopped_ms`, how long it was so before.
 */
export const clockTables = `
  CREATE INDEX staged_parked ON staged (not_before) WHERE outcome IS NULL AND not_before > 0;
  ALTER TABLE runs ADD COLUMN stopped_at INTEGER;
  ALTER TABLE runs ADD COLUMN stopped_ms INTEGER NOT NULL DEFAULT 0;
`;
