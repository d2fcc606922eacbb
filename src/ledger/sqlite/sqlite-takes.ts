/** The ledger's part for takes, in SQLite. */
import type { TakeBeginning, TakeLedger, TakenFile, TakenUrl } from '../take-ledger.ts';
import { type Database, type ResultRow, textOrNull } from './database.ts';

export function sqliteTakes(db: Database): TakeLedger {
  const endBeginning = (feed: string): void => {
    db.run('DELETE FROM takes_begun WHERE feed = ?', feed);
  };
  return {
    newestFile: async (feed) =>
      fileOf(
        db.get(
          `SELECT * FROM taken_files WHERE feed = ? AND sha256 IS NOT NULL
           ORDER BY modified_at DESC, path DESC LIMIT 1`,
          feed,
        ),
      ),

    file: async (feed, path) =>
      fileOf(db.get('SELECT * FROM taken_files WHERE feed = ? AND path = ? AND sha256 IS NOT NULL', feed, path)),

    // One after another, by the key: ten thousand take some ten milliseconds.
    knownFiles: async (feed, files) =>
      new Set(
        files
          .filter(
            ({ path, fingerprint }) =>
              db.get('SELECT fingerprint FROM taken_files WHERE feed = ? AND path = ?', feed, path)?.fingerprint ===
              fingerprint,
          )
          .map(({ path }) => path),
      ),

    noteFile: async (file) =>
      db.transaction(() => {
        db.run(
          `INSERT OR REPLACE INTO taken_files (feed, path, fingerprint, modified_at, sha256, taken_at)
           VALUES (?, ?, ?, ?, ?, ?)`,
          file.feed,
          file.path,
          file.fingerprint,
          file.modifiedAtMs,
          file.sha256,
          file.takenAtMs,
        );
        endBeginning(file.feed);
      }),

    passOver: async (feed, files, atMs) =>
      db.transaction(() => {
        for (const { path, fingerprint, modifiedAtMs } of files) {
          db.run(
            `INSERT INTO taken_files (feed, path, fingerprint, modified_at, sha256, taken_at)
             VALUES (?, ?, ?, ?, NULL, ?) ON CONFLICT (feed, path) DO UPDATE SET fingerprint = excluded.fingerprint`,
            feed,
            path,
            fingerprint,
            modifiedAtMs,
            atMs,
          );
        }
      }),

    url: async (feed, urlHash) =>
      urlOf(db.get('SELECT * FROM taken_urls WHERE feed = ? AND url_hash = ?', feed, urlHash)),

    noteUrl: async (url) =>
      db.transaction(() => {
        db.run(
          `INSERT OR REPLACE INTO taken_urls (feed, url_hash, answered_hash, etag, last_modified, sha256, taken_at)
           VALUES (?, ?, ?, ?, ?, ?, ?)`,
          url.feed,
          url.urlHash,
          url.answeredHash,
          url.etag,
          url.lastModified,
          url.sha256,
          url.takenAtMs,
        );
        endBeginning(url.feed);
      }),

    begun: async (feed) => beginningOf(db.get('SELECT * FROM takes_begun WHERE feed = ?', feed)),

    begin: async (feed, { sha256, begunAtMs }) =>
      db.transaction(() => {
        db.run('INSERT OR REPLACE INTO takes_begun (feed, sha256, begun_at) VALUES (?, ?, ?)', feed, sha256, begunAtMs);
      }),
  };
}

function fileOf(row: ResultRow | null): TakenFile | null {
  if (row === null) return null;
  return {
    feed: String(row.feed),
    path: String(row.path),
    fingerprint: String(row.fingerprint),
    modifiedAtMs: Number(row.modified_at),
    sha256: String(row.sha256),
    takenAtMs: Number(row.taken_at),
  };
}

function urlOf(row: ResultRow | null): TakenUrl | null {
  if (row === null) return null;
  return {
    feed: String(row.feed),
    urlHash: String(row.url_hash),
    answeredHash: String(row.answered_hash),
    etag: textOrNull(row.etag),
    lastModified: textOrNull(row.last_modified),
    sha256: String(row.sha256),
    takenAtMs: Number(row.taken_at),
  };
}

function beginningOf(row: ResultRow | null): TakeBeginning | null {
  return row === null ? null : { sha256: String(row.sha256), begunAtMs: Number(row.begun_at) };
}
