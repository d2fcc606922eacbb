/** A clock whose sleepers wake at once and find that the time has passed; something may happen meanwhile. */
import type { Clock } from '#src/clock.ts';

export interface SteppedClock extends Clock {
  /** Called before each sleep ends, with the milliseconds since the clock was made. */
  onSleep: (sinceMs: number) => unknown;
}

export function steppedClock(): SteppedClock {
  const startMs = Date.UTC(2026, 10, 21);
  let nowMs = startMs;
  const clock: SteppedClock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    bootId: 'test',
    onSleep: () => undefined,
    sleep: async (ms, signal) => {
      nowMs += ms;
      await clock.onSleep(nowMs - startMs);
      signal?.throwIfAborted();
    },
  };
  return clock;
}
