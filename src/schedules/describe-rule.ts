/** A rule in plain words: `every 15 minutes`, `daily at 02:30 (Europe/Berlin)`. Pure. */
import { unreachable } from '#src/errors.ts';
import type { ScheduleRule } from '#src/ledger/schedules.ts';

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

const dayNames = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** An expression without plain words is shown as it is, with its zone. */
export function describeRule(rule: ScheduleRule | null): string {
  if (rule === null) return 'on request only';
  switch (rule.kind) {
    case 'every':
      return `every ${interval(rule.everyMs)}`;
    case 'at':
      return `${describeCron(rule.at) ?? rule.at} (${rule.zone})`;
    default:
      return unreachable(rule);
  }
}

/** `15 minutes`, `day`. */
function interval(everyMs: number): string {
  const [name, unitMs] = units.find(([, ms]) => everyMs % ms === 0) ?? ['millisecond', 1];
  const count = everyMs / unitMs;
  return count === 1 ? name : `${count} ${name}s`;
}

function describeCron(at: string): string | null {
  const [minute = '', hour = '', date = '', month = '', weekday = ''] = at.trim().split(/\s+/);
  if (date !== '*' || month !== '*') return null;
  const often = describeMinutes(minute, hour);
  if (often !== null) return weekday === '*' ? often : null;
  const times = timesOfDay(minute, hour);
  if (times === null) return null;
  if (weekday === '*') return `daily at ${times}`;
  const days = describeDays(weekday);
  return days === null ? null : `${days} at ${times}`;
}

/** A rule for every hour. */
function describeMinutes(minute: string, hour: string): string | null {
  if (hour !== '*') return null;
  if (minute === '*' || minute === '*/1') return 'every minute';
  const step = Number(/^\*\/(\d+)$/.exec(minute)?.[1] ?? Number.NaN);
  if (step > 0 && 60 % step === 0) return `every ${step} minutes`;
  const single = wholeNumber(minute, 59);
  return single === null ? null : `hourly at :${twoDigits(single)}`;
}

/** One minute, and one hour or a few: `06:00`, `06:00 and 18:00`. */
function timesOfDay(minute: string, hour: string): string | null {
  const atMinute = wholeNumber(minute, 59);
  const hours = hour.split(',').map((one) => wholeNumber(one, 23));
  if (atMinute === null || hours.length > 4) return null;
  const times = hours.map((one) => (one === null ? null : `${twoDigits(one)}:${twoDigits(atMinute)}`));
  if (times.includes(null)) return null;
  return times.length === 1 ? `${times[0]}` : `${times.slice(0, -1).join(', ')} and ${times.at(-1)}`;
}

/** `Mon-Fri`, `Sat, Sun`. */
function describeDays(weekday: string): string | null {
  const parts = weekday.split(',').map((part) => {
    const ends = part.split('-').map(dayName);
    return ends.length > 2 || ends.includes(null) ? null : ends.join('-');
  });
  return parts.includes(null) ? null : parts.join(', ');
}

function dayName(text: string): string | null {
  const byName = dayNames.find((name) => name.toLowerCase() === text.toLowerCase());
  const number = wholeNumber(text, 7);
  return byName ?? (number === null ? null : (dayNames[number % 7] ?? null));
}

function wholeNumber(text: string, max: number): number | null {
  return /^\d{1,2}$/.test(text) && Number(text) <= max ? Number(text) : null;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
