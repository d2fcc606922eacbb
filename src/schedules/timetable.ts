/**
 * When a schedule is due. Pure: the same rule and moment give the same answer.
 *
 * The dates and times of a cron expression are wall times (`zone-time.ts`). On the nights when clocks change:
 *
 * - A rule that names its hours happens once for each of its times: in a gap at the gap's end (several of them: once), in a
 *   repeated hour the first time only. So a daily job runs once on every date (`rules.md`, "Schedules").
 * - A rule for every hour follows the clocks: nothing where there is a gap, twice in a repeated hour.
 *
 * Invariant: the answer lies after the moment asked for.
 */
import { type CronExpression, CronExpressionParser } from 'cron-parser';
import { unreachable } from '#src/errors.ts';
import type { ScheduleRule } from '#src/ledger/schedules.ts';

/** A repeated hour holds 60 minutes, and a gap as many; more is skipped only on dates that do not exist. */
const skippedMax = 2_000;
/** Clocks change a few times a year, and a time that is looked for lies at most some years ahead. */
const changesMax = 50;
const hoursOfDay = 24;

/**
 * The first time after that moment; null where it never comes (30 February). An interval counts from that moment: `nextAnchored`
 * keeps its beat.
 * @throws Error where expression or zone are wrong, which the configuration has looked at.
 */
export function nextDue(rule: ScheduleRule, afterMs: number): number | null {
  switch (rule.kind) {
    case 'every':
      return afterMs + rule.everyMs;
    case 'at':
      return everyHour(rule.at) ? nextByClock(rule.at, rule.zone, afterMs) : nextByTimes(rule.at, rule.zone, afterMs);
    default:
      return unreachable(rule);
  }
}

/** The next `count` times after that moment, in order; fewer where it comes less often. */
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

/**
 * The due time that follows `dueAtMs`, after now. An interval keeps its beat: so many whole intervals after `dueAtMs`, however
 * late it is now.
 */
export function nextAnchored(rule: ScheduleRule, dueAtMs: number, nowMs: number): number | null {
  if (rule.kind === 'at') return nextDue(rule, Math.max(nowMs, dueAtMs));
  const missed = Math.max(0, Math.floor((nowMs - dueAtMs) / rule.everyMs));
  return dueAtMs + (missed + 1) * rule.everyMs;
}

/** The due time of a rule that is new: an interval is due at once, a time of day at its next time. */
export function firstDue(rule: ScheduleRule, nowMs: number): number | null {
  return rule.kind === 'every' ? nowMs : nextDue(rule, nowMs);
}

/** Each wall time is looked up by itself. Ends: wall times grow, and the skipped ones are counted. */
function nextByTimes(at: string, zone: string, afterMs: number): number | null {
  const time = zoneTime(zone);
  const walls = wallTimes(at, time.wallAt(afterMs));
  for (let skipped = 0; skipped < skippedMax; skipped += 1) {
    const wallMs = walls();
    if (wallMs === null) return null;
    const instantMs = time.instantOf(wallMs);
    if (instantMs !== null && instantMs > afterMs) return instantMs;
  }
  return null;
}

/** Goes from one change of the clocks to the next. Ends: each turn begins later. */
function nextByClock(at: string, zone: string, afterMs: number): number | null {
  const time = zoneTime(zone);
  let fromMs = afterMs;
  let offsetMs = time.offsetAt(fromMs);
  for (let changes = 0; changes < changesMax; changes += 1) {
    const wallMs = wallTimes(at, fromMs + offsetMs)();
    if (wallMs === null) return null;
    const instantMs = wallMs - offsetMs;
    if (time.offsetAt(instantMs) === offsetMs) return instantMs;
    const changeMs = time.changeBetween(Math.max(fromMs, afterMs), instantMs);
    offsetMs = time.offsetAt(changeMs);
    // The change itself may be due.
    fromMs = changeMs - 1;
  }
  return null;
}

/** Gives the wall times after that one, one at each call; null when there are no more. To be used up before the next one. */
function wallTimes(at: string, afterWallMs: number): () => number | null {
  const expression = parse(at);
  expression.reset(new Date(afterWallMs));
  return () => {
    try {
      return expression.next().getTime();
    } catch {
      return null;
    }
  };
}

function everyHour(at: string): boolean {
  return parse(at).fields.hour.values.length === hoursOfDay;
}

const parsed = new Map<string, CronExpression>();
const expressionsMax = 1_000;

/** The library reads the expression in UTC, where no clock ever changes; the zone is this file's own affair. */
function parse(at: string): CronExpression {
  const known = parsed.get(at);
  if (known !== undefined) return known;
  const expression = CronExpressionParser.parse(at, { currentDate: new Date(0), tz: 'UTC' });
  if (parsed.size < expressionsMax) parsed.set(at, expression);
  return expression;
}

/**
 * Between instants and the time that a clock on the wall shows in a zone. Pure.
 *
 * A *wall time* is written as the instant at which a clock in UTC would show it: no zone is lost in it, and arithmetic
 * stays simple. Where clocks are put forward some wall times never come (a *gap*); where they are put back some come twice.
 */
const dayMs = 86_400_000;
const minuteMs = 60_000;

/** One zone's clock. */
interface ZoneTime {
  /** What its clocks show at that instant. */
  wallAt(instantMs: number): number;
  /** How much they are ahead of UTC then. */
  offsetAt(instantMs: number): number;
  /**
   * When its clocks show that time. It comes twice: the first time. It lies in a gap: the end of the gap, where that is the
   * same date; else the last minute before it. The whole date does not exist: null.
   */
  instantOf(wallMs: number): number | null;
  /** The first instant after `fromMs` and up to `toMs` at which the offset is not that at `fromMs`; `toMs` where there is none. */
  changeBetween(fromMs: number, toMs: number): number;
}

const known = new Map<string, ZoneTime>();
const zonesMax = 100;

/** @throws RangeError where there is no such zone. */
export function zoneTime(zone: string): ZoneTime {
  const found = known.get(zone);
  if (found !== undefined) return found;
  const made = make(zone);
  if (known.size < zonesMax) known.set(zone, made);
  return made;
}

function make(zone: string): ZoneTime {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const wallAt = (instantMs: number): number => {
    const wholeMs = Math.floor(instantMs / 1_000) * 1_000;
    const parts: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(wholeMs)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) + (instantMs - wholeMs);
  };
  const offsetAt = (instantMs: number): number => wallAt(instantMs) - instantMs;
  /** Halves the stretch until the change stands: ends after as many turns as its length has binary digits. */
  const changeBetween = (fromMs: number, toMs: number): number => {
    const before = offsetAt(fromMs);
    let low = fromMs;
    let high = toMs;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (offsetAt(middle) === before) low = middle;
      else high = middle;
    }
    return high;
  };
  const instantOf = (wallMs: number): number | null => {
    const before = offsetAt(wallMs - dayMs);
    const after = offsetAt(wallMs + dayMs);
    const comes = [wallMs - before, wallMs - after].filter((instantMs) => wallAt(instantMs) === wallMs);
    if (comes.length > 0) return Math.min(...comes);
    const gapEndMs = changeBetween(wallMs - after, wallMs - before);
    if (sameDate(wallAt(gapEndMs), wallMs)) return gapEndMs;
    const lastMinuteMs = gapEndMs - minuteMs;
    return sameDate(wallAt(lastMinuteMs), wallMs) ? lastMinuteMs : null;
  };
  return { wallAt, offsetAt, instantOf, changeBetween };
}

function sameDate(oneWallMs: number, otherWallMs: number): boolean {
  return Math.floor(oneWallMs / dayMs) === Math.floor(otherWallMs / dayMs);
}
