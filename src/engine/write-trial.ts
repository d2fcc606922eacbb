/**
 * Finds out whether writes pass again: works on one record that is due anyway, while all other writes wait.
 *
 * Invariant: a trial takes the same way as any work on that record, so that it can neither lose it nor write it twice.
 */
import type { Moment } from '#src/clock.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { BatchRecord } from '#src/ledger/staging.ts';
import { inLogContext } from '#src/log.ts';
import type { Breakers } from '#src/workspace/breaker.ts';

/**
 * - `passed`: the service answered a write;
 * - `failed`: it did not, or not even a read;
 * - `nothingSent`: the records looked at needed no write;
 * - `nothingDue`: all records wait, as those in doubt do;
 * - `nothingPending`: there is nothing to write.
 */
export type TrialEnd = 'passed' | 'failed' | 'nothingSent' | 'nothingDue' | 'nothingPending';

export interface WriteTrialParts {
  readonly ledger: Pick<Ledger, 'nowMs' | 'staging' | 'runs'>;
  readonly clock: Moment;
  readonly breakers: Pick<Breakers, 'totals'>;
  /** Works on one record of the batch. @returns false where not even its reads passed. */
  readonly workOnOne: (batch: BatchRecord, signal: AbortSignal) => Promise<boolean>;
}

/** Records that need no write are ended on the way, at most so many in one trial. */
const recordsMax = 20;
/** Batches among which trials go round, so that one record that never passes does not stand for all. */
const batchesMax = 50;

export function createWriteTrial(parts: WriteTrialParts): (signal?: AbortSignal) => Promise<TrialEnd> {
  const { ledger, clock, breakers, workOnOne } = parts;
  let last: BatchRecord | null = null;
  return async (signal = new AbortController().signal) => {
    const before = breakers.totals('write');
    for (let tried = 0; tried < recordsMax && !signal.aborted; tried += 1) {
      const nowMs = await ledger.nowMs(clock);
      const batches = await ledger.staging.nextBatches(nowMs, batchesMax);
      if (batches.length === 0) return 'nothingPending';
      const due = batches.filter((batch) => batch.dueAtMs <= nowMs);
      const batch = nextAfter(due, last);
      if (batch === null) return 'nothingDue';
      last = batch;
      const run = await ledger.runs.get(batch.runId);
      const about = { run: batch.runId, batch: batch.batch, ...(run === null ? {} : { feed: run.feed }) };
      const readsPassed = await inLogContext(about, () => workOnOne(batch, signal));
      const now = breakers.totals('write');
      if (now.answers > before.answers) return 'passed';
      if (now.failures > before.failures || !readsPassed) return 'failed';
    }
    return 'nothingSent';
  };
}

/** The one behind the last one tried, round and round. Null where there is none. */
function nextAfter(batches: readonly BatchRecord[], last: BatchRecord | null): BatchRecord | null {
  const index = batches.findIndex((batch) => batch.runId === last?.runId && batch.batch === last.batch);
  return batches[(index + 1) % Math.max(1, batches.length)] ?? null;
}
