/** The queue of the model: which batch a worker takes next, and when something is due again. */
import type { BatchRecord } from '#src/ledger/staging-ledger.ts';
import type { MemoryStore } from './memory-ledger.ts';
import type { Time } from './model-time.ts';
import type { Worker } from './stage.ts';

export const batchName = ({ runId, batch, generation }: BatchRecord): string => `${runId}/${batch}.${generation}`;

/**
 * The batch that the worker takes next; null where none is due for it. A generation that was delivered to one worker
 * is not delivered to the other while the first is at work, unless the queue redelivers.
 */
export function takeableBatch(
  { staging }: MemoryStore,
  time: Time,
  redelivers: boolean,
  worker: Worker,
  workers: readonly Worker[],
): BatchRecord | null {
  if (worker.job !== null || worker.restUntilMs > time.nowMs) return null;
  for (const batch of staging.nextBatches(time.nowMs, 10)) {
    if (batch.dueAtMs > time.nowMs) return null;
    const name = batchName(batch);
    if (worker.taken.has(name) || (!redelivers && workers.some((other) => other.job === name))) continue;
    return batch;
  }
  return null;
}

/** Null where nothing will ever be due. */
export function nextMomentMs(
  batches: readonly BatchRecord[],
  workers: readonly Worker[],
  { nowMs }: Time,
): number | null {
  const moments = [...batches.map((batch) => batch.dueAtMs), ...workers.map((worker) => worker.restUntilMs)];
  const later = moments.filter((ms) => ms > nowMs);
  return later.length === 0 ? null : Math.min(...later);
}
