/** A person stops a schedule, and lets it go on. Both survive every restart (`rules.md`, "Schedules"). */
import type { ScheduleRecord } from '#src/ledger/schedule-record.ts';
import type { ScheduleParts } from './parts.ts';
import { nextDue } from './timetable.ts';

type PauseParts = Pick<ScheduleParts, 'ledger' | 'clock'>;

/** Paused twice, it is paused since the first time; the new reason counts. */
export async function pauseSchedule(
  { ledger, clock }: PauseParts,
  { name, pausedAtMs, dueAtMs, pauseReason }: ScheduleRecord,
  reason: string | null,
): Promise<void> {
  await ledger.schedules.setPaused(name, pausedAtMs ?? clock.nowMs(), dueAtMs, reason ?? pauseReason);
}

/** Due from now on: what was missed meanwhile is not made up for. */
export async function resumeSchedule(
  { ledger, clock }: PauseParts,
  { name, rule, pausedAtMs, dueAtMs }: ScheduleRecord,
): Promise<void> {
  if (pausedAtMs === null) return;
  const nowMs = clock.nowMs();
  await ledger.schedules.resume(name, nowMs, rule === null ? dueAtMs : nextDue(rule, nowMs));
}
