/** Schedules are due by the ledger (`docs/rules.md`, "Schedules"). */
import { describe, expect, it, vi } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import { startableTicks } from '#src/ledger/rules/ticks.ts';
import type { ScheduleRecord } from '#src/ledger/schedules.ts';
import { pauseSchedule, resumeSchedule } from '#src/schedules/reconcile-schedules.ts';
import { overdueAfterMs, startSchedules } from '#src/schedules/start-schedules.ts';
import { tickDue } from '#src/schedules/tick-due.ts';
import { applyingRun } from '../contracts/support/build.ts';
import { everyHours, hourMs, minuteMs, nightly, openScheduleBench, startMs, take } from './support/schedule-bench.ts';

const sweepMs = 5_000;

describe('a due schedule', () => {
  it('enters one tick, moves its due time on and wakes the dispatcher', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [everyHours('crm', 1), nightly('erp')]);
    expect(await bench.ticks('crm')).toEqual(['due waiting']);
    expect(await bench.ticks('erp')).toEqual([]);
    expect(bench.wakes.count).toBe(1);
    await schedules.tickDue();
    expect(await bench.ticks('crm')).toEqual(['due waiting']);
    expect((await bench.ledger.schedules.get('crm'))?.dueAtMs).toBe(startMs + hourMs);
    expect((await bench.ledger.schedules.get('erp'))?.dueAtMs).toBe(Date.parse('2026-11-23T01:30:00Z'));
  });

  it('is one tick where two look at once', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [everyHours('crm', 1)]);
    await bench.takeRuns('crm', []);
    bench.clock.advance(hourMs);
    const other = { ...bench, ledger: await bench.reopen() };
    await Promise.all([schedules.tickDue(), schedules.tickDue(), tickDue(other)]);
    expect(await bench.ticks('crm')).toEqual(['due run', 'due waiting']);
  });

  it('goes on without drift, however late each look is', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [everyHours('crm', 1)]);
    const dueTimes: number[] = [];
    for (let hour = 1; hour <= 4; hour += 1) {
      await bench.takeRuns('crm', []);
      bench.clock.set(startMs + hour * hourMs + hour * sweepMs);
      await schedules.tickDue();
      dueTimes.push((await bench.ledger.schedules.ticks('crm', 1))[0]?.dueAtMs ?? 0);
    }
    expect(dueTimes).toEqual([1, 2, 3, 4].map((hour) => startMs + hour * hourMs));
  });
});

describe('overlap: skip and record', () => {
  it('where the tick before waits or is at work', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [everyHours('crm', 1)]);
    const [first] = startableTicks(await bench.ledger.schedules.openTicks()).slice(0, 1);
    bench.clock.advance(hourMs);
    await schedules.tickDue();
    bench.clock.advance(hourMs - minuteMs);
    await bench.ledger.schedules.begin(first?.id ?? '', bench.clock.nowMs());
    bench.clock.advance(minuteMs);
    await schedules.tickDue();
    expect(await bench.ticks('crm')).toEqual(['due working', 'due skipped', 'due skipped']);
    const [last] = await bench.ledger.schedules.ticks('crm', 1);
    expect(last).toMatchObject({ code: 'overlap', message: `the previous tick, ${first?.id}, is still running` });
    // A row of them is told once.
    expect(bench.lines.filter((line) => line === 'schedule skipped: crm')).toHaveLength(1);
  });

  it('not where the run that it took waits for a host that is away, until that is back', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [everyHours('crm', 1)]);
    await applyingRun(bench.ledger, 'taken', ['k1'], { feed: 'crm', host: 'a' });
    await bench.takeRuns('crm', ['taken']);
    const due = async (): Promise<readonly string[]> => {
      bench.clock.advance(hourMs);
      await schedules.tickDue();
      return (await bench.ticks('crm')).slice(-1);
    };
    bench.away.push('a');
    expect(await due(), 'the others write its rows').toEqual(['due skipped']);
    await bench.ledger.runs.skipPending('taken', 'cancelled', bench.clock.nowMs());
    expect(await due(), 'only its host can finish it').toEqual(['due waiting']);
    await bench.takeRuns('crm', ['taken']);
    bench.away.pop();
    expect(await due()).toEqual(['due skipped']);
    await bench.ledger.runs.move('taken', ['applying'], 'cancelling', { atMs: bench.clock.nowMs() });
    bench.away.push('a');
    expect(await due()).toEqual(['due waiting']);
  });

  it('where the run that it took is at work, and not for the run of another feed or one that was stopped', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [everyHours('crm', 1)]);
    await applyingRun(bench.ledger, 'taken', ['k1'], { feed: 'crm' });
    await applyingRun(bench.ledger, 'other', ['k2'], { feed: 'main' });
    await bench.takeRuns('crm', ['taken']);
    bench.clock.advance(hourMs);
    await schedules.tickDue();
    expect(await bench.ticks('crm')).toEqual(['due run', 'due skipped']);
    await bench.ledger.runs.move('taken', ['applying'], 'stopped', { atMs: bench.clock.nowMs() });
    bench.clock.advance(hourMs);
    await schedules.tickDue();
    expect(await bench.ticks('crm')).toEqual(['due run', 'due skipped', 'due waiting']);
  });

  it('a snapshot of one user that was asked for stands in nobody’s way', async () => {
    const bench = await openScheduleBench();
    await startSchedules(bench, [{ ...everyHours('phone-numbers', 1), work: 'snapshot' }]);
    await bench.takeRuns('phone-numbers', []);
    const request = {
      id: 'asked',
      schedule: 'phone-numbers',
      trigger: 'request',
      user: 'US1',
      dueAtMs: startMs,
    } as const;
    await bench.ledger.schedules.request(request);
    bench.clock.advance(hourMs);
    await tickDue(bench);
    expect(await bench.ticks('phone-numbers')).toEqual(['due run', 'request waiting', 'due waiting']);
  });
});

describe('after downtime: one catch-up run, not many', () => {
  it('a stopped hour makes one tick', async () => {
    const bench = await openScheduleBench();
    const configured = [{ ...everyHours('crm', 1), rule: { kind: 'every', everyMs: 15 * minuteMs } as const }];
    const schedules = await startSchedules(bench, configured);
    await bench.takeRuns('crm', []);
    await schedules.stop();
    bench.clock.advance(hourMs + 5 * minuteMs);
    await schedules.tickDue();
    expect(await bench.ticks('crm')).toEqual(['due run']);
    await startSchedules(bench, configured);
    expect(await bench.ticks('crm')).toEqual(['due run', 'catchUp waiting']);
    expect((await bench.ledger.schedules.get('crm'))?.dueAtMs).toBe(startMs + hourMs + 15 * minuteMs);
  });

  it('is recorded as such also where an interval is shorter than a minute', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [take('crm', { kind: 'every', everyMs: 10_000 })]);
    await bench.takeRuns('crm', []);
    bench.clock.advance(10_000 + sweepMs);
    await schedules.tickDue();
    await bench.takeRuns('crm', []);
    bench.clock.advance(35_000);
    await schedules.tickDue();
    expect(await bench.ticks('crm')).toEqual(['due run', 'due run', 'catchUp waiting']);
  });

  it('three missed nights make one tick, and the next night is on time', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [nightly('crm')]);
    bench.clock.set(Date.parse('2026-11-25T09:00:00Z'));
    await schedules.tickDue();
    expect(await bench.ticks('crm')).toEqual(['catchUp waiting']);
    await bench.takeRuns('crm', []);
    bench.clock.set(Date.parse('2026-11-26T01:30:04Z'));
    await schedules.tickDue();
    expect(await bench.ticks('crm')).toEqual(['catchUp run', 'due waiting']);
  });
});

describe('a clock that jumps', () => {
  it('by days forward makes one tick', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [everyHours('crm', 1)]);
    await bench.takeRuns('crm', []);
    bench.clock.advance(90 * 24 * hourMs);
    for (let look = 0; look < 5; look += 1) {
      await schedules.tickDue();
      bench.clock.advance(sweepMs);
    }
    expect(await bench.ticks('crm')).toEqual(['due run', 'catchUp waiting']);
  });

  it('by days back does not silence it', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [everyHours('crm', 1), nightly('erp')]);
    await bench.takeRuns('crm', []);
    bench.clock.advance(-10 * 24 * hourMs);
    await schedules.tickDue();
    const now = bench.clock.nowMs();
    expect((await bench.ledger.schedules.get('crm'))?.dueAtMs).toBe(now + hourMs);
    expect((await bench.ledger.schedules.get('erp'))?.dueAtMs).toBe(Date.parse('2026-11-13T01:30:00Z'));
    bench.clock.advance(hourMs);
    await schedules.tickDue();
    expect(await bench.ticks('crm')).toEqual(['due run', 'due waiting']);
  });

  it('by seconds back does not make a daily job run twice', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [nightly('crm')]);
    bench.clock.set(Date.parse('2026-11-23T01:30:02Z'));
    await schedules.tickDue();
    await bench.takeRuns('crm', []);
    bench.clock.advance(-10_000);
    for (let look = 0; look < 6; look += 1) {
      await schedules.tickDue();
      bench.clock.advance(sweepMs);
    }
    expect(await bench.ticks('crm')).toEqual(['due run']);
  });

  it('by an hour back runs no time of day twice, and silences neither a beat of minutes nor one of hours', async () => {
    const bench = await openScheduleBench();
    bench.clock.set(Date.parse('2026-11-23T01:29:00Z'));
    const beat = take('beat', { kind: 'every', everyMs: minuteMs });
    const schedules = await startSchedules(bench, [nightly('crm'), beat, everyHours('erp', 1)]);
    bench.clock.advance(2 * minuteMs);
    await schedules.tickDue();
    for (const name of ['crm', 'beat', 'erp']) await bench.takeRuns(name, []);
    const before = await bench.ticks('beat');
    bench.clock.advance(-hourMs);
    // The hour that comes once more, and the one after it.
    for (let minute = 0; minute < 120; minute += 1) {
      await schedules.tickDue();
      for (const name of ['crm', 'beat', 'erp']) await bench.takeRuns(name, []);
      bench.clock.advance(minuteMs);
    }
    expect(await bench.ticks('crm')).toEqual(['due run']);
    expect((await bench.ticks('beat')).length - before.length).toBeGreaterThanOrEqual(98);
    expect(await bench.ticks('erp')).toEqual(['due run', 'due run']);
  });
});

describe('a clock that was ahead for some seconds', () => {
  const monthly = take('crm', { kind: 'at', at: '30 2 1 * *', zone: 'Europe/Berlin' });
  const firstOfDecember = Date.parse('2026-12-01T01:30:00Z');

  it('costs no run of a monthly schedule: it is due at the time that the clock had passed', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [monthly]);
    bench.clock.advance(12 * 24 * hourMs);
    await schedules.tickDue();
    await bench.takeRuns('crm', []);
    bench.clock.set(startMs + minuteMs);
    await schedules.tickDue();
    expect((await bench.ledger.schedules.get('crm'))?.dueAtMs).toBe(firstOfDecember);
    expect(bench.lines.at(-1)).toBe(
      'schedule is due anew from now: the clock was ahead at its last time, and was set back: crm',
    );
    bench.clock.set(firstOfDecember);
    await schedules.tickDue();
    expect(await bench.ticks('crm')).toEqual(['catchUp run', 'due waiting']);
  });

  it('costs none either where a person asked for one since, or nothing but the next start sees it', async () => {
    const bench = await openScheduleBench();
    await startSchedules(bench, [monthly]);
    bench.clock.advance(12 * 24 * hourMs);
    await tickDue(bench);
    await bench.takeRuns('crm', []);
    bench.clock.set(startMs + minuteMs);
    const asked = { id: 't1', schedule: 'crm', trigger: 'request', user: null, dueAtMs: startMs + minuteMs } as const;
    await bench.ledger.schedules.request(asked);
    await startSchedules(bench, [monthly]);
    expect((await bench.ledger.schedules.get('crm'))?.dueAtMs).toBe(firstOfDecember);
  });

  it('costs none where that made up for one that was missed while the machine was off', async () => {
    const bench = await openScheduleBench();
    await startSchedules(bench, [monthly]);
    // Off over the first of December, and on again with a clock that is weeks ahead.
    bench.clock.set(firstOfDecember + 42 * 24 * hourMs);
    await startSchedules(bench, [monthly]);
    await tickDue(bench);
    await bench.takeRuns('crm', []);
    bench.clock.set(firstOfDecember + 2 * 24 * hourMs);
    await startSchedules(bench, [monthly]);
    expect((await bench.ledger.schedules.get('crm'))?.dueAtMs).toBe(Date.parse('2027-01-01T01:30:00Z'));
  });

  it('costs none of an interval, which keeps its beat however often an engine starts', async () => {
    const bench = await openScheduleBench();
    const daily = everyHours('crm', 24);
    const schedules = await startSchedules(bench, [daily]);
    await bench.takeRuns('crm', []);
    bench.clock.set(startMs + 26 * hourMs);
    await schedules.tickDue();
    await bench.takeRuns('crm', []);
    for (const hours of [1, 9, 17]) {
      bench.clock.set(startMs + hours * hourMs);
      await startSchedules(bench, [daily]);
      expect((await bench.ledger.schedules.get('crm'))?.dueAtMs).toBe(startMs + 24 * hourMs);
    }
  });

  it('costs none either where a pause ended meanwhile', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [monthly]);
    const known = async () => (await bench.ledger.schedules.list())[0] as ScheduleRecord;
    await pauseSchedule(bench, await known(), null);
    bench.clock.advance(12 * 24 * hourMs);
    await schedules.tickDue();
    await resumeSchedule(bench, await known());
    bench.clock.set(startMs + minuteMs);
    await schedules.tickDue();
    expect((await bench.ledger.schedules.get('crm'))?.dueAtMs).toBe(firstOfDecember);
  });
});

/** A watchdog for schedules that stopped. */
describe('the watchdog', () => {
  it('names schedules whose due time has long passed without a tick, and no paused ones', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [everyHours('crm', 1), everyHours('erp', 1), nightly('hr')]);
    await bench.ledger.schedules.setPaused('erp', startMs, startMs + hourMs);
    await schedules.tickDue();
    bench.clock.advance(hourMs + overdueAfterMs);
    expect(schedules.stoppedSchedules()).toEqual([]);
    bench.clock.advance(1);
    expect(schedules.stoppedSchedules()).toEqual([{ name: 'crm', failure: null }]);
    await schedules.tickDue();
    expect(schedules.stoppedSchedules()).toEqual([]);
  });

  it('names one whose rule cannot be read any more, and the others go on', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [everyHours('erp', 1)]);
    await bench.takeRuns('erp', []);
    const rule = { kind: 'at', at: 'nonsense', zone: 'UTC' } as const;
    await bench.ledger.schedules.put({ name: 'crm', work: 'take', rule, dueAtMs: startMs, createdAtMs: 0 });
    bench.clock.advance(hourMs);
    await schedules.tickDue();
    expect(await bench.ticks('erp')).toEqual(['due run', 'due waiting']);
    expect(schedules.stoppedSchedules()).toMatchObject([
      { name: 'crm', failure: { reason: expect.stringContaining('nonsense') } },
    ]);
    await schedules.tickDue();
    expect(bench.lines.filter((line) => line === 'schedule has stopped: crm')).toHaveLength(1);
    expect(bench.lines.filter((line) => line === 'schedule cannot be checked: crm')).toHaveLength(1);
  });

  it('says at once why one cannot be checked, once for each cause, and again after it could be', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [everyHours('crm', 1)]);
    await bench.takeRuns('crm', []);
    bench.clock.advance(hourMs);
    const { schedules: kept } = bench.ledger;
    let cause: Error | null = new TypeError('first cause');
    const advance = vi.spyOn(kept, 'advance').mockImplementation(() => Promise.reject(cause));
    const lines = () => bench.lines.filter((line) => line === 'schedule cannot be checked: crm').length;
    for (let look = 0; look < 3; look += 1) await schedules.tickDue();
    expect(lines()).toBe(1);
    cause = new PatchbayError('usage', 'otherCause', 'other cause');
    for (let look = 0; look < 3; look += 1) await schedules.tickDue();
    expect(lines()).toBe(2);
    bench.clock.advance(overdueAfterMs + 1);
    expect(schedules.stoppedSchedules()).toMatchObject([{ name: 'crm', failure: { reason: 'other cause' } }]);
    advance.mockRestore();
    await schedules.tickDue();
    expect(schedules.stoppedSchedules()).toEqual([]);
    await bench.takeRuns('crm', []);
    bench.clock.advance(hourMs);
    vi.spyOn(kept, 'advance').mockImplementation(() => Promise.reject(cause));
    await schedules.tickDue();
    expect(lines()).toBe(3);
  });
});
