/**
 * Time as a parameter. Nothing below `app.ts` reads the clock by itself.
 *
 * Two times: the wall clock names instants for people; the monotonic clock measures leases and horizons. The
 * monotonic clock runs for the whole system since it booted, so it may be compared between processes as long as
 * the boot's id is the same (`rules.md`, "One contact per key").
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Clock {
  /** The wall clock, in milliseconds since 1970. */
  nowMs(): number;
  /** Milliseconds since the system booted; never goes back. */
  monotonicMs(): number;
  /** Names this boot of the system. Monotonic times of two boots cannot be compared. */
  readonly bootId: string;
  /** Waits. Rejects with an `AbortError` when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export function systemClock(): Clock {
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => Number(process.hrtime.bigint() / 1_000_000n),
    bootId: readBootId(),
    sleep: (ms, signal) => sleep(ms, undefined, signal ? { signal } : {}),
  };
}

/** Waits until the time is over or the signal fires, whichever comes first: the caller looks which. */
export async function sleepUnlessCut(clock: Pick<Clock, 'sleep'>, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** The kernel's boot id; elsewhere a fresh one, so that every horizon starts anew in full. */
function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return randomUUID();
  }
}

/** An instant as ISO 8601 in UTC, to the millisecond. */
export function isoInstant(ms: number): string {
  return new Date(ms).toISOString();
}
