/**
 * Closes a BullMQ worker that has no job at work any more.
 *
 * While Redis is away `close()` waits for an event that does not come, and so does `disconnect()`. What is left then are
 * promises that nobody needs: the ledger knows what is to be done.
 */
import type { Worker } from 'bullmq';
import { timedOut, within } from './embedded/deadline.ts';

/** Far above what it takes to tell Redis the end of a few jobs. */
const graceMs = 3_000;

/** @param patienceMs how long to wait; 0 where a job that does not end is known to stand in the way. */
export async function closeWorker(worker: Worker, patienceMs = graceMs): Promise<void> {
  // A close that fails ends like one that is late: what the worker had begun stands in the ledger.
  const closing = worker.close().catch(() => undefined);
  if ((await within(patienceMs, closing)) !== timedOut) return;
  // `close(true)` after `close()` does not force (`bad-inputs.md`): the connections are cut instead.
  // One that fails leaves nothing to be done: the process ends, and the system closes what is left.
  worker.disconnect().catch(() => undefined);
}
