/** A schedule for people and for scripts. Pure. */
import { isoInstant } from '#src/clock.ts';
import { formatDuration } from '#src/config/duration.ts';
import type { ScheduleRecord, TickRecord } from '#src/ledger/schedule-record.ts';
import { describeRule } from '#src/schedules/describe-rule.ts';
import { nextDues } from '#src/schedules/timetable.ts';
import { type Output, printable } from '../output.ts';

const nextShown = 3;
const runsShown = 3;
const minuteMs = 60_000;

export interface ScheduleView {
  readonly record: ScheduleRecord;
  readonly expectEveryMs: number | null;
  /** False: it stands in the configuration, and no engine has met it yet. */
  readonly isEntered: boolean;
  /** The last tick that ended and was not skipped. */
  readonly last: TickRecord | null;
  /** Those that were skipped after it. */
  readonly skipped: { readonly count: number; readonly newest: TickRecord } | null;
  /** Waiting or at work. */
  readonly open: TickRecord | null;
}

/** `schedule ls --json`: one line. */
export function scheduleDocument(view: ScheduleView): Readonly<Record<string, unknown>> {
  const { record, expectEveryMs, last, skipped, open } = view;
  return {
    name: record.name,
    work: record.work,
    when: describeRule(record.rule),
    rule: record.rule,
    state: stateOf(view),
    pausedAt: instant(record.pausedAtMs),
    reason: record.pauseReason,
    dueAt: instant(record.dueAtMs),
    next: nextTimes(record).map(isoInstant),
    expectEvery: expectEveryMs === null ? null : formatDuration(expectEveryMs),
    working: open === null ? null : { tick: open.id, state: open.state, dueAt: isoInstant(open.dueAtMs) },
    last:
      last === null
        ? null
        : {
            tick: last.id,
            trigger: last.trigger,
            outcome: last.outcome,
            at: instant(last.endedAtMs),
            runs: last.runIds,
            takenAt: instant(last.takenAtMs),
            code: last.code,
            message: last.message,
          },
    skipped:
      skipped === null
        ? null
        : { count: skipped.count, at: instant(skipped.newest.endedAtMs), message: skipped.newest.message },
  };
}

export function scheduleLines(output: Output, view: ScheduleView, nowMs: number): readonly string[] {
  const { style } = output;
  const { record, expectEveryMs, isEntered, last, skipped, open } = view;
  const lines = [`${style('bold', printable(record.name))}  ${describeRule(record.rule)}`];
  if (record.pausedAtMs !== null) {
    const why = record.pauseReason === null ? '' : `: ${printable(record.pauseReason)}`;
    lines.push(`  ${style('yellow', 'paused')} since ${moment(record.pausedAtMs, record)}${why}`);
  }
  const next = nextTimes(record).map((atMs) => `${moment(atMs, record)} (${relative(atMs, nowMs)})`);
  if (next.length > 0) lines.push(`  next: ${next.join(', ')}`);
  if (!isEntered) lines.push('  begins with: patchbay start');
  if (open !== null) lines.push(`  ${open.state === 'working' ? 'at work' : 'waits to be done'}`);
  if (last !== null) {
    const how = outcomeText(output, last).replace(/\.$/, '');
    lines.push(`  last: ${how}, ${relative(last.endedAtMs ?? nowMs, nowMs)}`);
  }
  if (skipped !== null) lines.push(`  ${skippedText(output, skipped, nowMs)}`);
  if (expectEveryMs !== null) lines.push(`  a file is expected every ${formatDuration(expectEveryMs)}`);
  return lines;
}

/** `run 2026…`, `nothing new: …`, `failed [code]: …`; with a word where it made up for what was missed. */
export function outcomeText({ style }: Output, tick: TickRecord): string {
  const message = tick.message === null ? '' : `: ${printable(tick.message)}`;
  const said = `${tick.trigger === 'catchUp' ? ' (catching up)' : ''}${message}`;
  switch (tick.outcome) {
    case 'run':
      return `run ${runsText(tick.runIds)}${said}`;
    case 'snapshot':
      return `snapshot${said}`;
    case 'nothingNew':
      return `nothing new${said}`;
    case 'failed':
      return `${style('red', 'failed')} [${tick.code}]${said}`;
    default:
      return `skipped${said}`;
  }
}

/** `skipped 3 times, the last 4 s ago: the one before, t…, is still at work`. */
function skippedText(
  { style }: Output,
  { count, newest }: NonNullable<ScheduleView['skipped']>,
  nowMs: number,
): string {
  const atMs = newest.endedAtMs ?? nowMs;
  const times = count === 1 ? relative(atMs, nowMs) : `${count} times, the last ${relative(atMs, nowMs)}`;
  const why = newest.message === null ? '' : `: ${printable(newest.message)}`;
  return `${style('yellow', 'skipped')} ${times}${why}`;
}

/** A `delta` feed may take hundreds of files at once. */
function runsText(ids: readonly string[]): string {
  const shown = ids.slice(0, runsShown).join(', ');
  return ids.length > runsShown ? `${shown} and ${ids.length - runsShown} more` : shown;
}

type State = 'waiting' | 'working' | 'paused' | 'byHand' | 'new';

function stateOf({ record, isEntered, open }: ScheduleView): State {
  if (record.pausedAtMs !== null) return 'paused';
  if (open !== null) return 'working';
  if (!isEntered) return 'new';
  return record.rule === null ? 'byHand' : 'waiting';
}

/** None while it is paused. */
function nextTimes({ rule, dueAtMs, pausedAtMs }: ScheduleRecord): readonly number[] {
  if (rule === null || dueAtMs === null || pausedAtMs !== null) return [];
  return [dueAtMs, ...nextDues(rule, dueAtMs, nextShown - 1)];
}

function instant(ms: number | null): string | null {
  return ms === null ? null : isoInstant(ms);
}

/** `Mon 23 Nov 02:30 +01:00`, in the zone of the schedule, or the machine's; with seconds where it comes more often than they tell. */
function moment(atMs: number, { rule }: ScheduleRecord): string {
  const zone = rule?.kind === 'at' ? { timeZone: rule.zone } : {};
  const withSeconds = rule?.kind === 'every' && rule.everyMs % minuteMs !== 0;
  const format = new Intl.DateTimeFormat('en-GB', {
    ...zone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...(withSeconds ? { second: '2-digit' as const } : {}),
    timeZoneName: 'longOffset',
  });
  const parts = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
  const offset = (parts.timeZoneName ?? '').replace('GMT', '') || '+00:00';
  const seconds = withSeconds ? `:${parts.second}` : '';
  return `${parts.weekday} ${parts.day} ${parts.month} ${parts.hour}:${parts.minute}${seconds} ${offset}`;
}

/** `in 14 h`, `3 min ago`, `now`. */
function relative(atMs: number, nowMs: number): string {
  const seconds = Math.abs(atMs - nowMs) / 1_000;
  if (seconds < 1) return 'now';
  const [count, unit] =
    seconds < 90
      ? [seconds, 's']
      : seconds < 90 * 60
        ? [seconds / 60, 'min']
        : seconds < 48 * 3_600
          ? [seconds / 3_600, 'h']
          : [seconds / 86_400, 'days'];
  const text = `${Math.round(Number(count))} ${unit}`;
  return atMs > nowMs ? `in ${text}` : `${text} ago`;
}
