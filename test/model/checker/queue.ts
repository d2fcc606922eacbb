/** The queue of the model: which batch a worker takes next, and when something is due again. */
<<<<<<< HEAD
import type { BatchRecord } from '#src/ledger/staging-ledger.ts';
import type { MemoryStore } from './memory-ledger.ts';
import type { Time } from './model-time.ts';
=======
import type { MemoryLedger, WaitingBatch } from './ledger-in-memory.ts';
import { type Time, wallMs } from './model-time.ts';
>>>>>>> 2d4f558 (Let the checker run over the real ledger in memory, and judge each field by the rules)
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
<<<<<<< HEAD
  for (const batch of staging.nextBatches(time.nowMs, 10)) {
    if (batch.dueAtMs > time.nowMs) return null;
=======
  const { nowMs, batches } = waitingBatches(ledger, time);
  for (const batch of batches) {
    if (batch.dueAtMs > nowMs) return null;
>>>>>>> 2d4f558 (Let the checker run over the real ledger in memory, and judge each field by the rules)
    const name = batchName(batch);
    if (worker.taken.has(name) || (!redelivers && workers.some((other) => other.job === name))) continue;
    return batch;
  }
  return null;
}

/** Null where nothing will ever be due. */
<<<<<<< HEAD
export function nextMomentMs(
  batches: readonly BatchRecord[],
  workers: readonly Worker[],
  { nowMs }: Time,
): number | null {
  const moments = [...batches.map((batch) => batch.dueAtMs), ...workers.map((worker) => worker.restUntilMs)];
  const later = moments.filter((ms) => ms > nowMs);
=======
export function nextMomentMs(ledger: MemoryLedger, workers: readonly Worker[], time: Time): number | null {
  const { nowMs, batches } = waitingBatches(ledger, time);
  const moments = [
    ...batches.map((batch) => time.nowMs + batch.dueAtMs - nowMs),
    ...workers.map((worker) => worker.restUntilMs),
  ];
  const later = moments.filter((ms) => ms > time.nowMs);
>>>>>>> 2d4f558 (Let the checker run over the real ledger in memory, and judge each field by the rules)
  return later.length === 0 ? null : Math.min(...later);
}
