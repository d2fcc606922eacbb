/**
 * Whether feeds are there, for notices about them: the folder of a feed may be away for a moment, as that of a share that is mounted again, or
 * one that a tool makes anew each night.
 */
import type { Clock } from '#src/clock.ts';

/** A feed is gone whose folder was not there at as many looks in a row, and for as long, by the monotonic clock of the process. */
export const goneAfter = { looks: 20, ms: 600_000 } as const;

interface Absence {
  readonly sinceMs: number;
  readonly looks: number;
}

/**
 * @param exists whether the feed is there at this instant; null where that cannot be seen.
 * @returns what to take for true of it, asked once at each look: null while it cannot be judged.
 */
export function watchPresence(
  clock: Pick<Clock, 'monotonicMs'>,
  exists: (feed: string) => boolean | null,
): (feed: string) => boolean | null {
  const absences = new Map<string, Absence>();
  return (feed) => {
    const isThere = exists(feed);
    if (isThere !== false) {
      absences.delete(feed);
      return isThere;
    }
    const nowMs = clock.monotonicMs();
    const { sinceMs, looks } = absences.get(feed) ?? { sinceMs: nowMs, looks: 0 };
    const absence = { sinceMs, looks: looks + 1 };
    absences.set(feed, absence);
    return isGone(absence, nowMs) ? false : null;
  };
}

function isGone({ sinceMs, looks }: Absence, nowMs: number): boolean {
  return looks >= goneAfter.looks && nowMs - sinceMs >= goneAfter.ms;
}
