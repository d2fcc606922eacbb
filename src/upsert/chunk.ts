/**
 * A chunk: the few records that are looked up with one call and written while that read is fresh.
 *
 * It collects what became of each record. A record that is neither ended nor put off when the chunk closes keeps no
 * trace: its lease is given back and it is tried again.
 */
import type { RunRecord } from '#src/ledger/run-record.ts';
import type { StagedRecord } from '#src/ledger/staged-record.ts';
import type { SettledRecord } from '#src/ledger/staging-ledger.ts';
import { keyHash } from '#src/log.ts';
import { inStep } from '#src/steps.ts';
import type { CallOptions } from '#src/workspace/port.ts';
import type { UpsertParts } from './parts.ts';

export interface Deferral {
  readonly position: number;
  readonly waitMs: number;
  readonly burnAttempt: boolean;
}

export interface Chunk {
  readonly parts: UpsertParts;
  readonly run: RunRecord;
  /** Names this piece of work in leases. */
  readonly owner: string;
  readonly signal: AbortSignal;
  /** Signal and accounts, for each request. */
  readonly options: CallOptions;
  readonly ends: SettledRecord[];
  readonly deferrals: Deferral[];
  /** Keys of the chunk whose look-up was refreshed or whose write came too late: the line before the gate is long. */
  lateCount: number;
  /** A request of the chunk failed in a way that stops all work: nothing more is sent. */
  broken: boolean;
}

/** Records what the chunk achieved, also when it was cut off by an error, and gives every lease back. */
export async function closeChunk(chunk: Chunk, records: readonly StagedRecord[]): Promise<void> {
  const { run, owner, ends, deferrals } = chunk;
  const { ledger, clock } = chunk.parts;
  const atMs = clock.nowMs();
  try {
    if (ends.length > 0) {
      await inStep('settle', () =>
        ledger.staging.settle({ runId: run.id, feed: run.feed, owner, bootId: clock.bootId, records: ends, atMs }),
      );
      logDead(chunk);
    }
    if (deferrals.length > 0) {
      const nowMs = await ledger.nowMs(clock);
      const due = deferrals.map(({ position, waitMs, burnAttempt }) => ({
        position,
        burnAttempt,
        notBeforeMs: nowMs + Math.max(waitMs, 1),
      }));
      await inStep('defer', () => ledger.staging.defer(run.id, due));
    }
  } finally {
    // Also those that ended: an end that came too late, for a run that was cancelled meanwhile, gives no lease back.
    const keys = records.map((record) => record.key);
    await inStep('release', () => ledger.contacts.release(owner, keys));
  }
}

function logDead({ parts, run, ends }: Chunk): void {
  for (const { end } of ends) {
    if (end.outcome !== 'dead') continue;
    const { line, key, class: of, code } = end.dead;
    const hash = key === null ? {} : { key: keyHash(key) };
    parts.log.warn({ run: run.id, feed: run.feed, line, ...hash, class: of, code }, 'row is dead');
  }
}
