/** What runs know of their feed: part of migration 3. */
export const feedTables = `
  ALTER TABLE runs ADD COLUMN source_label TEXT;
  ALTER TABLE runs ADD COLUMN refusal TEXT;
`;
