/**
 * The tables of snapshots: part of migration 3.
 *
 * A snapshot that shows a change says in `shown` which numbers it shows and in which order (`number-runs.ts`); one that
 * shows nothing new refers to it by `content_of`. A number has a small key, and one version for each of its contents:
 * from the first snapshot that shows it until the last one, or null as long as the newest does.
 */
export const snapshotTables = `
  CREATE TABLE snapshots (
    series TEXT NOT NULL,
    taken_at INTEGER NOT NULL,
    "count" INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    changed_numbers INTEGER NOT NULL,
    content_of INTEGER NOT NULL,
    shown TEXT,
    PRIMARY KEY (series, taken_at)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE snapshot_numbers (
    number_key INTEGER PRIMARY KEY,
    series TEXT NOT NULL,
    id TEXT NOT NULL,
    UNIQUE (series, id)
  ) STRICT;

  CREATE TABLE number_versions (
    number_key INTEGER NOT NULL,
    from_at INTEGER NOT NULL,
    until_at INTEGER,
    document TEXT NOT NULL,
    UNIQUE (number_key, from_at)
  ) STRICT;
  CREATE INDEX number_versions_open ON number_versions (number_key) WHERE until_at IS NULL;
  CREATE INDEX number_versions_ended ON number_versions (until_at) WHERE until_at IS NOT NULL;
`;
