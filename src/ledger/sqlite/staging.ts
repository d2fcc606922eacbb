/** What the file said before, and what of staging and of runs is not composed over tables yet, in SQLite. */
import type { BesidePart, BesideRuns } from '#src/ledger/run-ledger.ts';
import type { BesideRows } from '#src/ledger/staged-rows.ts';
import type { KeyTrace, StagedSlice, StagingLedger } from '#src/ledger/staging.ts';
import type { Database, ResultRow } from './database.ts';
import { hashBytes, hashText } from './key-tables.ts';

const inList = 'IN (SELECT value FROM json_each(?))';

/**
 * No write of the key is on its way or in doubt, be it of another feed: else it cannot be said yet that the row is unchanged.
 */
const nothingOnItsWay = `NOT EXISTS (
  SELECT 1 FROM flights WHERE flights.key = contacts.key AND (flights.intent_run IS NOT NULL OR flights.claim IS NOT NULL))`;
const ofKey = 'known.number = (SELECT number FROM contacts WHERE key = ?)';
const ofFeed = 'known.feed_number = (SELECT number FROM feeds WHERE name = ?)';

type RestOfStaging = Pick<StagingLedger, 'settledRows'>;

export function sqliteStaging(db: Database): RestOfStaging {
  return {
    settledRows: async (feed, rowHashes) =>
      new Map(
        db
          .all(
            `SELECT row_hash, key, fingerprint, held_count FROM known JOIN contacts ON contacts.number = known.number
             WHERE ${ofFeed} AND row_hash IN (SELECT unhex(value) FROM json_each(?)) AND ${nothingOnItsWay}`,
            feed,
            JSON.stringify(rowHashes.map((hash) => Buffer.from(hash, 'base64url').toString('hex'))),
          )
          .map((row) => [
            hashText(row.row_hash) ?? '',
            {
              key: String(row.key),
              fingerprint: hashText(row.fingerprint) ?? '',
              heldCount: Number(row.held_count),
            },
          ]),
      ),
  };
}

/** For use inside a transaction. */
export function besideRows(db: Database): BesideRows {
  return {
    stage: async (slice, sequence) => stageBeside(db, slice, sequence),
    positionsOf: async (sequence, keys) =>
      new Map(
        db
          .all(
            `SELECT key, max(place) - ?1 * 8388608 AS position FROM staged INDEXED BY staged_by_key
             WHERE key IN (SELECT value FROM json_each(?2)) AND outcome IS NULL
               AND place > ?1 * 8388608 AND place < (?1 + 1) * 8388608 GROUP BY key`,
            sequence,
            JSON.stringify(keys),
          )
          .map((row) => [String(row.key), Number(row.position)]),
      ),
    traces: async (runId, keys) => {
      const rows = db.all(`SELECT * FROM run_keys WHERE run_id = ? AND key ${inList}`, runId, JSON.stringify(keys));
      return new Map(rows.map(toTrace).map((trace) => [trace.key, trace]));
    },
  };
}

export function besideRuns(db: Database): BesideRuns {
  return {
    forget: async (runId, part, limit) => {
      const [table, column] = besideTables[part];
      return db.run(
        `DELETE FROM ${table} WHERE run_id = ?1 AND ${column} IN (
           SELECT ${column} FROM ${table} WHERE run_id = ?1 ORDER BY ${column} DESC LIMIT ?2)`,
        ...[runId, limit],
      );
    },
  };
}

const besideTables: Readonly<Record<BesidePart, readonly [table: string, column: string]>> = {
  keys: ['run_keys', 'key'],
};

function stageBeside(db: Database, slice: StagedSlice, sequence: number): void {
  const { runId, feed } = slice;
  for (const trace of slice.traces ?? []) {
    db.run(
      `INSERT INTO run_keys (run_id, key, line, fingerprint, kind) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (run_id, key) DO UPDATE SET kind = excluded.kind, line = excluded.line, fingerprint = excluded.fingerprint`,
      runId,
      trace.key,
      trace.line,
      trace.fingerprint,
      trace.kind,
    );
  }
  for (const { key, rowHash } of slice.refreshed ?? []) {
    db.run(`UPDATE known SET row_hash = ? WHERE ${ofFeed} AND ${ofKey}`, hashBytes(rowHash), feed, key);
  }
  if ((slice.refreshed ?? []).length > 0) db.run('UPDATE feeds SET revision = revision + 1 WHERE name = ?', feed);
  confirmUnchanged(db, feed, sequence, slice.unchanged ?? []);
}

/** The run says of these keys what is settled already: newer than any older row. */
function confirmUnchanged(db: Database, feed: string, sequence: number, keys: readonly string[]): void {
  if (keys.length === 0) return;
  db.run(
    `UPDATE known SET spoken = max(spoken, ?) WHERE ${ofFeed} AND number IN (SELECT number FROM contacts WHERE key ${inList})`,
    sequence,
    feed,
    JSON.stringify(keys),
  );
}

function toTrace(row: ResultRow): KeyTrace {
  return {
    key: String(row.key),
    line: Number(row.line),
    fingerprint: String(row.fingerprint),
    kind: String(row.kind) as KeyTrace['kind'],
  };
}
