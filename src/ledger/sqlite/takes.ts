/** The ledger's part for takes, in SQLite. */
import type { TakeBeginning, TakeLedger, TakenFile, TakenUrl } from '#src/ledger/takes.ts';
import { type Database, type ResultRow, textOrNull } from './database.ts';

/** What is known is noted as seen at most this often. */
const seenEveryMs = 86_400_000;
/** Rows that are looked at together. */
const newestAtOnce = 500;

export function sqliteTakes(db: Database): TakeLedger {
  const endBeginning = (feed: string): void => {
    db.run('DELETE FROM takes_begun WHERE feed = ?', feed);
  };
  return {
    newestFile: async (feed, wanted) => newestOf(db, feed, wanted),

    file: async (feed, path) =>
      fileOf(db.get('SELECT * FROM taken_files WHERE feed = ? AND path = ? AND sha256 IS NOT NULL', feed, path)),

    // One after another, by the key: ten thousand take some ten milliseconds.
    knownFiles: async (feed, files, atMs) => {
      const known = new Set<string>();
      const unseen: string[] = [];
      for (const { path, fingerprint } of files) {
        const row = db.get('SELECT fingerprint, seen_at FROM taken_files WHERE feed = ? AND path = ?', feed, path);
        if (row?.fingerprint !== fingerprint) continue;
        known.add(path);
        if (Number(row.seen_at) < atMs - seenEveryMs) unseen.push(path);
      }
      if (unseen.length === 0) return known;
      db.transaction(() => {
        for (const path of unseen) {
          db.run('UPDATE taken_files SET seen_at = ? WHERE feed = ? AND path = ?', atMs, feed, path);
        }
      });
      return known;
    },

    noteFile: async (file) =>
      db.transaction(() => {
        db.run(
          `INSERT OR REPLACE INTO taken_files (feed, path, fingerprint, modified_at, sha256, taken_at, seen_at)
           VALUES (?, ?, ?, ?, ?, ?, ?)`,
          file.feed,
          file.path,
          file.fingerprint,
          file.modifiedAtMs,
          file.sha256,
          file.takenAtMs,
          file.takenAtMs,
        );
        endBeginning(file.feed);
      }),

    passOver: async (feed, files, atMs) =>
      db.transaction(() => {
        for (const { path, fingerprint, modifiedAtMs } of files) {
          db.run(
            `INSERT INTO taken_files (feed, path, fingerprint, modified_at, sha256, taken_at, seen_at)
             VALUES (?, ?, ?, ?, NULL, ?, ?) ON CONFLICT (feed, path)
             DO UPDATE SET fingerprint = excluded.fingerprint, seen_at = excluded.seen_at`,
            feed,
            path,
            fingerprint,
            modifiedAtMs,
            atMs,
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

/**
 * Forgets the files that were not seen for `keepMs` while their feed saw others; never the newest taken of a feed. Of a feed
 * that does not look, or finds its folder empty, nothing is forgotten: all would be taken again. For use inside a transaction.
 */
export function forgetTaken(db: Database, nowMs: number, keepMs: number): void {
  for (const { feed, seen_at } of db.all('SELECT feed, MAX(seen_at) AS seen_at FROM taken_files GROUP BY feed')) {
    const name = String(feed);
    // A feed that was seen in the future was so by a clock that was wrong.
    const beforeMs = Math.min(Number(seen_at), nowMs) - keepMs;
    const newest = newestOf(db, name, () => true)?.path ?? null;
    db.run('DELETE FROM taken_files WHERE feed = ? AND seen_at < ? AND path IS NOT ?', name, beforeMs, newest);
  }
}

/** Ends with the first that is wanted, or with the feed's files. */
function newestOf(db: Database, feed: string, wanted: (path: string) => boolean): TakenFile | null {
  let rows: readonly ResultRow[] = [];
  do {
    const last = rows.at(-1);
    rows = db.all(
      `SELECT * FROM taken_files WHERE feed = ? AND sha256 IS NOT NULL AND (modified_at, path) < (?, ?)
       ORDER BY modified_at DESC, path DESC LIMIT ${newestAtOnce}`,
      feed,
      // Behind everything: there is no later time.
      last?.modified_at ?? Number.MAX_SAFE_INTEGER,
      last?.path ?? '',
    );
    const found = rows.find(({ path }) => wanted(String(path)));
    if (found !== undefined) return fileOf(found);
  } while (rows.length === newestAtOnce);
  return null;
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
