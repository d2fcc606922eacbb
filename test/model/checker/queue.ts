/** The queue of the model: which batch a worker takes next, and when something is due again. */
import type { MemoryLedger, WaitingBatch } from './ledger-in-memory.ts';
import { type Time, wallMs } from './model-time.ts';
import type { Worker } from './stage.ts';

export const batchName = ({ runId, batch, generation }: WaitingBatch): string => `${runId}/${batch}.${generation}`;

/** The batches that have rows to do, and what the ledger's clock shows. */
export function waitingBatches(ledger: MemoryLedger, time: Time): ReturnType<MemoryLedger['waitingBatches']> {
  return ledger.waitingBatches({
    wallMs: wallMs(time),
    monotonicMs: time.nowMs - time.bootAtMs,
    bootId: `boot-${time.boot}`,
  });
}

/**
 * The batch that the worker takes next; null where none is due for it. A generation that was delivered to one worker
 * is not delivered to the other while the first is at work, unless the queue redelivers.
 */
export function takeableBatch(
  ledger: MemoryLedger,
  time: Time,
  redelivers: boolean,
  worker: Worker,
  workers: readonly Worker[],
): WaitingBatch | null {
  if (worker.job !== null || worker.restUntilMs > time.nowMs) return null;
  const { nowMs, batches } = waitingBatches(ledger, time);
  for (const batch of batches) {
    if (batch.dueAtMs > nowMs) return null;
    const name = batchName(batch);
    if (worker.taken.has(name) || (!redelivers && workers.some((other) => other.job === name))) continue;
    return batch;
  }
  return null;
}

/** Null where nothing will ever be due. */
export function nextMomentMs(ledger: MemoryLedger, workers: readonly Worker[], time: Time): number | null {
  const { nowMs, batches } = waitingBatches(ledger, time);
  const moments = [
    ...batches.map((batch) => time.nowMs + batch.dueAtMs - nowMs),
    ...workers.map((worker) => worker.restUntilMs),
  ];
  const later = moments.filter((ms) => ms > time.nowMs);
  return later.length === 0 ? null : Math.min(...later);
}
