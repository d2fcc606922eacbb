/** What the ledger's clock needs, part of migration 4: rows that were put off are few, and found without a walk over all. */
export const clockTables = `
  CREATE INDEX staged_parked ON staged (not_before) WHERE outcome IS NULL AND not_before > 0;
`;
