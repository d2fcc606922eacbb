/** Schedules in the config are reconciled at start (`docs/rules.md`, "Schedules"). */
import { describe, expect, it } from 'vitest';
import { pauseSchedule, reconcileSchedules, resumeSchedule } from '#src/schedules/reconcile-schedules.ts';
import { startSchedules } from '#src/schedules/start-schedules.ts';
import {
  everyHours,
  hourMs,
  nightly,
  openScheduleBench,
  type ScheduleBench,
  startMs,
  take,
} from './support/schedule-bench.ts';

const found = async ({ ledger }: ScheduleBench, name: string) => {
  const schedule = await ledger.schedules.get(name);
  if (schedule === null) throw new Error(`no schedule ${name}`);
  return schedule;
};

describe('at start', () => {
  it('new ones are added: an interval is due at once, a time of day at its next time', async () => {
    const bench = await openScheduleBench();
    const configured = [everyHours('crm', 1), nightly('erp'), take('hand', null)];
    expect(await reconcileSchedules(bench, configured)).toEqual({
      added: ['crm', 'erp', 'hand'],
      changed: [],
      removed: [],
    });
    expect((await bench.ledger.schedules.list()).map(({ name, dueAtMs }) => [name, dueAtMs])).toEqual([
      ['crm', startMs],
      ['erp', Date.parse('2026-11-23T01:30:00Z')],
      ['hand', null],
    ]);
  });

  it('changed ones are due anew from now; those that did not change keep their due time', async () => {
    const bench = await openScheduleBench();
    await startSchedules(bench, [everyHours('crm', 1), everyHours('erp', 1)]);
    bench.clock.advance(hourMs / 2);
    expect(await reconcileSchedules(bench, [everyHours('crm', 2), everyHours('erp', 1)])).toMatchObject({
      added: [],
      changed: ['crm'],
    });
    expect((await found(bench, 'crm')).dueAtMs).toBe(startMs + 2.5 * hourMs);
    expect((await found(bench, 'erp')).dueAtMs).toBe(startMs + hourMs);
  });

  it('changed ones make up once for what was due by their old rule while no engine ran, and follow the new one then', async () => {
    const bench = await openScheduleBench();
    await (await startSchedules(bench, [nightly('crm'), nightly('erp')])).stop();
    bench.clock.set(Date.parse('2026-11-25T07:00:00Z'));
    const changed = take('crm', { kind: 'at', at: '15 4 * * *', zone: 'Europe/Berlin' });
    const schedules = await startSchedules(bench, [changed, take('erp', { kind: 'every', everyMs: 4 * hourMs })]);
    for (const name of ['crm', 'erp']) {
      expect(await bench.ticks(name)).toEqual(['catchUp waiting']);
      await bench.takeRuns(name, []);
    }
    await schedules.tickDue();
    expect(await bench.ticks('crm')).toEqual(['catchUp run']);
    expect((await found(bench, 'crm')).dueAtMs).toBe(Date.parse('2026-11-26T03:15:00Z'));
    expect((await found(bench, 'erp')).dueAtMs).toBeLessThanOrEqual(Date.parse('2026-11-25T11:00:00Z'));
  });

  it('dropped ones are removed, one whose work somebody waits for when that is done', async () => {
    const bench = await openScheduleBench();
    await reconcileSchedules(bench, [nightly('crm'), nightly('erp')]);
    await bench.ledger.schedules.request({
      id: 't1',
      schedule: 'erp',
      trigger: 'request',
      user: null,
      dueAtMs: startMs,
    });
    expect(await reconcileSchedules(bench, [])).toMatchObject({ removed: ['crm', 'erp'] });
    expect(await bench.ledger.schedules.list()).toMatchObject([{ name: 'erp', rule: null, dueAtMs: null }]);
    await bench.takeRuns('erp', []);
    await reconcileSchedules(bench, []);
    expect(await bench.ledger.schedules.list()).toEqual([]);
  });

  it('snapshots that a person asked for by hand stay', async () => {
    const bench = await openScheduleBench();
    await bench.ledger.schedules.put({
      name: 'phone-numbers',
      work: 'snapshot',
      rule: null,
      dueAtMs: null,
      createdAtMs: startMs,
    });
    expect(await reconcileSchedules(bench, [])).toMatchObject({ removed: [] });
    expect(await bench.ledger.schedules.list()).toHaveLength(1);
  });
});

describe('a pause', () => {
  it('survives a restart and a changed configuration, and nothing is due meanwhile', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [nightly('crm')]);
    await pauseSchedule(bench, await found(bench, 'crm'), 'the export is broken');
    await schedules.stop();
    bench.clock.advance(48 * hourMs);
    await startSchedules(bench, [nightly('crm', 'UTC')]);
    expect(await found(bench, 'crm')).toMatchObject({ pausedAtMs: startMs, pauseReason: 'the export is broken' });
    bench.clock.advance(48 * hourMs);
    const again = await startSchedules(bench, [nightly('crm', 'UTC')]);
    await again.tickDue();
    expect(await bench.ticks('crm')).toEqual([]);
    expect(bench.wakeUps).toEqual([]);
  });

  it('ends without a burst: due from now on', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [everyHours('crm', 1)]);
    await bench.takeRuns('crm', []);
    await pauseSchedule(bench, await found(bench, 'crm'), null);
    bench.clock.advance(10.5 * hourMs);
    await resumeSchedule(bench, await found(bench, 'crm'));
    expect(await found(bench, 'crm')).toMatchObject({ pausedAtMs: null, dueAtMs: startMs + 11.5 * hourMs });
    await schedules.tickDue();
    expect(await bench.ticks('crm')).toEqual(['due run']);
  });

  it('that is given twice is since the first time', async () => {
    const bench = await openScheduleBench();
    await reconcileSchedules(bench, [nightly('crm')]);
    await pauseSchedule(bench, await found(bench, 'crm'), 'one');
    bench.clock.advance(hourMs);
    await pauseSchedule(bench, await found(bench, 'crm'), null);
    expect(await found(bench, 'crm')).toMatchObject({ pausedAtMs: startMs, pauseReason: 'one' });
  });
});

describe('the queue', () => {
  it('is given the wake-ups of what is due by a rule and not paused, and none when the engine stops', async () => {
    const bench = await openScheduleBench();
    const schedules = await startSchedules(bench, [everyHours('crm', 1), nightly('erp'), take('hand', null)]);
    expect(bench.wakeUps.map(({ name, dueAtMs }) => [name, dueAtMs])).toEqual([
      ['crm', startMs + hourMs],
      ['erp', Date.parse('2026-11-23T01:30:00Z')],
    ]);
    await pauseSchedule(bench, await found(bench, 'erp'), null);
    await schedules.reconcileQueue();
    expect(bench.wakeUps.map((one) => one.name)).toEqual(['crm']);
    await schedules.stop();
    expect(bench.wakeUps).toEqual([]);
  });
});
