/**
 * Rules on ticks (`docs/rules.md`, "Schedules"): which ones may be worked on, how one ends, and which ended ones are forgotten. Pure.
 *
 * Invariant: of each schedule one tick is at work at a time, the oldest first.
 */
import type { TickEnd, TickRecord } from '#src/ledger/schedules.ts';

/**
 * The ticks that may begin: of each schedule that has none at work the oldest waiting one.
 * @param open all ticks that have not ended, oldest first.
 */
export function startableTicks(open: readonly TickRecord[]): readonly TickRecord[] {
  const seen = new Set(open.filter(({ state }) => state === 'working').map(({ schedule }) => schedule));
  return open.filter(({ schedule }) => {
    if (seen.has(schedule)) return false;
    seen.add(schedule);
    return true;
  });
}

/** Whether a waiting tick may begin. @param open the ticks of its schedule that have not ended. */
export function mayBegin(id: string, open: readonly TickRecord[]): boolean {
  return open.some((tick) => tick.id === id) && open.every(({ state }) => state === 'waiting');
}

/** What becomes of a tick whose process died while it was at work: null, it waits again. */
export function endOfInterrupted({ attempts }: TickRecord, attemptsMax: number): TickEnd | null {
  if (attempts < attemptsMax) return null;
  return {
    outcome: 'failed',
    code: 'interrupted',
    kind: 'unreachable',
    message: `it was interrupted ${attemptsMax} times`,
    hint: 'The process died before it finished each time. The next tick tries again.',
  };
}

type TickResult = Pick<TickRecord, 'outcome' | 'runIds' | 'takenAtMs' | 'code' | 'kind' | 'message' | 'hint'>;

/** The end of a tick as its record holds it. */
export function resultOf(end: TickEnd): TickResult {
  const none = { runIds: [], takenAtMs: null, code: null, kind: null, hint: null };
  switch (end.outcome) {
    case 'run':
      return { ...none, outcome: end.outcome, message: end.message, runIds: end.runIds };
    case 'snapshot':
      return { ...none, outcome: end.outcome, message: end.message, takenAtMs: end.takenAtMs };
    default:
      return { ...none, ...end, kind: end.kind ?? null, hint: end.hint ?? null };
  }
}

/**
 * Those of the ended ticks of a schedule, beyond the number that is kept, that are forgotten: all but its newest one that took
 * files, which says what the feed holds.
 */
export function forgettableTicks(beyond: readonly string[], newestRunTick: string | null): readonly string[] {
  return beyond.filter((id) => id !== newestRunTick);
}
