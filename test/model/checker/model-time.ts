/** Time of the model: a number that only the schedule moves on, and the moments that are worth moving to. */
import type { Clock } from '#src/clock.ts';
import type { DepartureKind } from './departure.ts';
import type { MemoryLedger } from './ledger-in-memory.ts';
import { realLimits } from './seams.ts';

export interface Time {
  nowMs: number;
  /** When the system booted last: monotonic time counts from there. */
  bootAtMs: number;
  boot: number;
  /** How far the wall clock is ahead of what it would be: somebody has set it. */
  wallAheadMs: number;
}

export const wallMs = ({ nowMs, wallAheadMs }: Time): number => nowMs + wallAheadMs;

export const beginMs = 1_000_000;

export function modelClock(time: Time): Clock {
  // A worker never outlives its boot.
  const { bootAtMs, boot } = time;
  return {
    bootId: `boot-${boot}`,
    nowMs: () => wallMs(time),
    monotonicMs: () => time.nowMs - bootAtMs,
    sleep: () => Promise.reject(new Error('the core waits by putting rows off, not by sleeping')),
  };
}

/** A moment at which something that was true is so no more. */
export interface LaterMoment {
  readonly kind: DepartureKind;
  readonly toMs: number;
}

/**
 * The moments worth moving to: a start guard, the age of a read, a lease (its end, and the last moment at which a request
 * fits into it), a horizon, a late write. Of two at the same time one is enough.
 */
export function laterMoments(time: Time, ledger: MemoryLedger, lateMs: number | null): readonly LaterMoment[] {
  const { nowMs, bootAtMs, boot } = time;
  const bootId = `boot-${boot}`;
  const moments: LaterMoment[] = [];
  const add = (kind: DepartureKind, toMs: number): void => {
    if (toMs > nowMs + 1 && !moments.some((one) => one.toMs === toMs)) moments.push({ kind, toMs });
  };
  add('startGuardPasses', nowMs + realLimits.startGuardMs + 1);
  add('readGrowsOld', nowMs + realLimits.readAgeMaxMs + 1);
  for (const row of ledger.keyRows()) {
    if (row.leaseUntilMs !== null && row.bootId === bootId) {
      const endMs = bootAtMs + row.leaseUntilMs;
      // The effect that follows takes a millisecond.
      add('requestJustFits', endMs - realLimits.requestMs - 1);
      add('leaseEnds', endMs);
    }
    if (row.horizonMs !== null && row.bootId === bootId) add('horizonPasses', bootAtMs + row.horizonMs);
  }
  if (lateMs !== null) add('lateWriteLands', lateMs);
  return moments;
}
