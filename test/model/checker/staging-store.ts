/** Runs, staged records and batches in memory: what the core and the contract suites use of `src/ledger/sqlite`. */
import type { SaidRecord } from '#src/ledger/contact-record.ts';
import {
  type CountDelta,
  type CountName,
  type NewRun,
  type RequestTotals,
  type RunRecord,
  type RunState,
  zeroCounts,
  zeroRequests,
} from '#src/ledger/run-record.ts';
import type { StagedRecord } from '#src/ledger/staged-record.ts';
import type { BatchRecord, DeadCount, RunEvent, SettledRow, StagedSlice } from '#src/ledger/staging-ledger.ts';
import type { TableHolder } from './contact-store.ts';
import { addCount } from './settle-store.ts';
import { type BatchRow, nameOf, type StagedRow } from './tables.ts';

export type StagingStore = ReturnType<typeof createStagingStore>;

export function createStagingStore(holder: TableHolder) {
  const pendingOf = (runId: string, batch: number | null): StagedRow[] =>
    [...holder.tables.staged.values()].filter(
      (row) => row.end === null && row.record.runId === runId && (batch === null || row.batch === batch),
    );
  const runOf = (id: string): RunRecord | null => holder.tables.runs.get(id) ?? null;
  const addCounts = (id: string, delta: CountDelta): void => {
    // The keys of a delta are count names by its type.
    for (const name of Object.keys(delta) as CountName[]) addCount(holder.tables, id, name, delta[name] ?? 0);
  };

  return {
    createRun: (run: NewRun): RunRecord => {
      const created: RunRecord = {
        sourceLabel: null,
        refusal: null,
        approvals: [],
        ...run,
        sequence: holder.tables.runs.size + 1,
        ...freshRun,
      };
      holder.tables.runs.set(run.id, created);
      return created;
    },
    run: runOf,
    move: (id: string, from: readonly RunState[], to: RunState): boolean => {
      const run = runOf(id);
      if (run === null || !from.includes(run.state)) return false;
      holder.tables.runs.set(id, { ...run, state: to });
      return true;
    },
    addCounts,
    addRequests: (id: string, delta: Partial<RequestTotals>): void => {
      const run = runOf(id);
      if (run === null) return;
      const requests = { ...run.requests };
      for (const name of Object.keys(delta) as (keyof RequestTotals)[]) requests[name] += delta[name] ?? 0;
      holder.tables.runs.set(id, { ...run, requests });
    },

    stage: ({ runId, feed, rowsPerBatch, records, counts }: StagedSlice): void => {
      const { staged, batches } = holder.tables;
      let position = [...staged.values()].filter((row) => row.record.runId === runId).length;
      for (const record of records) {
        position += 1;
        const batch = Math.ceil(position / rowsPerBatch);
        const name = nameOf(runId, batch);
        if (!batches.has(name)) batches.set(name, { runId, batch, generation: 0, dueAtMs: 0, done: false });
        const entered: StagedRecord = { ...record, runId, feed, position, sent: false, attempts: 0 };
        staged.set(nameOf(runId, position), { record: entered, batch, notBeforeMs: 0, end: null });
      }
      addCounts(runId, counts);
    },

    settledRows: (feed: string, rowHashes: readonly string[]): ReadonlyMap<string, SettledRow> =>
      new Map(
        [...holder.tables.said]
          .filter(([name]) => name.startsWith(nameOf(feed, '')))
          .flatMap(([, { key, rowHash, fingerprint }]) =>
            rowHash !== null && rowHashes.includes(rowHash)
              ? [[rowHash, { key, fingerprint: String(fingerprint) }] as const]
              : [],
          ),
      ),
    saidOf: (feed: string, keys: readonly string[]): ReadonlyMap<string, SaidRecord> =>
      new Map(
        keys.flatMap((key) => {
          const said = holder.tables.said.get(nameOf(feed, key));
          return said === undefined ? [] : [[key, said] as const];
        }),
      ),
    knownKeyCount: (feed: string): number =>
      [...holder.tables.said.keys()].filter((name) => name.startsWith(nameOf(feed, ''))).length,

    nextBatches: (nowMs: number, limit: number): readonly BatchRecord[] => {
      const waiting = (row: BatchRow) => Number(row.dueAtMs > nowMs);
      const sequence = (row: BatchRow) => runOf(row.runId)?.sequence ?? 0;
      return [...holder.tables.batches.values()]
        .filter((row) => !row.done && runOf(row.runId)?.state === 'applying')
        .sort((one, two) => waiting(one) - waiting(two) || sequence(one) - sequence(two) || one.batch - two.batch)
        .slice(0, limit)
        .map(toBatch);
    },
    batch: (runId: string, batch: number): BatchRecord | null => {
      const row = holder.tables.batches.get(nameOf(runId, batch));
      return row === undefined || row.done ? null : toBatch(row);
    },
    pendingRecords: (runId: string, batch: number, nowMs: number, limit: number): readonly StagedRecord[] =>
      pendingOf(runId, batch)
        .filter((row) => row.notBeforeMs <= nowMs)
        .sort((one, two) => one.notBeforeMs - two.notBeforeMs || one.record.position - two.record.position)
        .map((row) => row.record)
        .slice(0, limit),
    pendingCount: (runId: string): number => pendingOf(runId, null).length,
    defer: (
      runId: string,
      records: readonly { position: number; notBeforeMs: number; burnAttempt: boolean }[],
    ): void => {
      for (const { position, notBeforeMs, burnAttempt } of records) {
        const name = nameOf(runId, position);
        const row = holder.tables.staged.get(name);
        if (row === undefined || row.end !== null) continue;
        const record = burnAttempt ? { ...row.record, attempts: row.record.attempts + 1 } : row.record;
        holder.tables.staged.set(name, { ...row, record, notBeforeMs });
      }
    },
    releaseBatch: (runId: string, batch: number, generation: number, notBeforeMs: number): boolean => {
      const pending = pendingOf(runId, batch);
      const done = pending.length === 0;
      const name = nameOf(runId, batch);
      const row = holder.tables.batches.get(name);
      if (row !== undefined && row.generation === generation && !row.done) {
        const next = done ? 0 : Math.min(...pending.map((one) => one.notBeforeMs));
        const dueAtMs = Math.max(notBeforeMs, next);
        holder.tables.batches.set(name, { ...row, done, generation: generation + 1, dueAtMs });
      }
      return done;
    },

    countEnds: (runId: string): CountDelta => {
      const counts = { created: 0, updated: 0, unchanged: 0, skipped: 0, dead: 0 };
      for (const { record, end } of holder.tables.staged.values()) {
        if (record.runId === runId && end !== null) counts[end.outcome] += 1;
      }
      return counts;
    },
    events: (runId: string, limit: number): readonly (RunEvent & { ordinal: number })[] =>
      holder.tables.events
        .filter((one) => one.runId === runId)
        .map(({ event }, index) => ({ ...event, ordinal: index + 1 }))
        .slice(0, limit),
    deadByCode: (runId: string): readonly DeadCount[] => {
      const dead = holder.tables.deadRows.filter((one) => one.runId === runId).map((one) => one.dead);
      return [...new Set(dead.map((one) => one.code))].flatMap((code) => {
        const same = dead.filter((one) => one.code === code);
        return same[0] === undefined ? [] : [{ class: same[0].class, code, count: same.length }];
      });
    },
  };
}

const freshRun = {
  state: 'queued',
  counts: zeroCounts,
  requests: zeroRequests,
  reason: null,
  notes: [],
  shape: null,
  startedAtMs: null,
  finishedAtMs: null,
  stoppedAtMs: null,
  stoppedMs: 0,
} as const;

function toBatch({ runId, batch, generation, dueAtMs }: BatchRow): BatchRecord {
  return { runId, batch, generation, dueAtMs };
}
