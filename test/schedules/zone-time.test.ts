/** Clocks in time zones. */
import { expect, it } from 'vitest';
import { zoneTime } from '#src/schedules/timetable.ts';

it('tells what the clocks of a zone show, to the millisecond', () => {
  const berlin = zoneTime('Europe/Berlin');
  const instant = Date.parse('2026-07-01T10:00:00.123Z');
  expect(new Date(berlin.wallAt(instant)).toISOString()).toBe('2026-07-01T12:00:00.123Z');
  expect(berlin.offsetAt(instant)).toBe(7_200_000);
  expect(berlin.instantOf(Date.parse('2026-01-01T12:00:00Z'))).toBe(Date.parse('2026-01-01T11:00:00Z'));
});

it('a date that a zone has skipped has no instant', () => {
  expect(zoneTime('Pacific/Apia').instantOf(Date.parse('2011-12-30T02:30:00Z'))).toBeNull();
  expect(zoneTime('Pacific/Apia').instantOf(Date.parse('2011-12-31T02:30:00Z'))).not.toBeNull();
});

it('a time in a gap that ends the date is the last minute before it', () => {
  const instant = zoneTime('America/Scoresbysund').instantOf(Date.parse('2027-03-27T23:30:00Z')) ?? 0;
  expect(new Date(zoneTime('America/Scoresbysund').wallAt(instant)).toISOString()).toBe('2027-03-27T22:59:00.000Z');
});

it('an unknown zone is refused', () => {
  expect(() => zoneTime('Europe/Nowhere')).toThrow(RangeError);
});
