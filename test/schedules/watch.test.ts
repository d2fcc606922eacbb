/** A watchdog for schedules that stopped. */
import { describe, expect, it } from 'vitest';
import { overdueAfterMs, startSchedules } from '#src/schedules/start-schedules.ts';
import { everyHours, hourMs, nightly, openScheduleBench, startMs } from './support/schedule-bench.ts';

describe('the watchdog', () => {
  it('names schedules whose due time has long passed without a tick, and no paused ones', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [everyHours('crm', 1), everyHours('erp', 1), nightly('hr')]);
    await bench.ledger.schedules.setPaused('erp', startMs, startMs + hourMs);
    await schedules.tickDue();
    bench.clock.advance(hourMs + overdueAfterMs);
    expect(schedules.stoppedSchedules()).toEqual([]);
    bench.clock.advance(1);
    expect(schedules.stoppedSchedules()).toEqual(['crm']);
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
    expect(schedules.stoppedSchedules()).toEqual(['crm']);
    await schedules.tickDue();
    expect(bench.lines.filter((line) => line === 'schedule has stopped: crm')).toHaveLength(1);
  });
});
