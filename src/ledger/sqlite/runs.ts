/** Runs in SQLite: a row as a record, and what subjects write of a run that are not composed over tables yet. */
import { invariant } from '#src/errors.ts';
import type { Approval } from '#src/ledger/rules/approval.ts';
import { eventsThatFit } from '#src/ledger/rules/events.ts';
import { notesWith, type RunChange } from '#src/ledger/rules/runs.ts';
import {
  type CountDelta,
  type FileShape,
  type Look,
  type NewRun,
  noOptions,
  type RequestTotals,
  type RunKind,
  type RunOptions,
  type RunReason,
  type RunRecord,
  type RunState,
  zeroCounts,
  zeroRequests,
} from '#src/ledger/runs.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import { type Database, numberOrNull, parseJson, type ResultRow, textOrNull } from './database.ts';

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

export type RunColumns = readonly (readonly [string, string | number | null])[];

/** The columns of the parts that the change names. */
export function changeColumns(change: RunChange): RunColumns {
  const json = (value: unknown) => (value === undefined || value === null ? value : JSON.stringify(value));
  return Object.entries({
    state: change.state,
    reason: json(change.reason),
    notes: json(change.notes),
    shape: json(change.shape),
    look: json(change.look),
    mapping: json(change.mapping),
    key_prefix: change.mapping === undefined ? undefined : change.mapping?.keyPrefix || null,
    approvals: json(change.approvals),
    started_at: change.startedAtMs,
    finished_at: change.finishedAtMs,
    stopped_at: change.stoppedAtMs,
    stopped_ms: change.stoppedMs,
    pruned: change.isPruned && 1,
  }).filter((entry): entry is [string, string | number | null] => entry[1] !== undefined);
}

/** Writes the parts that the change names. */
export function changeRun(db: Database, id: string, change: RunChange): void {
  const columns = changeColumns(change);
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

export function toRun(row: ResultRow): RunRecord {
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
  const { sequence } = db.get('SELECT sequence FROM runs WHERE id = ?', runId) ?? { sequence: 0 };
  const last = db.get('SELECT max(ordinal) AS last FROM run_events WHERE run_sequence = ?', Number(sequence))?.last;
  for (const { ordinal, event } of eventsThatFit(events, Number(last ?? 0))) {
    db.run(
      'INSERT INTO run_events (run_sequence, ordinal, event) VALUES (?, ?, ?)',
      ...[Number(sequence), ordinal, JSON.stringify(event)],
    );
  }
}
