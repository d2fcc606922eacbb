/** When a schedule is due, in its own zone. Pure. */
import type { ScheduleRecord } from '#src/ledger/schedules.ts';

const minuteMs = 60_000;
/** From here on a date without its year could be meant for this year. */
const yearShownFromMs = 300 * 24 * 3_600_000;

/** `Mon 23 Nov 02:30 +01:00` in the zone of the schedule, or the machine's; with seconds where the rule is not in whole minutes, and with a year where it is far away. */
export function scheduleMoment(atMs: number, { rule }: Pick<ScheduleRecord, 'rule'>, nowMs: number): string {
  const zone = rule?.kind === 'at' ? { timeZone: rule.zone } : {};
  const withSeconds = rule?.kind === 'every' && rule.everyMs % minuteMs !== 0;
  const withYear = Math.abs(atMs - nowMs) > yearShownFromMs;
  const format = new Intl.DateTimeFormat('en-GB', {
    ...zone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    ...(withYear ? { year: 'numeric' as const } : {}),
    hour: '2-digit',
    minute: '2-digit',
    ...(withSeconds ? { second: '2-digit' as const } : {}),
    timeZoneName: 'longOffset',
  });
  const parts = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
  const offset = (parts.timeZoneName ?? '').replace('GMT', '') || '+00:00';
  const seconds = withSeconds ? `:${parts.second}` : '';
  const year = withYear ? ` ${parts.year}` : '';
  return `${parts.weekday} ${parts.day} ${parts.month}${year} ${parts.hour}:${parts.minute}${seconds} ${offset}`;
}
