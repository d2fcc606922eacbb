/** What of feeds the health watch asks and no tables offer yet, in SQLite. */
import type { BesideFeeds } from '#src/ledger/desk/feed-standings.ts';
import type { Database } from './database.ts';

export function besideFeeds(db: Database, idle: () => Promise<void>): BesideFeeds {
  return {
    feeds: async () => {
      await idle();
      const rows = db.all('SELECT name, created_at FROM feeds ORDER BY name');
      return rows.map((row) => ({ feed: String(row.name), createdAtMs: Number(row.created_at) }));
    },
    hasOpenLetters: async (feed, fromSequence) => {
      await idle();
      const sql = 'SELECT 1 FROM letters WHERE feed = ? AND sequence >= ? AND settled = 0 LIMIT 1';
      return db.get(sql, feed, fromSequence) !== null;
    },
  };
}
