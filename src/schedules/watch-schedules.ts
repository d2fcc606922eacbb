/**
 * The watchdog: schedules that have stopped. One whose due time has long passed without a tick, or whose tick works far longer
 * than it may, would else be silent for ever. Pure.
 */
import type { ScheduleRecord, ScheduleWork, TickRecord } from '#src/ledger/schedule-record.ts';

/** A sweep looks every few seconds. */
export const overdueAfterMs = 300_000;

/** How long the work of one tick may take. */
export const tickLimitMs: Readonly<Record<ScheduleWork, number>> = { take: 1_800_000, snapshot: 3_600_000 };

/** Who stops the work at its limit needs a while for it. */
const slackMs = 300_000;

export interface StuckSchedule {
  readonly name: string;
  /** `overdue`: no tick was entered. `endless`: its tick is still at work; `tick` names it. */
  readonly why: 'overdue' | 'endless';
  readonly tick: string | null;
}

/** In the order of the schedules, each at most once. */
export function watchSchedules(
  schedules: readonly ScheduleRecord[],
  openTicks: readonly TickRecord[],
  nowMs: number,
): readonly StuckSchedule[] {
  return schedules.flatMap(({ name, rule, dueAtMs, pausedAtMs }): StuckSchedule[] => {
    const endless = openTicks.find((tick) => tick.schedule === name && isEndless(tick, nowMs));
    if (endless !== undefined) return [{ name, why: 'endless', tick: endless.id }];
    const isDue = rule !== null && dueAtMs !== null && pausedAtMs === null;
    return isDue && nowMs - dueAtMs > overdueAfterMs ? [{ name, why: 'overdue', tick: null }] : [];
  });
}

function isEndless({ state, work, startedAtMs }: TickRecord, nowMs: number): boolean {
  return state === 'working' && startedAtMs !== null && nowMs - startedAtMs > tickLimitMs[work] + slackMs;
}
