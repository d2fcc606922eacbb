/**
 * The tables of takes: part of migration 3.
 *
 * One row for each path that a feed has met. Without a hash it was passed over: a newer one was taken instead.
 * `seen_at`, to the day: when it lay there last.
 */
export const takeTables = `
  CREATE TABLE taken_files (
    feed TEXT NOT NULL,
    path TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    modified_at INTEGER NOT NULL,
    sha256 TEXT,
    taken_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (feed, path)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX taken_files_newest ON taken_files (feed, modified_at, path) WHERE sha256 IS NOT NULL;

  CREATE TABLE taken_urls (
    feed TEXT PRIMARY KEY,
    url_hash TEXT NOT NULL,
    answered_hash TEXT NOT NULL,
    etag TEXT,
    last_modified TEXT,
    sha256 TEXT NOT NULL,
    taken_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE takes_begun (
    feed TEXT PRIMARY KEY,
    sha256 TEXT NOT NULL,
    begun_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;
