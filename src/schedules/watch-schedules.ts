/**
 * The watchdog: schedules that have stopped. One whose due time has long passed without a tick would else be silent for
 * ever. Work that does not end is the tick's own limit to stop (`carry-out-tick.ts`). Pure.
 */
import type { ScheduleRecord, ScheduleWork } from '#src/ledger/schedule-record.ts';

/** A sweep looks every few seconds. */
export const overdueAfterMs = 300_000;

/** How long the work of one tick may take: a download and its tries; a walk over all pages, and what is made of it. */
export const tickLimitMs: Readonly<Record<ScheduleWork, number>> = { take: 1_800_000, snapshot: 900_000 };

/** Names, in the order of the schedules. */
export function stoppedSchedules(schedules: readonly ScheduleRecord[], nowMs: number): readonly string[] {
  return schedules.flatMap(({ name, rule, dueAtMs, pausedAtMs }) => {
    const isDue = rule !== null && dueAtMs !== null && pausedAtMs === null;
    return isDue && nowMs - dueAtMs > overdueAfterMs ? [name] : [];
  });
}
