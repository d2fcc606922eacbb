/**
 * The system's clock, set forward by hand: what is put off for seconds is due at once when the test says so, and no
 * test waits for a horizon.
 */
import { type Clock, systemClock } from '#src/clock.ts';

export interface MovedClock extends Clock {
  advance(ms: number): void;
  /** Sets the wall clock alone, as a person or NTP does. */
  setWallBy(ms: number): void;
}

export function movedClock(): MovedClock {
  const system = systemClock();
  let aheadMs = 0;
  let wallOffMs = 0;
  return {
    ...system,
    nowMs: () => system.nowMs() + aheadMs + wallOffMs,
    monotonicMs: () => system.monotonicMs() + aheadMs,
    advance: (ms) => {
      aheadMs += ms;
    },
    setWallBy: (ms) => {
      wallOffMs += ms;
    },
  };
}
