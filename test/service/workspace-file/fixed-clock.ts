/** A clock that shows one instant for ever. */
import { type Clock, systemClock } from '#src/clock.ts';

export function fixedClock(instant: string): Clock {
  return { ...systemClock(), nowMs: () => Date.parse(instant) };
}
