/** Staged records, batches and what the file said before, in SQLite. */
import type { SQLInputValue } from 'node:sqlite';
import type { Said } from '#src/contacts/base.ts';
import type { DesiredContact } from '#src/contacts/desired.ts';
import { skippedPendingEvents } from '#src/ledger/rules/events.ts';
import type { CountDelta } from '#src/ledger/runs.ts';
import type {
  BatchRecord,
  DeadRow,
  KeyTrace,
  RowLink,
  RunEvent,
  StagedRecord,
  StagedSlice,
  StagingLedger,
} from '#src/ledger/staging.ts';
import { type LinkCode, linkCodes } from '#src/ledger/staging.ts';
import type { Row } from '#src/sources/row.ts';
import { type Database, parseJson, type ResultRow, textOrNull } from './database.ts';
import { closeLetter, closeLettersOf, deathPlace, enterDeadRow } from './letters.ts';
import { addCounts, addEvents } from './runs.ts';
import { settleRecords } from './settle.ts';

/** Without the hint the planner walks the whole run in the order of its rows, for every few records. */
const pendingIndex = 'staged INDEXED BY staged_pending';
const inList = 'IN (SELECT value FROM json_each(?))';

/**
 * No write of the key is on its way or in doubt, be it of another feed: else it cannot be said yet that the row is unchanged.
 */
const nothingOnItsWay = `NOT EXISTS (
  SELECT 1 FROM contacts WHERE contacts.key = said.key AND (contacts.state = 'intent' OR contacts.claim IS NOT NULL))`;

export function sqliteStaging(db: Database): StagingLedger {
  const stagedRows = (from: string, where: string, ...parameters: SQLInputValue[]) =>
    db
      .all(
        `SELECT staged.*, runs.feed AS feed FROM ${from} JOIN runs ON runs.id = staged.run_id WHERE ${where}`,
        ...parameters,
      )
      .map(toStaged);

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

    metBefore: async (runId, keys) => {
      const traces = db
        .all(`SELECT * FROM run_keys WHERE run_id = ? AND key ${inList}`, runId, JSON.stringify(keys))
        .map(toTrace);
      const ofKeys = `staged.run_id = ? AND outcome IS NULL AND key ${inList}`;
      const staged = stagedRows('staged', ofKeys, runId, JSON.stringify(keys));
      return {
        traces: new Map(traces.map((trace) => [trace.key, trace])),
        staged: new Map(staged.map((record) => [record.key, record])),
      };
    },

    stage: async (slice) => db.transaction(() => stageSlice(db, slice)),

    newKeyRows: async (runId, afterPosition, limit) =>
      db
        .all(
          `SELECT position, line, key, desired, (
             SELECT json_group_array(code) FROM dead_letters
             WHERE dead_letters.feed = (SELECT feed FROM runs WHERE id = staged.run_id) AND dead_letters.key = staged.key
               AND dead_letters.state IN ('open', 'redriven') AND dead_letters.code ${inList}) AS unlinked
           FROM staged WHERE run_id = ? AND position > ? AND outcome IS NULL AND NOT EXISTS (
             SELECT 1 FROM contacts WHERE contacts.key = staged.key AND contact_id IS NOT NULL)
           ORDER BY position LIMIT ?`,
          JSON.stringify(linkCodes),
          runId,
          afterPosition,
          limit,
        )
        .map((row) => ({
          position: Number(row.position),
          line: Number(row.line),
          key: String(row.key),
          // Written by this ledger from a value of that type.
          desired: JSON.parse(String(row.desired)) as DesiredContact,
          unlinked: parseJson<LinkCode[]>(row.unlinked) ?? [],
        })),

    linkRows: async (runId, links) =>
      db.transaction(() => {
        for (const { position, link } of links) {
          const value = JSON.stringify(link);
          db.run('UPDATE staged SET link = ? WHERE run_id = ? AND position = ?', value, runId, position);
        }
      }),

    sharedKeys: async (runId, otherRunId) => {
      const row = db.get(
        `SELECT count(*) AS keys, count(other.key) AS shared FROM run_keys AS one
         LEFT JOIN run_keys AS other ON other.run_id = ? AND other.key = one.key WHERE one.run_id = ?`,
        otherRunId,
        runId,
      );
      return { keys: Number(row?.keys ?? 0), shared: Number(row?.shared ?? 0) };
    },

    nextBatches: async (nowMs, limit) =>
      db
        .all(
          `SELECT batches.* FROM batches JOIN runs ON runs.id = batches.run_id
           WHERE batches.done = 0 AND runs.state = 'applying'
           ORDER BY batches.due_at > ?, runs.sequence, batches.batch LIMIT ?`,
          nowMs,
          limit,
        )
        .map(toBatch),

    batch: async (runId, batch) => {
      const row = db.get('SELECT * FROM batches WHERE run_id = ? AND batch = ? AND done = 0', runId, batch);
      return row === null ? null : toBatch(row);
    },

    pendingRecords: async (runId, batch, nowMs, limit) =>
      stagedRows(
        pendingIndex,
        'staged.run_id = ? AND batch = ? AND outcome IS NULL AND not_before <= ? ORDER BY not_before, position LIMIT ?',
        runId,
        batch,
        nowMs,
        limit,
      ),

    pendingCount: async (runId) =>
      Number(
        db.get(`SELECT count(*) AS pending FROM ${pendingIndex} WHERE run_id = ? AND outcome IS NULL`, runId)
          ?.pending ?? 0,
      ),

    defer: async (runId, records) =>
      db.transaction(() => {
        for (const { position, notBeforeMs, burnAttempt } of records) {
          db.run(
            'UPDATE staged SET not_before = ?, attempts = attempts + ? WHERE run_id = ? AND position = ? AND outcome IS NULL',
            notBeforeMs,
            burnAttempt ? 1 : 0,
            runId,
            position,
          );
        }
      }),

    releaseBatch: async (runId, batch, generation, notBeforeMs) =>
      db.transaction(() => {
        const pending = db.get(
          `SELECT count(*) AS pending, min(not_before) AS next FROM ${pendingIndex} WHERE run_id = ? AND batch = ? AND outcome IS NULL`,
          runId,
          batch,
        );
        const done = Number(pending?.pending ?? 0) === 0;
        db.run(
          'UPDATE batches SET done = ?, generation = generation + 1, due_at = ? WHERE run_id = ? AND batch = ? AND generation = ? AND done = 0',
          done ? 1 : 0,
          Math.max(notBeforeMs, Number(pending?.next ?? 0)),
          runId,
          batch,
          generation,
        );
        return done;
      }),

    settle: async (request) => db.transaction(() => settleRecords(db, request)),

    skipPending: async (runId, reason, atMs) =>
      db.transaction(() => {
        const skipped = db.run("UPDATE staged SET outcome = 'skipped' WHERE run_id = ? AND outcome IS NULL", runId);
        db.run('UPDATE batches SET done = 1, due_at = ? WHERE run_id = ?', atMs, runId);
        addCounts(db, runId, { skipped });
        addEvents(db, runId, skippedPendingEvents(skipped, reason));
        return skipped;
      }),

    countEnds: async (runId) => {
      const counts = new Map(
        db
          .all(
            'SELECT outcome, count(*) AS ends FROM staged WHERE run_id = ? AND outcome IS NOT NULL GROUP BY outcome',
            runId,
          )
          .map((row) => [String(row.outcome), Number(row.ends)]),
      );
      const delta: CountDelta = {
        created: counts.get('created') ?? 0,
        updated: counts.get('updated') ?? 0,
        unchanged: counts.get('unchanged') ?? 0,
        skipped: counts.get('skipped') ?? 0,
        dead: counts.get('dead') ?? 0,
      };
      return delta;
    },

    events: async (runId, afterOrdinal, limit) =>
      db
        .all(
          'SELECT * FROM run_events WHERE run_id = ? AND ordinal > ? ORDER BY ordinal LIMIT ?',
          runId,
          afterOrdinal,
          limit,
        )
        .flatMap((row) => {
          const event = parseJson<RunEvent>(row.event);
          return event === null ? [] : [{ ...event, ordinal: Number(row.ordinal) }];
        }),

    deadByCode: async (runId) =>
      db
        .all(
          `SELECT json_extract(dead, '$.class') AS class, json_extract(dead, '$.code') AS code, count(*) AS letters
           FROM dead_rows WHERE run_id = ? GROUP BY 1, 2 ORDER BY letters DESC`,
          runId,
        )
        .map((row) => ({
          class: String(row.class) as DeadRow['class'],
          code: String(row.code),
          count: Number(row.letters),
        })),

    deadRows: async (runId, afterOrdinal, limit) =>
      db
        .all(
          'SELECT * FROM dead_rows WHERE run_id = ? AND ordinal > ? ORDER BY ordinal LIMIT ?',
          runId,
          afterOrdinal,
          limit,
        )
        .flatMap((row) => {
          const dead = parseJson<DeadRow>(row.dead);
          return dead === null ? [] : [{ ...dead, ordinal: Number(row.ordinal), letterId: String(row.letter_id) }];
        }),
  };
}

/** For use inside a transaction. */
export function stageSlice(db: Database, slice: StagedSlice): void {
  const { runId, feed, atMs } = slice;
  const place = deathPlace(db, { runId, feed, atMs });
  // What gives way goes first: a new record of the same key must not end with it.
  let newLetters = 0;
  const withdrawnDead: DeadRow[] = [];
  for (const { key, end } of slice.withdrawn) {
    db.run('UPDATE staged SET outcome = ? WHERE run_id = ? AND key = ? AND outcome IS NULL', end.outcome, runId, key);
    if (end.outcome === 'dead') withdrawnDead.push(end.dead);
  }
  let position = Number(db.get('SELECT max(position) AS last FROM staged WHERE run_id = ?', runId)?.last ?? 0);
  for (const record of slice.records) {
    position += 1;
    const batch = Math.ceil(position / slice.rowsPerBatch);
    db.run('INSERT INTO batches (run_id, batch) VALUES (?, ?) ON CONFLICT DO NOTHING', runId, batch);
    db.run(
      `INSERT INTO staged (run_id, position, batch, line, sequence, key, row_hash, fingerprint, mapping_version, desired, "row",
         letter_id)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      runId,
      position,
      batch,
      record.line,
      record.sequence,
      record.key,
      record.rowHash,
      record.fingerprint,
      record.mappingVersion,
      JSON.stringify(record.desired),
      JSON.stringify(record.row),
      record.letterId ?? null,
    );
  }
  for (const trace of slice.traces) {
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
  for (const dead of [...withdrawnDead, ...slice.dead]) {
    if (enterDeadRow(db, place, dead)) newLetters += 1;
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
  confirmUnchanged(db, feed, place.sequence, slice.unchanged ?? []);
  for (const id of slice.answered ?? []) closeLetter(db, id);
  addEvents(db, runId, slice.events);
  addCounts(db, runId, { ...slice.counts, deadNew: newLetters });
}

/** The run says of these keys what is settled already: newer than any older row, and a success for their dead letters. */
function confirmUnchanged(db: Database, feed: string, sequence: number, keys: readonly string[]): void {
  if (keys.length === 0) return;
  db.run(
    `UPDATE said SET spoken = max(spoken, ?) WHERE feed = ? AND key ${inList}`,
    sequence,
    feed,
    JSON.stringify(keys),
  );
  closeLettersOf(db, feed, keys);
}

function toStaged(row: ResultRow): StagedRecord {
  return {
    runId: String(row.run_id),
    feed: String(row.feed),
    position: Number(row.position),
    line: Number(row.line),
    sequence: Number(row.sequence),
    key: String(row.key),
    rowHash: String(row.row_hash),
    fingerprint: String(row.fingerprint),
    mappingVersion: String(row.mapping_version),
    // Written by this ledger from a value of that type.
    desired: JSON.parse(String(row.desired)) as DesiredContact,
    row: JSON.parse(String(row.row)) as Row,
    ...(typeof row.letter_id === 'string' ? { letterId: row.letter_id } : {}),
    sent: row.sent === 1,
    attempts: Number(row.attempts),
    // Written by `linkRows` from a value of that type.
    ...(typeof row.link === 'string' ? { link: JSON.parse(row.link) as RowLink } : {}),
  };
}

function toTrace(row: ResultRow): KeyTrace {
  return {
    key: String(row.key),
    line: Number(row.line),
    fingerprint: String(row.fingerprint),
    kind: String(row.kind) as KeyTrace['kind'],
  };
}

function toBatch(row: ResultRow): BatchRecord {
  return {
    runId: String(row.run_id),
    batch: Number(row.batch),
    generation: Number(row.generation),
    dueAtMs: Number(row.due_at),
  };
}
