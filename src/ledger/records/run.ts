/** Rows of runs and of what belongs to them as records, and the columns that a change of a run names. */
import type { DesiredContact } from '#src/contacts/desired.ts';
import type { Approval } from '#src/ledger/rules/approval.ts';
import type { RunChange } from '#src/ledger/rules/runs.ts';
import {
  type FileShape,
  type Look,
  type RunKind,
  type RunOptions,
  type RunReason,
  type RunRecord,
  type RunState,
  wholeOptions,
  zeroCounts,
  zeroRequests,
} from '#src/ledger/runs.ts';
import type { RowLink } from '#src/ledger/staging.ts';
import type { PendingRow, RowFacts, RowOutcome, RowState, RunPlace, StoredBatch } from '#src/ledger/tables/runs.ts';
import { jsonOrNull, numberOrNull, parseJson, type ResultRow, textOrNull } from './columns.ts';

export type RunColumns = readonly (readonly [string, string | number | null])[];

/** The columns of the parts that the change names. */
export function changeColumns(change: RunChange): RunColumns {
  const json = (value: unknown) => (value === undefined ? value : jsonOrNull(value));
  return Object.entries({
    state: change.state,
    reason: json(change.reason),
    notes: json(change.notes),
    shape: json(change.shape),
    look: json(change.look),
    mapping: json(change.mapping),
    options: json(change.options),
    source_label: change.sourceLabel,
    key_prefix: change.mapping === undefined ? undefined : change.mapping?.keyPrefix || null,
    approvals: json(change.approvals),
    started_at: change.startedAtMs,
    finished_at: change.finishedAtMs,
    stopped_at: change.stoppedAtMs,
    stopped_ms: change.stoppedMs,
    host: change.host === undefined ? undefined : storedHost(change.host),
    pruned: change.isPruned && 1,
  }).filter((entry): entry is [string, string | number | null] => entry[1] !== undefined);
}

/** A run of no host has the empty text. */
export function storedHost(host: string | null | undefined): string {
  return host ?? '';
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
    host: textOrNull(row.host) || null,
    importFolder: String(row.import_folder),
    sha256: String(row.sha256),
    bytes: Number(row.bytes),
    state: String(row.state) as RunState,
    options: wholeOptions(parseJson<Partial<RunOptions>>(row.options)),
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

/** @param row with `event`, the ordinal of the newest one. Read for each slice: so a whole record would be too much. */
export function toPlace(id: string, row: ResultRow, lastPosition: number): RunPlace {
  return {
    id,
    sequence: Number(row.sequence),
    feed: String(row.feed),
    kind: String(row.kind) as RunKind,
    state: String(row.state) as RunState,
    fileName: String(row.file_name),
    pending: Number(row.pending),
    lastPosition,
    lastEvent: Number(row.event ?? 0),
  };
}

export function toBatch(row: ResultRow): Omit<StoredBatch, 'first' | 'last' | 'isDone'> {
  return { batch: Number(row.batch), generation: Number(row.generation), dueAtMs: Number(row.due_at) };
}

export function toStoredBatch(row: ResultRow): StoredBatch {
  return { ...toBatch(row), first: Number(row.first), last: Number(row.last), isDone: row.done === 1 };
}

export function toRowState(row: ResultRow, position: number): RowState {
  return {
    position,
    key: String(row.key),
    outcome: textOrNull(row.outcome) as RowOutcome | null,
    sent: row.sent === 1,
    notBeforeMs: Number(row.not_before),
  };
}

export function toRowFacts(row: ResultRow, position: number): RowFacts {
  return {
    position,
    line: Number(row.line),
    fingerprint: String(row.fingerprint),
    letterId: textOrNull(row.letter_id),
    sent: row.sent === 1,
  };
}

export function toPending(row: ResultRow, position: number): PendingRow {
  return {
    position,
    line: Number(row.line),
    sequence: Number(row.sequence),
    key: String(row.key),
    rowHash: String(row.row_hash),
    fingerprint: String(row.fingerprint),
    mappingVersion: String(row.mapping_version),
    // Written by this ledger from values of these types.
    desired: JSON.parse(String(row.desired)) as DesiredContact,
    content: JSON.parse(String(row.content)) as PendingRow['content'],
    header: row.header === null ? null : Number(row.header),
    record: Number(row.record),
    beyond: parseJson<string[]>(row.beyond),
    ...(typeof row.letter_id === 'string' ? { letterId: row.letter_id } : {}),
    sent: row.sent === 1,
    attempts: Number(row.attempts),
    link: parseJson<RowLink>(row.link),
  };
}
