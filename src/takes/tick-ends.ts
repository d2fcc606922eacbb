/** Ends of ticks that paths and globs share. */
import type { TickEnd } from '#src/ledger/schedules.ts';

/** @param place as the configuration names it. */
export function stillMoving(place: string): TickEnd {
  const message = `a file at ${place} is still being written; it is taken when it is at rest`;
  return { outcome: 'nothingNew', code: 'fileMoving', message };
}
