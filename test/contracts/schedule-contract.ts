/** Schedules and ticks in the ledger (`src/ledger/schedules.ts`). */

import { expect, test } from 'vitest';
import type { Ledger } from '#src/ledger/port.ts';
import { startableTicks } from '#src/ledger/rules/ticks.ts';
import { type NewTick, type ScheduleRule, ticksKeptMax } from '#src/ledger/schedules.ts';
import { createdAtMs } from './support/build.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

const hourly: ScheduleRule = { kind: 'every', everyMs: 3_600_000 };
const nightly: ScheduleRule = { kind: 'at', at: '30 2 * * *', zone: 'Europe/Berlin' };
const dueAtMs = createdAtMs + 1_000;
const crm = { name: 'crm', work: 'take', rule: hourly, dueAtMs, createdAtMs } as const;
const numbers = { name: 'phone-numbers', work: 'snapshot', rule: nightly, dueAtMs, createdAtMs } as const;
const skippedEnd = { outcome: 'skipped', code: 'overlap', message: 'the one before is at work' } as const;
const runEnd = { outcome: 'run', runIds: ['r1', 'r2'], message: null } as const;

function tick(id: string, parts: Partial<NewTick> = {}): NewTick {
  return { id, schedule: 'crm', trigger: 'due', user: null, dueAtMs, ...parts };
}

/** Entered by hand, in that order. */
async function requested(ledger: Ledger, ...ticks: readonly NewTick[]): Promise<void> {
  for (const one of ticks) await ledger.schedules.request(one);
}

const ids = (ticks: readonly { readonly id: string }[]) => ticks.map((one) => one.id);

export function scheduleContract(open: OpenLedger): void {
  test('a schedule is put, changed, listed by name and removed with its ticks; a pause and the first entry stay', async () => {
    const { ledger, reopen } = await openForTest(open);
    await ledger.schedules.put(numbers);
    await ledger.schedules.put(crm);
    expect(await ledger.schedules.setPaused('crm', dueAtMs, dueAtMs, 'the export is broken')).toBe(true);
    await ledger.schedules.put({ ...crm, rule: nightly, dueAtMs: dueAtMs + 5, createdAtMs: createdAtMs + 9 });
    await requested(ledger, tick('t1'));
    const other = await reopen();
    expect(await other.schedules.list()).toEqual([
      {
        ...crm,
        rule: nightly,
        dueAtMs: dueAtMs + 5,
        pausedAtMs: dueAtMs,
        pauseReason: 'the export is broken',
        resumedAtMs: null,
      },
      { ...numbers, pausedAtMs: null, pauseReason: null, resumedAtMs: null },
    ]);
    await other.schedules.remove('crm');
    expect(await ledger.schedules.get('crm')).toBeNull();
    expect(await ledger.schedules.tick('t1')).toBeNull();
    expect(await ledger.schedules.resume('crm', dueAtMs, null)).toBe(false);
  });

  test('a due time is moved on once, whoever comes second', async () => {
    const { ledger, reopen } = await openForTest(open);
    await ledger.schedules.put(crm);
    const next = dueAtMs + 3_600_000;
    expect(await ledger.schedules.advance('crm', dueAtMs, next, tick('t1'), null)).toBe(true);
    expect(await (await reopen()).schedules.advance('crm', dueAtMs, next, tick('t2'), null)).toBe(false);
    expect((await ledger.schedules.get('crm'))?.dueAtMs).toBe(next);
    expect(await ledger.schedules.ticks('crm', 10)).toMatchObject([
      { id: 't1', work: 'take', trigger: 'due', state: 'waiting', dueAtMs, attempts: 0, outcome: null, runIds: [] },
    ]);
    expect(await ledger.schedules.setDue('crm', dueAtMs, 5)).toBe(false);
    expect(await ledger.schedules.setDue('crm', next, 5)).toBe(true);
  });

  test('a paused schedule is not due', async () => {
    const { ledger } = await openForTest(open);
    await ledger.schedules.put(crm);
    await ledger.schedules.setPaused('crm', createdAtMs, dueAtMs);
    expect(await ledger.schedules.advance('crm', dueAtMs, dueAtMs + 1, tick('t1'), null)).toBe(false);
    expect(await ledger.schedules.resume('crm', dueAtMs + 2, dueAtMs + 7)).toBe(true);
    const resumed = { pausedAtMs: null, pauseReason: null, resumedAtMs: dueAtMs + 2, dueAtMs: dueAtMs + 7 };
    expect(await ledger.schedules.get('crm')).toMatchObject(resumed);
  });

  test('a skipped tick is entered as ended', async () => {
    const { ledger } = await openForTest(open);
    await ledger.schedules.put(crm);
    const skipped = { atMs: dueAtMs + 2, end: skippedEnd };
    expect(await ledger.schedules.advance('crm', dueAtMs, dueAtMs + 9, tick('t1'), skipped)).toBe(true);
    expect(await ledger.schedules.tick('t1')).toMatchObject({ ...skippedEnd, state: 'ended', endedAtMs: dueAtMs + 2 });
    expect(startableTicks(await ledger.schedules.openTicks())).toEqual([]);
    expect(await ledger.schedules.openTicks()).toEqual([]);
  });

  test('what a person asks for twice is one tick, for each user one', async () => {
    const { ledger } = await openForTest(open);
    await ledger.schedules.put(numbers);
    const ask = (id: string, user: string | null) =>
      ledger.schedules.request(tick(id, { schedule: 'phone-numbers', trigger: 'request', user }));
    expect(await ask('t1', null)).toMatchObject({ id: 't1', work: 'snapshot', trigger: 'request', state: 'waiting' });
    expect((await ask('t2', null)).id).toBe('t1');
    expect((await ask('t3', 'US1')).id).toBe('t3');
    await ledger.schedules.begin('t1', dueAtMs);
    expect((await ask('t4', null)).id).toBe('t4');
    await expect(ledger.schedules.request(tick('t5', { schedule: 'nobody' }))).rejects.toMatchObject({
      kind: 'usage',
      code: 'noSuchSchedule',
    });
  });

  test('of each schedule one tick is at work at a time, the oldest first', async () => {
    const { ledger, reopen } = await openForTest(open);
    await ledger.schedules.put(crm);
    await ledger.schedules.put(numbers);
    await requested(ledger, tick('t1'), tick('t2', { user: 'US1' }), tick('t3', { schedule: 'phone-numbers' }));
    expect(ids(startableTicks(await ledger.schedules.openTicks()))).toEqual(['t1', 't3']);
    expect(ids(startableTicks(await ledger.schedules.openTicks()).slice(0, 1))).toEqual(['t1']);
    expect(await ledger.schedules.begin('t1', dueAtMs + 1)).toMatchObject({ state: 'working', attempts: 1 });
    const other = await reopen();
    expect(await other.schedules.begin('t1', dueAtMs + 1)).toBeNull();
    expect(await other.schedules.begin('t2', dueAtMs + 1)).toBeNull();
    expect(ids(startableTicks(await other.schedules.openTicks()))).toEqual(['t3']);
    expect(ids(await other.schedules.openTicks())).toEqual(['t1', 't2', 't3']);
    expect(await other.schedules.end('t1', dueAtMs + 2, runEnd)).toBe(true);
    expect(await other.schedules.end('t1', dueAtMs + 3, skippedEnd)).toBe(false);
    expect(await ledger.schedules.tick('t1')).toMatchObject({
      state: 'ended',
      startedAtMs: dueAtMs + 1,
      endedAtMs: dueAtMs + 2,
      attempts: 1,
      outcome: 'run',
      runIds: ['r1', 'r2'],
      takenAtMs: null,
      code: null,
    });
    expect(ids(startableTicks(await ledger.schedules.openTicks()))).toEqual(['t2', 't3']);
  });

  test('the end of a snapshot names it; the newest tick of an outcome is found', async () => {
    const { ledger } = await openForTest(open);
    await ledger.schedules.put(numbers);
    await requested(ledger, tick('t1', { schedule: 'phone-numbers' }));
    await ledger.schedules.begin('t1', dueAtMs);
    await ledger.schedules.end('t1', dueAtMs, { outcome: 'snapshot', takenAtMs: dueAtMs, message: 'one' });
    const advance = { atMs: dueAtMs, end: skippedEnd };
    await ledger.schedules.advance('phone-numbers', dueAtMs, null, tick('t2', { schedule: 'phone-numbers' }), advance);
    expect(await ledger.schedules.lastEnded('phone-numbers', ['run', 'snapshot'])).toMatchObject({
      id: 't1',
      takenAtMs: dueAtMs,
      message: 'one',
    });
    expect((await ledger.schedules.lastEnded('phone-numbers', ['skipped', 'snapshot']))?.id).toBe('t2');
    expect(await ledger.schedules.lastEnded('phone-numbers', ['failed'])).toBeNull();
    expect(ids(await ledger.schedules.ticks('phone-numbers', 1))).toEqual(['t2']);
    // One user's numbers, which somebody asked for, say nothing of the schedule.
    await requested(ledger, tick('t3', { schedule: 'phone-numbers', user: 'US1' }));
    await ledger.schedules.begin('t3', dueAtMs);
    await ledger.schedules.end('t3', dueAtMs, { outcome: 'failed', code: 'x', message: 'no such user' });
    expect(await ledger.schedules.lastEnded('phone-numbers', ['failed'])).toBeNull();
  });

  test('a tick that was cut off on purpose waits again, and it counts as no attempt', async () => {
    const { ledger } = await openForTest(open);
    await ledger.schedules.put(crm);
    await requested(ledger, tick('t1'));
    await ledger.schedules.begin('t1', dueAtMs);
    expect(await ledger.schedules.release('t1')).toBe(true);
    expect(await ledger.schedules.release('t1')).toBe(false);
    expect(await ledger.schedules.tick('t1')).toMatchObject({ state: 'waiting', attempts: 0 });
  });

  test('whoever was taken for dead meanwhile neither ends nor releases the tick that another one works on', async () => {
    const { ledger } = await openForTest(open);
    await ledger.schedules.put(crm);
    await requested(ledger, tick('t1'));
    const first = await ledger.schedules.begin('t1', dueAtMs);
    await ledger.schedules.reopen(dueAtMs + 1, 3, new Set());
    const second = await ledger.schedules.begin('t1', dueAtMs + 2);
    expect(await ledger.schedules.release('t1', first?.attempts)).toBe(false);
    expect(await ledger.schedules.end('t1', dueAtMs + 3, runEnd, first?.attempts)).toBe(false);
    expect(await ledger.schedules.tick('t1')).toMatchObject({ state: 'working', attempts: 2 });
    expect(await ledger.schedules.end('t1', dueAtMs + 3, runEnd, second?.attempts)).toBe(true);
  });

  test('ticks that nobody works on wait again, and what was begun too often has failed as interrupted', async () => {
    const { ledger } = await openForTest(open);
    await ledger.schedules.put(crm);
    await requested(ledger, tick('t1'));
    for (const attempt of [1, 2]) {
      await ledger.schedules.begin('t1', dueAtMs);
      expect(await ledger.schedules.reopen(dueAtMs + attempt, 3, new Set(['t1']))).toBe(0);
      expect(await ledger.schedules.reopen(dueAtMs + attempt, 3, new Set())).toBe(1);
      expect(await ledger.schedules.tick('t1')).toMatchObject({ state: 'waiting', attempts: attempt });
    }
    await ledger.schedules.begin('t1', dueAtMs);
    expect(await ledger.schedules.reopen(dueAtMs + 3, 3, new Set())).toBe(1);
    expect(await ledger.schedules.tick('t1')).toMatchObject({
      state: 'ended',
      outcome: 'failed',
      code: 'interrupted',
      endedAtMs: dueAtMs + 3,
    });
    expect(await ledger.schedules.reopen(dueAtMs + 4, 3, new Set())).toBe(0);
  });

  test('old ticks are forgotten, the newest one that took files is not', async () => {
    const { ledger } = await openForTest(open);
    await ledger.schedules.put({ ...crm, dueAtMs: 0 });
    await requested(ledger, tick('taken'));
    await ledger.schedules.begin('taken', dueAtMs);
    await ledger.schedules.end('taken', dueAtMs, runEnd);
    const skipped = { atMs: dueAtMs, end: skippedEnd };
    for (let index = 0; index < ticksKeptMax + 5; index += 1) {
      await ledger.schedules.advance('crm', index, index + 1, tick(`s${index}`), skipped);
    }
    const kept = await ledger.schedules.ticks('crm', ticksKeptMax * 2);
    expect(kept).toHaveLength(ticksKeptMax + 1);
    expect(kept.at(-1)?.id).toBe('taken');
    expect(kept[0]?.id).toBe(`s${ticksKeptMax + 4}`);
  });
}
