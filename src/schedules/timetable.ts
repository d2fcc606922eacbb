/**
 * When a schedule is due. Pure: the same rule and moment give the same answer.
 *
 * Cron expressions are read by croner in the schedule's time zone. On the nights when clocks change:
 *
 * - A rule that names its hours is due once for each of its times: in a gap once, at its end; in a repeated hour the first
 *   time only. So a daily job runs exactly once on every date (`docs/rules.md`, "Schedules"). Of two kinds of gap that
 *   does not hold: in one that ends its date, as in Greenland at 23:00, a time is not due on that date; and a date that is skipped as a whole, as
 *   30 December 2011 in Samoa, has none.
 * - A rule for every hour follows the clocks: not due in a gap, due twice in a repeated hour.
 *
 * Invariant: a due time is later than the moment asked for.
 */
import { Cron, CronPattern } from 'croner';
import { cronOptions } from '#src/config/forms.ts';
import { unreachable } from '#src/errors.ts';
import type { ScheduleRule } from '#src/ledger/schedules.ts';

/**
 * The first due time after that moment; null where there is none (30 February). An interval counts from that moment;
 * `nextAnchored` keeps its beat.
 * @throws Error for a wrong expression or zone, which loading the configuration refuses.
 */
export function nextDue(rule: ScheduleRule, afterMs: number): number | null {
  switch (rule.kind) {
    case 'every':
      return afterMs + rule.everyMs;
    case 'at':
      return cronOf(rule.at, rule.zone).nextRun(new Date(afterMs))?.getTime() ?? null;
    default:
      return unreachable(rule);
  }
}

/** The next `count` due times after that moment, in order; fewer where there are fewer. */
export function nextDues(rule: ScheduleRule, afterMs: number, count: number): readonly number[] {
  const dues: number[] = [];
  let lastMs = afterMs;
  while (dues.length < count) {
    const next = nextDue(rule, lastMs);
    if (next === null) break;
    dues.push(next);
    lastMs = next;
  }
  return dues;
}

/** The due time that follows `dueAtMs`, after now. An interval keeps its beat: whole intervals after `dueAtMs`, however late. */
export function nextAnchored(rule: ScheduleRule, dueAtMs: number, nowMs: number): number | null {
  if (rule.kind === 'at') return nextDue(rule, Math.max(nowMs, dueAtMs));
  const missed = Math.max(0, Math.floor((nowMs - dueAtMs) / rule.everyMs));
  return dueAtMs + (missed + 1) * rule.everyMs;
}

/** The due time of a new rule: an interval is due at once, a cron expression at its next time. */
export function firstDue(rule: ScheduleRule, nowMs: number): number | null {
  return rule.kind === 'every' ? nowMs : nextDue(rule, nowMs);
}

const crons = new Map<string, Cron>();
const cronsMax = 1_000;

/** Parsed once: due times are looked at every few seconds. */
function cronOf(at: string, zone: string): Cron {
  const key = `${zone} ${at}`;
  const known = crons.get(key);
  if (known !== undefined) return known;
  const cron = new Cron(withListedTimes(at), { timezone: zone, ...cronOptions });
  if (crons.size < cronsMax) crons.set(key, cron);
  return cron;
}

/**
 * croner treats a rule as one that names its times if minute and hour have neither `*` nor steps. So both are written as
 * lists, unless the rule means every hour.
 */
function withListedTimes(at: string): string {
  const { minute, hour } = new CronPattern(at, undefined, cronOptions);
  const [minuteField, , ...dates] = at.split(' ');
  const isEveryHour = hour.every((due) => due === 1);
  return (isEveryHour ? [minuteField, '*', ...dates] : [listOf(minute), listOf(hour), ...dates]).join(' ');
}

/** The values that are due: `[1, 0, 1]` is `0,2`. */
function listOf(due: readonly number[]): string {
  return due.flatMap((isDue, value) => (isDue === 1 ? [value] : [])).join(',');
}
