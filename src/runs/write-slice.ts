/**
 * A slice of a run on its way into the ledger: written in one transaction, or in few where many of its rows are rejected; and what the
 * log says of it.
 */
import type { Clock } from '#src/clock.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { DeadRow } from '#src/ledger/staging.ts';
import { keyHash, type Logger } from '#src/log.ts';
import type { SliceContent } from './slice.ts';

interface SliceParts {
  readonly ledger: Ledger;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly rowsPerBatch: number;
}

/** Letters are wide: more of them in one transaction would hold the ledger for too long. */
const rejectedAtOnceMax = 150;

/** Many rejected rows go in transactions of their own, before the others: a run that dies between them is staged anew. */
export async function writeSlice(
  { ledger, clock, rowsPerBatch }: SliceParts,
  run: RunRecord,
  content: Partial<SliceContent['slice']>,
): ReturnType<Ledger['runs']['stage']> {
  // With a rate of its own a run is one batch: a single job, whose pace is the run's.
  const batch = { rowsPerBatch: run.options.rate === null ? rowsPerBatch : Number.MAX_SAFE_INTEGER };
  const empty = { runId: run.id, feed: run.feed, ...batch, records: [], dead: [], events: [], counts: {} };
  const atMs = clock.nowMs();
  let { withdrawnRows = [], dead = [] } = content;
  // Ends with few enough left: each turn takes some away. Withdrawn rows first, as in one transaction.
  while (withdrawnRows.length + dead.length > rejectedAtOnceMax) {
    const part = { withdrawnRows: withdrawnRows.slice(0, rejectedAtOnceMax), dead: dead.slice(0, 0) };
    if (part.withdrawnRows.length === 0) part.dead = dead.slice(0, rejectedAtOnceMax);
    withdrawnRows = withdrawnRows.slice(part.withdrawnRows.length);
    dead = dead.slice(part.dead.length);
    await ledger.runs.stage({ ...empty, ...part, atMs });
  }
  return ledger.runs.stage({ ...empty, ...content, withdrawnRows, dead, atMs });
}

/** Of each slice; the report has the others. */
const rejectedLoggedMax = 20;

export function logRejected({ log }: { readonly log: Logger }, run: RunRecord, dead: readonly DeadRow[]): void {
  for (const { line, key, class: of, code } of dead.slice(0, rejectedLoggedMax)) {
    const hash = key === null ? {} : { key: keyHash(key) };
    log.warn({ run: run.id, feed: run.feed, line, ...hash, class: of, code }, 'row rejected');
  }
  const more = dead.length - rejectedLoggedMax;
  if (more > 0) log.warn({ run: run.id, feed: run.feed, more }, 'further rows rejected');
}
