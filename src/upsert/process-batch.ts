/**
 * One batch of a run: leases, looks up, plans, writes and records its pending rows, chunk by chunk.
 *
 * Invariant: whatever ends this piece of work, each of its records has an outcome in the ledger or is pending there, and
 * no lease of it is left behind but by the death of the process.
 */
import { randomUUID } from 'node:crypto';
import type { RequestTotals } from '#src/ledger/run-record.ts';
import type { StagedRecord } from '#src/ledger/staged-record.ts';
import { inStep } from '#src/steps.ts';
import type { CallOptions } from '#src/workspace/port.ts';
import { watchRefusals } from './applying-guards.ts';
import { type Chunk, closeChunk } from './chunk.ts';
import { driveKeys } from './drive-keys.ts';
import { createPace } from './pace.ts';
import { keysPerChunk, type UpsertParts } from './parts.ts';

export interface BatchReference {
  readonly runId: string;
  readonly batch: number;
  readonly generation: number;
}

export interface BatchOptions {
  /** Works on so many records at most: one is enough to see whether writes get through again. */
  readonly recordsMax?: number;
}

/** `stale`: the job is not about the ledger's batch any more; there was nothing to do. */
export type BatchEnd = 'done' | 'deferred' | 'stale';

/**
 * @throws PatchbayError `guard`: the run is to be stopped (`applying-guards.ts`).
 * @throws PatchbayError `auth` or `unreachable`: all work must wait; the batch stays as it is, ready to be taken again.
 * @throws AbortError when the signal fired while a request waited; nothing is lost.
 */
export async function processBatch(
  parts: UpsertParts,
  reference: BatchReference,
  signal: AbortSignal,
  { recordsMax = Number.POSITIVE_INFINITY }: BatchOptions = {},
): Promise<BatchEnd> {
  const { ledger, clock } = parts;
  const { runId, batch, generation } = reference;
  const run = await ledger.runs.get(runId);
  const known = await ledger.staging.batch(runId, batch);
  if (run?.state !== 'applying' || known?.generation !== generation) return 'stale';
  const pace = parts.pace ?? createPace(keysPerChunk(parts.limits));
  const owner = `${parts.identity.name}#${randomUUID().slice(0, 8)}`;
  const requests = new Map<keyof RequestTotals, number>();
  const options: CallOptions = {
    signal,
    onRequest: (kind) => {
      requests.set(kind, (requests.get(kind) ?? 0) + 1);
    },
  };
  const work = { parts, run, owner, signal, options };
  const noteRequests = async (): Promise<void> => {
    if (requests.size === 0) return;
    const totals = Object.fromEntries(requests);
    requests.clear();
    await ledger.runs.addRequests(runId, totals);
  };
  let recordsLeft = recordsMax;
  try {
    // Ends: a record that is put off is due after this moment, so that each is taken once at most.
    const startedAtMs = await ledger.nowMs(clock);
    while (recordsLeft > 0 && !signal.aborted) {
      const limit = Math.min(recordsLeft, pace.keysPerChunk());
      const records = await ledger.staging.pendingRecords(runId, batch, startedAtMs, limit);
      if (records.length === 0) break;
      recordsLeft -= records.length;
      pace.ended(await processChunk(work, records));
      await noteRequests();
      const now = await ledger.runs.get(runId);
      if (now?.state !== 'applying') break;
      await watchRefusals(parts, now);
    }
  } finally {
    await noteRequests();
  }
  const done = await inStep('releaseBatch', () => ledger.staging.releaseBatch(runId, batch, generation, 0));
  return done ? 'done' : 'deferred';
}

/** @returns how many of the chunk's writes came too late for their turn. */
async function processChunk(
  work: Pick<Chunk, 'parts' | 'run' | 'owner' | 'signal' | 'options'>,
  records: readonly StagedRecord[],
): Promise<number> {
  const chunk: Chunk = { ...work, ends: [], deferrals: [], lateCount: 0, broken: false };
  try {
    await driveKeys(chunk, records);
  } finally {
    await closeChunk(chunk, records);
  }
  return chunk.lateCount;
}
