/**
 * Rules on ticks (`docs/rules.md`, "Schedules"): which ones may be worked on, how one ends, and which ended ones are forgotten. Pure.
 *
 * Invariant: of each schedule one tick is at work at a time, the oldest first.
 */
import type { NewTick, ScheduleWork, TickEnd, TickRecord } from '#src/ledger/schedules.ts';

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

export function newTickOf(tick: NewTick, work: ScheduleWork): TickRecord {
  const { id, schedule, trigger, user, dueAtMs } = tick;
  const open = { state: 'waiting', startedAtMs: null, endedAtMs: null, attempts: 0, outcome: null } as const;
  return { id, schedule, work, trigger, user, dueAtMs, ...open, ...none, message: null };
}

export function begun(tick: TickRecord, atMs: number): TickRecord {
  return { ...tick, state: 'working', startedAtMs: atMs, attempts: tick.attempts + 1 };
}

/** It was cut off on purpose, which counts as no attempt. */
export function released(tick: TickRecord): TickRecord {
  return { ...tick, state: 'waiting', attempts: tick.attempts - 1 };
}

export function ended(tick: TickRecord, atMs: number, end: TickEnd): TickRecord {
  return { ...tick, state: 'ended', endedAtMs: atMs, ...resultOf(end) };
}

/** How ticks are told apart in lists: open ones by their state, ended ones by their outcome; those of one user's numbers say nothing. */
export function tickGroup({ state, user, outcome }: TickRecord): string {
  if (state !== 'ended' || outcome === null) return state;
  return user === null ? outcome : 'ofUser';
}

/** What becomes of a tick whose process died while it was at work: null, it waits again. */
export function endOfInterrupted({ attempts }: TickRecord, attemptsMax: number): TickEnd | null {
  if (attempts < attemptsMax) return null;
  const message = `it was interrupted ${attemptsMax} times`;
  return {
    outcome: 'failed',
    code: 'interrupted',
    kind: 'unreachable',
    message,
    plainMessage: message,
    hint: 'The process died before it finished each time. The next tick tries again.',
  };
}

type TickResult = Pick<
  TickRecord,
  'outcome' | 'runIds' | 'takenAtMs' | 'code' | 'kind' | 'message' | 'hint' | 'plainMessage'
>;

const none = { runIds: [], takenAtMs: null, code: null, kind: null, hint: null } as const;

/** The end of a tick as its record holds it. */
export function resultOf(end: TickEnd): TickResult {
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
