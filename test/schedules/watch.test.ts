/** A watchdog for schedules that stopped. */
import { describe, expect, it } from 'vitest';
import { startSchedules } from '#src/schedules/start-schedules.ts';
import { overdueAfterMs, tickLimitMs, watchSchedules } from '#src/schedules/watch-schedules.ts';
import { everyHours, hourMs, nightly, openScheduleBench, startMs } from './support/schedule-bench.ts';

describe('the watchdog', () => {
  it('names schedules whose due time has long passed without a tick, and no paused ones', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [everyHours('crm', 1), everyHours('erp', 1), nightly('hr')]);
    await bench.ledger.schedules.setPaused('erp', startMs, startMs + hourMs);
    await schedules.tickDue();
    bench.clock.advance(hourMs + overdueAfterMs);
    expect(schedules.stuckSchedules()).toEqual([]);
    bench.clock.advance(1);
    expect(schedules.stuckSchedules()).toEqual(['crm']);
    await schedules.tickDue();
    expect(schedules.stuckSchedules()).toEqual([]);
  });

  it('ends a tick that nobody works on any more, tells it once and that it goes on', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [everyHours('crm', 1)]);
    const [tick] = await bench.ledger.schedules.nextTicks(1);
    await bench.ledger.schedules.begin(tick?.id ?? '', bench.clock.nowMs());
    bench.clock.advance(tickLimitMs.take + 300_000);
    await schedules.tickDue();
    expect(bench.lines).not.toContain('schedule has stopped: crm');
    bench.clock.advance(1);
    await schedules.tickDue();
    await schedules.tickDue();
    expect(await bench.ledger.schedules.tick(tick?.id ?? '')).toMatchObject({ outcome: 'failed', code: 'tickTooLong' });
    const told = bench.lines.filter((line) => line.endsWith(': crm') && !line.startsWith('schedule is due'));
    expect(told).toEqual(['schedule has stopped: crm', 'schedule goes on: crm']);
  });

  it('says why', async () => {
    const bench = await openScheduleBench();
    await startSchedules(bench, [everyHours('crm', 1)]);
    const schedules = await bench.ledger.schedules.list();
    expect(watchSchedules(schedules, [], startMs + hourMs + overdueAfterMs + 1)).toEqual([
      { name: 'crm', why: 'overdue', tick: null },
    ]);
  });
});
