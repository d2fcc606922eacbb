/** `schedule ls` says in plain words when a schedule is due. */
import { expect, it } from 'vitest';
import { describeRule } from '#src/schedules/describe-rule.ts';

it.each([
  [900_000, 'every 15 minutes'],
  [3_600_000, 'every hour'],
  [86_400_000, 'every day'],
  [5_400_000, 'every 90 minutes'],
  [10_000, 'every 10 seconds'],
])('an interval of %i ms is %s', (everyMs, words) => {
  expect(describeRule({ kind: 'every', everyMs })).toBe(words);
});

it.each([
  ['30 2 * * *', 'daily at 02:30'],
  ['0 6,18 * * *', 'daily at 06:00 and 18:00'],
  ['0 6 * * 1-5', 'Mon-Fri at 06:00'],
  ['5 7 * * MON,7', 'Mon, Sun at 07:05'],
  ['*/15 * * * *', 'every 15 minutes'],
  ['0 * * * *', 'hourly at :00'],
  ['0 0 1 * *', '0 0 1 * *'],
  ['*/7 * * * *', '*/7 * * * *'],
  ['0 6 * * 1#2', '0 6 * * 1#2'],
])('the expression %s is %s, with its zone', (at, words) => {
  expect(describeRule({ kind: 'at', at, zone: 'Europe/Berlin' })).toBe(`${words} (Europe/Berlin)`);
});

it('one without a rule is described as on request only', () => {
  expect(describeRule(null)).toBe('on request only');
});
