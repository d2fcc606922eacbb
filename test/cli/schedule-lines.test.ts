/** What `schedule ls` says of the last time. */
import { describe, expect, it } from 'vitest';
import { expectedLines, outcomeText, scheduleLines } from '#src/cli/commands/schedule.ts';
import { createOutput } from '#src/cli/output.ts';
import type { ScheduleRecord, TickRecord } from '#src/ledger/schedules.ts';

const output = createOutput({ color: false });
const tick: TickRecord = {
  id: 't1',
  schedule: 'crm',
  work: 'take',
  trigger: 'due',
  user: null,
  dueAtMs: 0,
  state: 'ended',
  attempts: 1,
  startedAtMs: 0,
  endedAtMs: 0,
  outcome: 'run',
  code: null,
  message: null,
  kind: null,
  hint: null,
  runIds: ['r1', 'r2', 'r3', 'r4', 'r5'],
  takenAtMs: null,
};

describe('The last time of a schedule', () => {
  it('names a few runs, however many files were taken', () => {
    expect(outcomeText(output, tick)).toBe('run r1, r2, r3 and 2 more');
  });
});

describe('A schedule', () => {
  const record: ScheduleRecord = {
    ...{ name: 'crm', work: 'take', rule: null, dueAtMs: null, createdAtMs: 0 },
    ...{ pausedAtMs: null, pauseReason: null, resumedAtMs: null },
  };
  const view = {
    record,
    expectEveryMs: null,
    isEntered: true,
    last: null,
    lastRunStates: [],
    skipped: null,
    open: null,
  };

  it('without times names what starts it, which no engine does', () => {
    expect(scheduleLines(output, view, 0)).toEqual([
      'crm  on request only',
      '  starts with: patchbay schedule run crm',
    ]);
    const timed: ScheduleRecord = { ...record, rule: { kind: 'every', everyMs: 60_000 }, dueAtMs: 60_000 };
    expect(scheduleLines(output, { ...view, record: timed, isEntered: false }, 0)).toContain(
      '  starts with: patchbay start',
    );
  });

  it('of a feed whose files are dropped into its folder is none, and says how often one is expected', () => {
    const feed = { feed: 'crm', everyMs: 26 * 3_600_000 };
    expect(expectedLines(output, { ...feed, lastAtMs: 0 }, 7_200_000)).toEqual([
      'crm  no schedule: its files are dropped into its folder',
      '  a file is expected every 26h; the last one arrived 2 h ago',
    ]);
    expect(expectedLines(output, { ...feed, lastAtMs: null }, 0)[1]).toContain('none was accepted yet');
  });
});
