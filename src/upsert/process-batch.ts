/**
 * One batch of a run: leases, looks up, plans, writes and records its pending rows, chunk by chunk.
 *
 * Invariant: whatever ends this piece of work, each of its records has an outcome in the ledger or is pending there, and
 * no lease of it is left behind but by the death of the process.
 */
import { randomUUID } from 'node:crypto';
import pMap from 'p-map';
import type { RequestTotals, RunRecord } from '#src/ledger/run-record.ts';
import type { StagedRecord } from '#src/ledger/staged-record.ts';
import type { CallOptions } from '#src/workspace/port.ts';
import { applyCreates } from './apply-creates.ts';
import { applyPatch } from './apply-patch.ts';
import { checkAdoptions, checkRefusals } from './applying-guards.ts';
import { type Chunk, endSkipped, type LeasedRecord, type PlannedRecord, putOff } from './chunk.ts';
import { claimPatches } from './claim-patches.ts';
import { lookUpAndPlan } from './look-up.ts';
import { horizonMs, keysPerChunk, type UpsertParts } from './parts.ts';

export interface BatchReference {
  readonly runId: string;
  readonly batch: number;
  readonly generation: number;
}

/** `stale`: the job is not about the ledger's batch any more; there was nothing to do. */
export type BatchEnd = 'done' | 'deferred' | 'stale';

/** A held key is asked for again at most so late, so that a lease given back early is not waited out. */
const heldWaitMaxMs = 2_000;

/**
 * @throws PatchbayError `guard`: the run is to be stopped (`applying-guards.ts`).
 * @throws PatchbayError `auth` or `unreachable`: all work must wait; the batch stays as it is, ready to be taken again.
 * @throws AbortError when the signal fired while a request waited; nothing is lost.
 */
export async function processBatch(
  parts: UpsertParts,
  reference: BatchReference,
  signal: AbortSignal,
): Promise<BatchEnd> {
  const { ledger, clock } = parts;
  const { runId, batch, generation } = reference;
  const run = await ledger.runs.get(runId);
  const known = await ledger.staging.batch(runId, batch);
  if (run?.state !== 'applying' || known?.generation !== generation) return 'stale';
  const owner = `${parts.identity.name}#${randomUUID().slice(0, 8)}`;
  const requests = new Map<keyof RequestTotals, number>();
  const options: CallOptions = {
    signal,
    onRequest: (kind) => {
      requests.set(kind, (requests.get(kind) ?? 0) + 1);
    },
  };
  try {
    // Ends: a record that is put off is due after this moment, so that each is taken once at most.
    const startedAtMs = clock.nowMs();
    for (;;) {
      if (signal.aborted) break;
      const records = await ledger.staging.pendingRecords(runId, batch, startedAtMs, keysPerChunk(parts.limits));
      if (records.length === 0) break;
      await processChunk(parts, run, records, owner, signal, options);
      if (requests.size > 0) {
        await ledger.runs.addRequests(runId, Object.fromEntries(requests));
        requests.clear();
      }
      const now = await ledger.runs.get(runId);
      if (now?.state !== 'applying') break;
      await watchRefusals(parts, now);
    }
  } finally {
    if (requests.size > 0) await ledger.runs.addRequests(runId, Object.fromEntries(requests));
  }
  const done = await ledger.staging.releaseBatch(runId, batch, generation, 0);
  return done ? 'done' : 'deferred';
}

async function processChunk(
  parts: UpsertParts,
  run: RunRecord,
  records: readonly StagedRecord[],
  owner: string,
  signal: AbortSignal,
  options: CallOptions,
): Promise<void> {
  const chunk: Chunk = { run, owner, signal, ends: [], deferrals: [] };
  try {
    const leased = await leaseRecords(parts, chunk, records);
    if (leased.length === 0) return;
    const planned = await lookUpAndPlan(parts, chunk, leased, options);
    await watchAdoptions(parts, chunk, leased.length, planned);
    const creates = planned.filter((one) => one.plan.kind === 'create');
    const updates = planned.filter((one) => one.plan.kind !== 'create');
    await applyUpdates(parts, chunk, updates, options);
    await applyCreates(parts, chunk, creates, options);
  } finally {
    await closeChunk(parts, chunk, records);
  }
}

/** Counts what the look-up found, and stops the run before it overwrites a workspace that the ledger does not know. */
async function watchAdoptions(
  parts: UpsertParts,
  chunk: Chunk,
  lookedUp: number,
  planned: readonly PlannedRecord[],
): Promise<void> {
  const { ledger, limits } = parts;
  const unknown = planned.filter(
    ({ contact, input }) => contact.contactId === null && contact.state !== 'intent' && input.theirs !== null,
  );
  await ledger.runs.addCounts(chunk.run.id, { lookedUp, foundUnknown: unknown.length });
  if (unknown.length === 0) return;
  checkAdoptions((await ledger.runs.get(chunk.run.id)) ?? chunk.run, limits.applying);
}

async function watchRefusals({ ledger, limits }: UpsertParts, run: RunRecord): Promise<void> {
  const { created, updated, dead } = run.counts;
  if (created + updated > 0 || dead < limits.applying.refusalsMax) return;
  checkRefusals(run, await ledger.staging.deadByCode(run.id), limits.applying);
}

/** Every request on its way is waited for, also when one of them fails: its answer must not be lost. */
async function applyUpdates(
  parts: UpsertParts,
  chunk: Chunk,
  updates: readonly PlannedRecord[],
  options: CallOptions,
): Promise<void> {
  await claimPatches(parts, chunk, updates);
  const failures: unknown[] = [];
  const apply = async (one: PlannedRecord): Promise<void> => {
    if (chunk.signal.aborted || failures.length > 0) return;
    try {
      await applyPatch(parts, chunk, one, options);
    } catch (error) {
      failures.push(error);
    }
  };
  await pMap(updates, apply, { concurrency: parts.limits.writesAtOnce });
  if (failures.length > 0) throw failures[0];
}

async function leaseRecords(
  parts: UpsertParts,
  chunk: Chunk,
  records: readonly StagedRecord[],
): Promise<LeasedRecord[]> {
  const { ledger, clock, limits } = parts;
  const nowMonotonicMs = clock.monotonicMs();
  const leases = await ledger.contacts.lease({
    keys: records.map(({ key, sequence }) => ({ key, sequence })),
    owner: chunk.owner,
    leaseMs: limits.leaseMs,
    nowMonotonicMs,
    bootId: clock.bootId,
    horizonMs: horizonMs(limits),
    isOwnerDead: parts.identity.isDead,
  });
  const said = await ledger.staging.saidOf(
    chunk.run.feed,
    records.map((record) => record.key),
  );
  return records.flatMap((record): LeasedRecord[] => {
    const lease = leases.get(record.key);
    switch (lease?.kind) {
      case 'leased':
        return [
          {
            record,
            contact: lease.contact,
            said: said.get(record.key) ?? null,
            leaseUntilMs: nowMonotonicMs + limits.leaseMs,
          },
        ];
      case 'superseded':
        endSkipped(chunk, record, 'superseded');
        return [];
      case 'horizon':
        putOff(chunk, record, lease.waitMs);
        return [];
      default:
        putOff(chunk, record, Math.min(lease?.waitMs ?? heldWaitMaxMs, heldWaitMaxMs));
        return [];
    }
  });
}

/** Records what the chunk achieved, also when it was cut off by an error, and gives every lease back. */
async function closeChunk(parts: UpsertParts, chunk: Chunk, records: readonly StagedRecord[]): Promise<void> {
  const { ledger, clock } = parts;
  const { run, owner } = chunk;
  const atMs = clock.nowMs();
  if (chunk.ends.length > 0) {
    await ledger.staging.settle({ runId: run.id, feed: run.feed, owner, records: chunk.ends, atMs });
  }
  if (chunk.deferrals.length > 0) {
    await ledger.staging.defer(
      run.id,
      chunk.deferrals.map(({ position, waitMs, burnAttempt }) => ({
        position,
        burnAttempt,
        notBeforeMs: atMs + Math.max(waitMs, 1),
      })),
    );
  }
  // Also those that ended: an end that came too late, for a run that was cancelled meanwhile, gives no lease back.
  await ledger.contacts.release(
    owner,
    records.map((record) => record.key),
  );
}
