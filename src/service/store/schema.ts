/**
 * The tables of a workspace.
 *
 * A contact is one JSON document; beside it stand the columns that are searched. `seq` grows with every insert and
 * is never used twice, so that a page token survives inserts and deletes.
 */

/** Raised with every change of the tables; a newer file is refused. */
export const schemaVersion = 1;

export const schemaSql = `
CREATE TABLE workspace (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  owner_user_id TEXT NOT NULL
) STRICT;
CREATE TABLE contacts (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  external_id TEXT,
  source TEXT,
  created_ms INTEGER NOT NULL,
  document TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX contacts_by_external_id ON contacts (external_id) WHERE external_id IS NOT NULL;
CREATE INDEX contacts_by_source ON contacts (source, seq) WHERE source IS NOT NULL;
CREATE TABLE custom_fields (
  seq INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  type TEXT NOT NULL
) STRICT;
CREATE TABLE phone_numbers (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  document TEXT NOT NULL
) STRICT;
CREATE TABLE phone_number_users (
  phone_number_seq INTEGER NOT NULL REFERENCES phone_numbers (seq),
  user_id TEXT NOT NULL,
  PRIMARY KEY (user_id, phone_number_seq)
) STRICT, WITHOUT ROWID;
`;
