/** How far apart the times of a cron expression are. Pure. */
import { Cron, CronPattern } from 'croner';
import { cronOptions } from './forms.ts';

const minuteMs = 60_000;
/** As many dates as show the longest time from one to the next of any usual rule: weekdays, days of a month, months. */
const datesSeen = 15;
/** A Thursday, at the beginning of a year. */
const fromDate = new Date('2026-01-01T00:00:00Z');

/**
 * The longest time from one due time to the next, as far as a year or some weeks show it; without the hours by which clocks change. Computed from
 * the first time of each date, since each look at the calendar costs time, and every command loads the configuration.
 * @param at a right expression, with one space between its fields.
 */
export function longestDistanceMs(at: string): number {
  const { minute, hour } = new CronPattern(at, undefined, cronOptions);
  const minutes = dueOf(minute);
  const times = dueOf(hour).flatMap((one) => minutes.map((two) => one * 60 + two));
  const [first = 0] = times;
  const last = times.at(-1) ?? first;
  const within = times.slice(1).map((time, index) => (time - (times[index] ?? time)) * minuteMs);
  const dates = datesOf(at, first);
  const between = dates.slice(1).map((date, index) => date - (dates[index] ?? date) - (last - first) * minuteMs);
  return Math.max(0, ...within, ...between);
}

/** The first due times of dates. @param first in minutes of a day. */
function datesOf(at: string, first: number): readonly number[] {
  const [, , ...dates] = at.split(' ');
  const daily = [first % 60, Math.floor(first / 60), ...dates].join(' ');
  const cron = new Cron(daily, { timezone: 'UTC', ...cronOptions });
  return cron.nextRuns(datesSeen, fromDate).map((date) => date.getTime());
}

/** The values that are due: `[1, 0, 1]` is 0 and 2. */
function dueOf(due: readonly number[]): readonly number[] {
  return due.flatMap((isDue, value) => (isDue === 1 ? [value] : []));
}
