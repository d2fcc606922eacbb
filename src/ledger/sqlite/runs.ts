/** Feeds and runs in SQLite. */
import { invariant } from '#src/errors.ts';
import type { Approval } from '#src/ledger/rules/approval.ts';
import { eventsThatFit } from '#src/ledger/rules/events.ts';
import { acceptedStates, historyKind, keepsKeys } from '#src/ledger/rules/feeds.ts';
import { approved, moved, notesWith, type RunChange } from '#src/ledger/rules/runs.ts';
import {
  type CountDelta,
  type FileShape,
  isFinal,
  type Look,
  type NewRun,
  noOptions,
  type RequestTotals,
  type RunKind,
  type RunLedger,
  type RunOptions,
  type RunReason,
  type RunRecord,
  type RunState,
  zeroCounts,
  zeroRequests,
} from '#src/ledger/runs.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import { type Database, numberOrNull, parseJson, type ResultRow, textOrNull } from './database.ts';

export function sqliteRuns(db: Database): RunLedger {
  const get = (id: string): RunRecord | null => runOf(db, id);
  const places = (values: readonly unknown[]): string => values.map(() => '?').join(', ');

  return {
    create: async (run) => db.durable(() => insertRun(db, run)),

    forget: async (id) =>
      db.transaction(() => {
        if (db.run("DELETE FROM runs WHERE id = ? AND state = 'queued'", id) === 0) return false;
        reopenUnsettled(db, id);
        forgetStaged(db, id, ['redriven_letters']);
        return true;
      }),

    get: async (id) => get(id),

    list: async ({ states, feed, sha256, beforeSequence, limit, oldestFirst }) => {
      const conditions: readonly (readonly [string, string | number | undefined])[] = [
        ['feed = ?', feed],
        ['sha256 = ?', sha256],
        ['sequence < ?', beforeSequence],
      ];
      const given = conditions.flatMap(([condition, value]) => (value === undefined ? [] : [{ condition, value }]));
      const where = [...(states ? [`state IN (${places(states)})`] : []), ...given.map(({ condition }) => condition)];
      const order = oldestFirst === true ? 'ASC' : 'DESC';
      return db
        .all(
          `SELECT * FROM runs WHERE ${where.join(' AND ') || 'TRUE'} ORDER BY sequence ${order} LIMIT ?`,
          ...(states ?? []),
          ...given.map(({ value }) => value),
          limit,
        )
        .map(toRun);
    },

    lastAccepted: async (feed, beforeSequence, sha256) => {
      const row = lastAccepted(db, feed, beforeSequence, sha256);
      if (row === null) return null;
      // Without a content it is the newest of all.
      const newerCount = sha256 === undefined ? 0 : acceptedBetween(db, feed, Number(row.sequence), beforeSequence);
      return { run: toRun(row), newerCount };
    },

    lastLook: async (feed) => {
      const row = db.get(
        `SELECT look FROM runs WHERE feed = ? AND look IS NOT NULL AND state IN ('applying', 'done', 'doneWithDead')
         ORDER BY sequence DESC LIMIT 1`,
        feed,
      );
      return row === null ? null : parseJson<Look>(row.look);
    },

    keyPrefixes: async (limit) =>
      db
        .all(
          `SELECT json_extract(mapping, '$.keyPrefix') AS prefix, max(sequence) AS newest FROM runs
           WHERE mapping IS NOT NULL GROUP BY prefix HAVING prefix IS NOT NULL AND prefix <> ''
           ORDER BY newest DESC LIMIT ?`,
          limit,
        )
        .map((row) => String(row.prefix)),

    nextQueued: async (limit) =>
      db
        .all(
          `SELECT * FROM runs AS queued WHERE state = 'queued' AND NOT EXISTS (
             SELECT 1 FROM runs AS earlier WHERE earlier.feed = queued.feed AND earlier.sequence < queued.sequence
               AND earlier.state IN ('queued', 'staging', 'applying'))
           ORDER BY sequence LIMIT ?`,
          limit,
        )
        .map(toRun),

    move: async (id, from, to, change) => {
      const work = (): boolean => {
        const row = db.get('SELECT state, stopped_at, stopped_ms FROM runs WHERE id = ?', id);
        const facts =
          row === null
            ? null
            : {
                state: String(row.state) as RunState,
                stoppedAtMs: numberOrNull(row.stopped_at),
                stoppedMs: Number(row.stopped_ms),
              };
        const changed = moved(facts, from, to, change);
        if (changed === null) return false;
        changeRun(db, id, changed);
        if (isFinal(to)) reopenUnsettled(db, id);
        return true;
      };
      return isFinal(to) ? db.durable(work) : db.transaction(work);
    },

    beginStaging: async (id, atMs) =>
      db.transaction(() => {
        const zero = Object.keys(zeroCounts).map((name) => `"${name}" = 0`);
        const begun = db.run(
          `UPDATE runs SET state = 'staging', notes = '[]', reason = NULL, shape = NULL, look = NULL, finished_at = NULL,
             started_at = coalesce(started_at, ?), ${zero.join(', ')} WHERE id = ? AND state IN ('queued', 'staging')`,
          atMs,
          id,
        );
        // A late redelivery must not throw away what a run at work still has to write.
        if (begun === 1) forgetStaged(db, id, [...staged, 'run_keys']);
        return begun === 1;
      }),

    record: async (id, { shape, look, mapping, notes, counts, requests }) =>
      db.transaction(() => {
        const facts = { shape, look, mapping };
        changeRun(db, id, Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)));
        if (notes !== undefined) addNotes(db, id, notes);
        addColumns(db, id, { ...counts, ...requests });
      }),

    approve: async (id, approval) =>
      db.durable(() => {
        const changed = approved(get(id), approval);
        if (changed === null) return false;
        changeRun(db, id, changed);
        return true;
      }),

    prune: async (id) => {
      db.transaction(() => {
        const run = get(id);
        invariant(run !== null && isFinal(run.state), 'only a finished run is pruned', { run: id });
        forgetStaged(db, id, [...staged, 'redriven_letters']);
        const last = lastAccepted(db, run.feed, Number.MAX_SAFE_INTEGER);
        if (!keepsKeys(run, textOrNull(last?.id))) return forgetStaged(db, id, ['run_keys']);
        // At most one run of a feed that has ended keeps its keys.
        const before = lastAccepted(db, run.feed, run.sequence);
        if (before !== null) forgetStaged(db, String(before.id), ['run_keys']);
      });
    },
  };
}

/** For use inside a transaction. */
export function runOf(db: Database, id: string): RunRecord | null {
  const row = db.get('SELECT * FROM runs WHERE id = ?', id);
  return row === null ? null : toRun(row);
}

/** Enters a run as `queued`, and its feed with its first one. For use inside a transaction. */
export function insertRun(db: Database, run: NewRun): RunRecord {
  db.run('INSERT INTO feeds (name, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING', run.feed, run.createdAtMs);
  db.run(
    `INSERT INTO runs (id, feed, kind, file_name, claimed_path, import_folder, sha256, bytes, state, options, mapping,
       source_label, refusal, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?)`,
    run.id,
    run.feed,
    run.kind,
    run.fileName,
    run.claimedPath,
    run.importFolder,
    run.sha256,
    run.bytes,
    JSON.stringify(run.options),
    run.mapping === null ? null : JSON.stringify(run.mapping),
    run.sourceLabel ?? null,
    run.refusal === undefined || run.refusal === null ? null : JSON.stringify(run.refusal),
    run.createdAtMs,
  );
  const created = runOf(db, run.id);
  invariant(created !== null, 'a run that was just entered is there');
  return created;
}

/** Letters that a redrive took and did not settle are open again. For use inside a transaction. */
function reopenUnsettled(db: Database, runId: string): void {
  db.run(
    "UPDATE dead_letters SET state = 'open', redrive_run_id = NULL WHERE state = 'redriven' AND redrive_run_id = ?",
    runId,
  );
}

const staged = ['staged', 'batches', 'dead_rows', 'run_events'];

function forgetStaged(db: Database, runId: string, tables: readonly string[]): void {
  for (const table of tables) db.run(`DELETE FROM ${table} WHERE run_id = ?`, runId);
}

function lastAccepted(db: Database, feed: string, beforeSequence: number, sha256?: string): ResultRow | null {
  const content = sha256 === undefined ? '' : 'AND sha256 = ?';
  const found = acceptedStates.map((state) => {
    const row = db.get(
      `SELECT max(sequence) AS newest FROM runs WHERE feed = ? AND kind = ? AND state = ? AND sequence < ? ${content}`,
      feed,
      historyKind,
      state,
      beforeSequence,
      ...(sha256 === undefined ? [] : [sha256]),
    );
    return Number(row?.newest ?? 0);
  });
  return db.get('SELECT * FROM runs WHERE sequence = ?', Math.max(...found));
}

function acceptedBetween(db: Database, feed: string, afterSequence: number, beforeSequence: number): number {
  const counts = acceptedStates.map((state) => {
    const row = db.get(
      `SELECT count(*) AS newer FROM runs WHERE feed = ? AND kind = ? AND state = ? AND sequence > ? AND sequence < ?`,
      feed,
      historyKind,
      state,
      afterSequence,
      beforeSequence,
    );
    return Number(row?.newer ?? 0);
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Writes the parts that the change names. */
export function changeRun(db: Database, id: string, change: RunChange): void {
  const json = (value: unknown) => (value === undefined || value === null ? value : JSON.stringify(value));
  const columns = Object.entries({
    state: change.state,
    reason: json(change.reason),
    notes: json(change.notes),
    shape: json(change.shape),
    look: json(change.look),
    mapping: json(change.mapping),
    approvals: json(change.approvals),
    started_at: change.startedAtMs,
    finished_at: change.finishedAtMs,
    stopped_at: change.stoppedAtMs,
    stopped_ms: change.stoppedMs,
  }).filter((entry): entry is [string, string | number | null] => entry[1] !== undefined);
  if (columns.length === 0) return;
  const assignments = columns.map(([name]) => `${name} = ?`).join(', ');
  db.run(`UPDATE runs SET ${assignments} WHERE id = ?`, ...columns.map(([, value]) => value), id);
}

/** For use inside a transaction. */
export function addNotes(db: Database, id: string, notes: readonly string[]): void {
  const known = parseJson<string[]>(db.get('SELECT notes FROM runs WHERE id = ?', id)?.notes) ?? [];
  changeRun(db, id, { notes: notesWith(known, notes) });
}

/** Adds to a run's counts; for use inside a transaction. */
export function addCounts(db: Database, runId: string, delta: CountDelta): void {
  addColumns(db, runId, delta);
}

function addColumns(db: Database, runId: string, delta: CountDelta | Partial<RequestTotals>): void {
  const entries = Object.entries(delta).filter(([, value]) => value !== 0);
  if (entries.length === 0) return;
  const assignments = entries.map(([name]) => `"${name}" = "${name}" + ?`).join(', ');
  db.run(`UPDATE runs SET ${assignments} WHERE id = ?`, ...entries.map(([, value]) => value ?? 0), runId);
}

function toRun(row: ResultRow): RunRecord {
  const pick = <Shape extends object>(shape: Shape): Shape =>
    // Each name of the shape is a column of the same name, and all are integers.
    Object.fromEntries(Object.keys(shape).map((name) => [name, Number(row[name] ?? 0)])) as Shape;
  return {
    id: String(row.id),
    sequence: Number(row.sequence),
    feed: String(row.feed),
    kind: String(row.kind) as RunKind,
    fileName: String(row.file_name),
    claimedPath: String(row.claimed_path),
    importFolder: String(row.import_folder),
    sha256: String(row.sha256),
    bytes: Number(row.bytes),
    state: String(row.state) as RunState,
    options: parseJson<RunOptions>(row.options) ?? noOptions,
    approvals: parseJson<Approval[]>(row.approvals) ?? [],
    mapping: parseJson<NonNullable<RunRecord['mapping']>>(row.mapping),
    sourceLabel: textOrNull(row.source_label),
    refusal: parseJson<RunReason>(row.refusal),
    counts: pick(zeroCounts),
    requests: pick(zeroRequests),
    reason: parseJson<RunReason>(row.reason),
    look: parseJson<Look>(row.look),
    notes: parseJson<string[]>(row.notes) ?? [],
    shape: parseJson<FileShape>(row.shape),
    createdAtMs: Number(row.created_at),
    startedAtMs: numberOrNull(row.started_at),
    finishedAtMs: numberOrNull(row.finished_at),
    stoppedAtMs: numberOrNull(row.stopped_at),
    stoppedMs: Number(row.stopped_ms),
  };
}

/** Keeps events up to the limits; counts go on beyond it. For use inside a transaction. */
export function addEvents(db: Database, runId: string, events: readonly RunEvent[]): void {
  if (events.length === 0) return;
  const last = db.get('SELECT max(ordinal) AS last FROM run_events WHERE run_id = ?', runId)?.last;
  for (const { ordinal, event } of eventsThatFit(events, Number(last ?? 0))) {
    db.run('INSERT INTO run_events (run_id, ordinal, event) VALUES (?, ?, ?)', runId, ordinal, JSON.stringify(event));
  }
}
