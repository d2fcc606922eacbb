/** What the file said before, and what of staging and of runs is not composed over tables yet, in SQLite. */
import type { Said } from '#src/contacts/base.ts';
import type { BesidePart, BesideRuns } from '#src/ledger/run-ledger.ts';
import type { BesideRows } from '#src/ledger/staged-rows.ts';
import type { KeyTrace, StagedSlice, StagingLedger } from '#src/ledger/staging.ts';
import { type LinkCode, linkCodes } from '#src/ledger/staging.ts';
import { type Database, parseJson, type ResultRow, textOrNull } from './database.ts';
import { settleRecords } from './settle.ts';

const inList = 'IN (SELECT value FROM json_each(?))';

/**
 * No write of the key is on its way or in doubt, be it of another feed: else it cannot be said yet that the row is unchanged.
 */
const nothingOnItsWay = `NOT EXISTS (
  SELECT 1 FROM contacts WHERE contacts.key = said.key AND (contacts.state = 'intent' OR contacts.claim IS NOT NULL))`;

type RestOfStaging = Pick<StagingLedger, 'settledRows' | 'saidOf' | 'knownKeyCount' | 'sharedKeys' | 'settle'>;

export function sqliteStaging(db: Database): RestOfStaging {
  return {
    settledRows: async (feed, rowHashes) =>
      new Map(
        db
          .all(
            `SELECT row_hash, key, fingerprint, held_count FROM said WHERE feed = ? AND row_hash ${inList} AND ${nothingOnItsWay}`,
            feed,
            JSON.stringify(rowHashes),
          )
          .map((row) => [
            String(row.row_hash),
            { key: String(row.key), fingerprint: String(row.fingerprint), heldCount: Number(row.held_count) },
          ]),
      ),

    saidOf: async (feed, keys) =>
      new Map(
        db
          .all(
            `SELECT key, said, row_hash, tried, held_count, CASE WHEN ${nothingOnItsWay} THEN fingerprint END AS fingerprint
             FROM said WHERE feed = ? AND key ${inList}`,
            feed,
            JSON.stringify(keys),
          )
          .flatMap((row) => {
            const said = parseJson<Said>(row.said);
            if (said === null) return [];
            const record = {
              key: String(row.key),
              said,
              rowHash: textOrNull(row.row_hash),
              fingerprint: textOrNull(row.fingerprint),
              triedFingerprint: textOrNull(row.tried),
              heldCount: Number(row.held_count),
            };
            return [[record.key, record] as const];
          }),
      ),

    knownKeyCount: async (feed) =>
      Number(db.get('SELECT count(*) AS known FROM said WHERE feed = ?', feed)?.known ?? 0),

    sharedKeys: async (runId, otherRunId) => {
      const row = db.get(
        `SELECT count(*) AS keys, count(other.key) AS shared FROM run_keys AS one
         LEFT JOIN run_keys AS other ON other.run_id = ? AND other.key = one.key WHERE one.run_id = ?`,
        otherRunId,
        runId,
      );
      return { keys: Number(row?.keys ?? 0), shared: Number(row?.shared ?? 0) };
    },

    settle: async (request) => db.transaction(() => settleRecords(db, request)),
  };
}

/** For use inside a transaction, but `newKeys`. */
export function besideRows(db: Database, idle: () => Promise<void>): BesideRows {
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
    newKeys: async (feed, keys) => {
      await idle();
      const rows = db.all(
        `SELECT wanted.value AS key, (
           SELECT json_group_array(code) FROM letters WHERE letters.feed = ?1 AND letters.key = wanted.value
             AND letters.settled = 0 AND letters.code IN (SELECT value FROM json_each(?2))) AS unlinked
         FROM json_each(?3) AS wanted WHERE NOT EXISTS (
           SELECT 1 FROM contacts WHERE contacts.key = wanted.value AND contact_id IS NOT NULL)`,
        ...[feed, JSON.stringify(linkCodes), JSON.stringify(keys)],
      );
      return new Map(rows.map((row) => [String(row.key), parseJson<LinkCode[]>(row.unlinked) ?? []]));
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
  for (const { key, rowHash, mappingVersion } of slice.refreshed ?? []) {
    db.run(
      'UPDATE said SET row_hash = ?, mapping_version = ? WHERE feed = ? AND key = ?',
      rowHash,
      mappingVersion,
      feed,
      key,
    );
  }
  confirmUnchanged(db, feed, sequence, slice.unchanged ?? []);
}

/** The run says of these keys what is settled already: newer than any older row. */
function confirmUnchanged(db: Database, feed: string, sequence: number, keys: readonly string[]): void {
  if (keys.length === 0) return;
  db.run(
    `UPDATE said SET spoken = max(spoken, ?) WHERE feed = ? AND key ${inList}`,
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
