/** Which ticks may be worked on and how one ends, without a database. */
import { describe, expect, it } from 'vitest';
import {
  begun,
  ended,
  endOfInterrupted,
  forgettableTicks,
  mayBegin,
  released,
  resultOf,
  startableTicks,
  tickGroup,
} from '#src/ledger/rules/ticks.ts';
import type { TickRecord } from '#src/ledger/schedules.ts';

const tick = (id: string, schedule: string, state: TickRecord['state'] = 'waiting', attempts = 0): TickRecord => ({
  ...{ id, schedule, state, attempts, work: 'take', trigger: 'due', user: null, dueAtMs: 1, startedAtMs: null },
  ...{ endedAtMs: null, outcome: null, runIds: [], takenAtMs: null, code: null, kind: null, message: null, hint: null },
});

describe('ticks', () => {
  it('of each schedule the oldest may begin, and none while one is at work', () => {
    const open = [
      tick('t1', 'crm'),
      tick('t2', 'erp', 'working'),
      tick('t3', 'erp'),
      tick('t4', 'crm'),
      tick('t5', 'hr'),
    ];
    expect(startableTicks(open).map(({ id }) => id)).toEqual(['t1', 't5']);
    expect(mayBegin('t3', [tick('t2', 'erp', 'working'), tick('t3', 'erp')])).toBe(false);
    expect(mayBegin('t4', [tick('t1', 'crm'), tick('t4', 'crm')])).toBe(true);
    expect(mayBegin('gone', [tick('t1', 'crm')])).toBe(false);
  });

  it('wait again where their process died, and have failed when that happened too often', () => {
    expect(endOfInterrupted(tick('t1', 'crm', 'working', 2), 3)).toBeNull();
    expect(endOfInterrupted(tick('t1', 'crm', 'working', 3), 3)).toMatchObject({
      ...{ outcome: 'failed', code: 'interrupted', message: 'it was interrupted 3 times' },
    });
  });

  it('hold what their end says and nothing else', () => {
    const none = { runIds: [], takenAtMs: null, code: null, kind: null, hint: null };
    expect(resultOf({ outcome: 'run', runIds: ['r1'], message: null })).toEqual({
      ...{ ...none, outcome: 'run', runIds: ['r1'], message: null },
    });
    expect(resultOf({ outcome: 'snapshot', takenAtMs: 5, message: 'one' })).toEqual({
      ...{ ...none, outcome: 'snapshot', takenAtMs: 5, message: 'one' },
    });
    expect(resultOf({ outcome: 'skipped', code: 'overlap', message: 'busy' })).toEqual({
      ...{ ...none, outcome: 'skipped', code: 'overlap', message: 'busy' },
    });
  });

  it('beyond the number that is kept are forgotten, but not the newest one that took files', () => {
    expect(forgettableTicks(['t2', 't1'], 't1')).toEqual(['t2']);
    expect(forgettableTicks(['t2', 't1'], 't9')).toEqual(['t2', 't1']);
  });

  it('are listed by their state while they are open, then by their outcome; those of one user say nothing', () => {
    const work = tick('t1', 'crm', 'working', 1);
    const end = { outcome: 'nothingNew', code: 'x', message: 'y' } as const;
    expect([tickGroup(work), tickGroup(released(work)), tickGroup(ended(work, 9, end))]).toEqual([
      ...['working', 'waiting', 'nothingNew'],
    ]);
    expect(tickGroup(ended({ ...work, user: 'US1' }, 9, end))).toBe('ofUser');
  });

  it('count an attempt when they begin, and none when they are cut off on purpose', () => {
    const work = begun(tick('t1', 'crm'), 5);
    expect(work).toMatchObject({ state: 'working', startedAtMs: 5, attempts: 1 });
    expect(released(work)).toMatchObject({ state: 'waiting', attempts: 0 });
  });
});
