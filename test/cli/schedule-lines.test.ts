/** What `schedule ls` says of the last time. */
import { describe, expect, it } from 'vitest';
import { expectedLines, outcomeText, scheduleLines } from '#src/cli/commands/schedule.ts';
import { createOutput } from '#src/cli/output.ts';
import type { ScheduleRecord, TickRecord } from '#src/ledger/schedules.ts';
import type { ScheduleView } from '#src/operations/schedules.ts';

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

const alone = { engineRuns: false, atWork: [] };

describe('A schedule', () => {
  const record: ScheduleRecord = {
    ...{ name: 'crm', work: 'take', rule: null, dueAtMs: null, createdAtMs: 0 },
    ...{ pausedAtMs: null, pauseReason: null, resumedAtMs: null },
  };
  const view = {
    record,
    expectEveryMs: null,
    lastFileAtMs: null,
    configured: { rule: null },
    isEntered: true,
    last: null,
    lastRunStates: [],
    skipped: null,
    open: null,
  };

  it('without times names what starts it, which no engine does', () => {
    expect(scheduleLines(output, view, 0, alone)).toEqual([
      'crm  on request only',
      '  starts with: patchbay schedule run crm',
    ]);
    const timed: ScheduleRecord = { ...record, rule: { kind: 'every', everyMs: 60_000 }, dueAtMs: 60_000 };
    const fresh = { ...view, record: timed, configured: timed, isEntered: false };
    expect(scheduleLines(output, fresh, 0, alone)).toContain('  starts with: patchbay start');
    expect(scheduleLines(output, fresh, 0, { ...alone, engineRuns: true })).toContain(
      '  starts once the running engine is stopped and started again: patchbay start',
    );
  });

  it('that the configuration changes or drops says what it says, and when an engine follows it', () => {
    const rule = { kind: 'at', at: '30 2 * * *', zone: 'Asia/Tokyo' } as const;
    const entered = { ...view, record: { ...record, rule, dueAtMs: 60_000 } };
    const second = (configured: ScheduleView['configured'], engineRuns: boolean) =>
      scheduleLines(output, { ...entered, configured }, 0, { ...alone, engineRuns })[1];
    const changed = { rule: { ...rule, at: '15 4 * * *' } };
    const says = '  the configuration says daily at 04:15 (Asia/Tokyo);';
    expect(second(changed, true)).toBe(`${says} the running engine follows it after a restart`);
    expect(second(changed, false)).toBe(`${says} the next start follows it`);
    expect(second(null, true)).toBe(
      '  the configuration has it no longer; the running engine goes on with it until a restart',
    );
    expect(second({ rule }, true)).toMatch(/^ {2}next:/);
    expect(second({ rule: { ...rule, zone: 'Asia/Seoul' } }, true)).toContain('the configuration says daily at 02:30');
    // The engine may run with another TZ than the shell of the command.
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
    expect(second({ rule: { ...rule, zone: timeZone } }, true)).toMatch(/^ {2}next:/);
  });

  it('that waits names the feeds that are being looked at meanwhile', () => {
    const open: TickRecord = { ...tick, state: 'waiting', endedAtMs: null, outcome: null };
    expect(scheduleLines(output, { ...view, open }, 0, { ...alone, atWork: ['slow 1', 'slow 2'] })).toContain(
      '  waiting; running now: slow 1, slow 2',
    );
    expect(scheduleLines(output, { ...view, open }, 0, alone)).toContain('  waiting');
    expect(
      scheduleLines(output, { ...view, open: { ...open, state: 'working' } }, 0, { ...alone, atWork: ['crm'] }),
    ).toContain('  running');
  });

  it('of a feed whose files are dropped into its folder is none, and says how often one is expected', () => {
    const feed = { feed: 'crm', everyMs: 26 * 3_600_000 };
    expect(expectedLines(output, { ...feed, lastAtMs: 0 }, 7_200_000)).toEqual([
      'crm  no schedule: its files are dropped into its folder',
      '  a file is expected every 26h; the last one arrived 2 h ago',
    ]);
    expect(expectedLines(output, { ...feed, lastAtMs: 9 }, 0)[1]).toMatch(/arrived while the clock was ahead$/);
    expect(expectedLines(output, { ...feed, lastAtMs: null }, 0)[1]).toContain('none was accepted yet');
  });
});
