/** When schedules are due, over the nights on which clocks change (`docs/rules.md`, "Schedules"). */
import { describe, expect, it } from 'vitest';
import type { ScheduleRule } from '#src/ledger/schedules.ts';
import { firstDue, nextAnchored, nextDue, nextDues } from '#src/schedules/timetable.ts';

const at = (expression: string, zone: string): ScheduleRule => ({ kind: 'at', at: expression, zone });
const every = (everyMs: number): ScheduleRule => ({ kind: 'every', everyMs });

/** What the clocks of the zone show: `2027-03-28 03:00`. */
function wall(instantMs: number, zone: string): string {
  const clock =
    clocks.get(zone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  clocks.set(zone, clock);
  return clock.format(instantMs);
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/** How much the zone's clocks are ahead of UTC, in milliseconds. */
function offsetMs(instantMs: number, zone: string): number {
  return Date.parse(`${wall(instantMs, zone).replace(' ', 'T')}Z`) - Math.floor(instantMs / 60_000) * 60_000;
}

function walls(expression: string, zone: string, fromIso: string, count: number): string[] {
  return nextDues(at(expression, zone), Date.parse(fromIso), count).map(
    (ms) => `${wall(ms, zone).slice(5)} ${new Date(ms).toISOString().slice(11, 16)}Z`,
  );
}

/** All times from one instant to another. */
function between(rule: ScheduleRule, fromMs: number, toMs: number): number[] {
  const times: number[] = [];
  for (let next = nextDue(rule, fromMs); next !== null && next <= toMs; next = nextDue(rule, next)) times.push(next);
  return times;
}

/** Clocks change at 1:00 to 3:00 in most of them, by half an hour, for Ramadan, and at midnight in the last two. */
const zones = [
  ...['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca', 'UTC'],
  ...['America/Santiago', 'Asia/Beirut', 'America/Scoresbysund'],
];
const dayMs = 86_400_000;

/** The days on which the zone's clocks change, from 2026 to 2029; one of each year where they never do. */
function changes(zone: string): number[] {
  const days = Array.from({ length: 4 * 365 }, (_, index) => Date.UTC(2026, 0, 1) + index * dayMs);
  const found = days.filter((ms) => offsetMs(ms, zone) !== offsetMs(ms + dayMs, zone));
  return found.length > 0 ? found : days.filter((_, index) => index % 365 === 90);
}

describe('a DST night runs a daily job once', () => {
  it.each(zones)('on every date of %s, and never twice on one', (zone) => {
    const days = changes(zone);
    const expressions = ['30 2 * * *', '15 0 * * *', '0 3 * * *'];
    // In Greenland the skipped hour is the last one of its date: see below.
    if (zone !== 'America/Scoresbysund') expressions.push('59 23 * * *');
    for (const expression of expressions) {
      for (const dayAtMs of days) {
        const times = between(at(expression, zone), dayAtMs - 3 * dayMs, dayAtMs + 4 * dayMs);
        const dates = times.map((ms) => Date.parse(wall(ms, zone).slice(0, 10)));
        const steps = dates.slice(1).map((date, index) => (date - (dates[index] ?? 0)) / dayMs);
        expect(steps, `${expression} at ${new Date(dayAtMs).toISOString()}`).toEqual(steps.map(() => 1));
        expect(times.length).toBeGreaterThanOrEqual(6);
      }
    }
  });

  it('in the spring gap shortly after, in the repeated hour of autumn the first time', () => {
    expect(walls('30 2 * * *', 'Europe/Berlin', '2027-03-27T12:00Z', 2)).toEqual([
      '03-28 03:00 01:00Z',
      '03-29 02:30 00:30Z',
    ]);
    expect(walls('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', 2)).toEqual([
      '10-25 02:30 00:30Z',
      '10-26 02:30 01:30Z',
    ]);
  });

  it('also where clocks change by half an hour, or at midnight', () => {
    expect(walls('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T12:00Z', 1)).toEqual(['10-04 02:30 15:30Z']);
    expect(walls('0 0 * * *', 'America/Santiago', '2026-09-05T12:00Z', 2)).toEqual([
      '09-06 01:00 04:00Z',
      '09-07 00:00 03:00Z',
    ]);
  });

  it('several times in one gap are once; a time in the repeated hour that has passed does not come again', () => {
    expect(walls('*/15 2 * * *', 'Europe/Berlin', '2027-03-28T00:00Z', 2)).toEqual([
      '03-28 03:00 01:00Z',
      '03-29 02:00 00:00Z',
    ]);
    expect(walls('30 2 * * *', 'Europe/Berlin', '2026-10-25T01:10Z', 1)).toEqual(['10-26 02:30 01:30Z']);
  });
});

describe('a rule that names several times', () => {
  it.each(['10,50 1-3 * * *', '*/30 2 * * *', '0 */2 * * *'])('is due at each of them once: %s', (expression) => {
    for (const zone of zones) {
      for (const dayAtMs of changes(zone)) {
        const times = between(at(expression, zone), dayAtMs - 3 * dayMs, dayAtMs + 4 * dayMs);
        const shown = times.map((ms) => wall(ms, zone));
        expect(new Set(shown).size, `${zone} ${new Date(dayAtMs).toISOString()}`).toBe(shown.length);
        expect(new Set(shown.map((text) => text.slice(0, 10))).size).toBeGreaterThanOrEqual(6);
      }
    }
  });

  it('is due on a Sunday on which clocks are put forward', () => {
    expect(walls('*/15 2 * * 0', 'Europe/Berlin', '2027-03-25T12:00Z', 2)).toEqual([
      '03-28 03:00 01:00Z',
      '04-04 02:00 00:00Z',
    ]);
  });
});

it('a time in a skipped hour that is the last one of its date is not due on that date', () => {
  expect(walls('30 23 * * *', 'America/Nuuk', '2027-03-27T12:00Z', 1)).toEqual(['03-28 23:30 00:30Z']);
});

it('a date that is skipped as a whole has no time', () => {
  expect(walls('0 1 * * *', 'Pacific/Apia', '2011-12-28T12:00Z', 2)).toEqual([
    '12-29 01:00 11:00Z',
    '12-31 01:00 11:00Z',
  ]);
});

describe('a rule for every hour', () => {
  it('follows the clocks: an hour apart in every night', () => {
    for (const night of ['2027-03-27T22:30Z', '2026-10-24T22:30Z']) {
      const times = nextDues(at('0 * * * *', 'Europe/Berlin'), Date.parse(night), 6);
      expect(times.map((ms) => (ms - Date.parse(night)) / 60_000)).toEqual([30, 90, 150, 210, 270, 330]);
    }
  });

  it('every 15 minutes are 15 minutes, whatever the clocks do', () => {
    for (const zone of zones) {
      for (const dayAtMs of changes(zone).slice(0, 4)) {
        const times = between(at('*/15 * * * *', zone), dayAtMs - 900_000, dayAtMs + dayMs);
        const steps = new Set(times.slice(1).map((ms, index) => ms - (times[index] ?? 0)));
        expect([...steps], `${zone} ${new Date(dayAtMs).toISOString()}`).toEqual([900_000]);
      }
    }
  });
});

it('times grow strictly, from whatever moment one asks', () => {
  for (const zone of ['Europe/Berlin', 'Australia/Lord_Howe', 'America/Scoresbysund']) {
    const days = changes(zone).slice(0, 2);
    for (const expression of ['*/20 1-3 * * *', '0 */2 * * *', '30 * * * *', '0 6 * * 1-5', '0 0 29 2 *']) {
      const rule = at(expression, zone);
      for (const dayAtMs of days) {
        for (let step = 0; step < 24; step += 1) {
          const afterMs = dayAtMs + step * 3_600_000 + step * 61_007;
          const next = nextDue(rule, afterMs) ?? 0;
          expect(next).toBeGreaterThan(afterMs);
          // Nothing lies between.
          expect(nextDue(rule, next - 1)).toBe(next);
        }
      }
    }
  }
});

describe('an interval', () => {
  it('is due at once when it is new', () => {
    expect(firstDue(every(900_000), 5_000)).toBe(5_000);
    expect(firstDue(at('30 2 * * *', 'UTC'), 0)).toBe(9_000_000);
  });

  it('keeps its beat, however late it is noticed', () => {
    expect(nextAnchored(every(60_000), 1_000, 1_000)).toBe(61_000);
    expect(nextAnchored(every(60_000), 1_000, 60_999)).toBe(61_000);
    expect(nextAnchored(every(60_000), 1_000, 61_000)).toBe(121_000);
    expect(nextAnchored(every(60_000), 1_000, 3_600_999)).toBe(3_601_000);
  });
});
