/** Feeds that wait for slow or dead servers hold up no others (`docs/operations.md`, "Feeds"). */
import { describe, expect, it } from 'vitest';
import { takeFiles } from '#jobs/take-files.ts';
import { begun, newTickOf } from '#src/ledger/rules/ticks.ts';
import type { ScheduleWork, TickRecord } from '#src/ledger/schedules.ts';
import { jobsToDo } from '#src/queue/dispatcher.ts';
import { ticksWithPlace } from '#src/queue/take-places.ts';
import { openTempLedger } from '../ledger/support/temp-ledger.ts';

/** `host/feed` is downloaded from that host; other feeds lie on a disk. */
const hostOf = (feed: string): string | null => (feed.includes('/') ? (feed.split('/')[0] ?? null) : null);

const waiting = (schedule: string, work: ScheduleWork = 'take'): TickRecord =>
  newTickOf({ id: `of ${schedule}`, schedule, trigger: 'due', user: null, dueAtMs: 1 }, work);
const working = (schedule: string): TickRecord => begun(waiting(schedule), 2);
const names = (open: readonly TickRecord[]): readonly string[] =>
  ticksWithPlace(open, hostOf).map(({ schedule }) => schedule);

const fourDownloads = ['a/1', 'b/1', 'c/1', 'd/1'];

describe('takes at once', () => {
  it('begin where files lie on a disk, though four servers let others wait', () => {
    expect(names([...fourDownloads.map(working), waiting('e/1'), waiting('crm')])).toEqual(['crm']);
    expect(names([...fourDownloads, 'e/1', 'crm'].map((name) => waiting(name)))).toEqual([...fourDownloads, 'crm']);
  });

  it('begin where files are downloaded, though four files are waited for', () => {
    const files = ['f1', 'f2', 'f3', 'f4'];
    expect(names([...files.map(working), waiting('f5'), waiting('a/1')])).toEqual(['a/1']);
  });

  it('leave one place to another host', () => {
    expect(names(['a/1', 'a/2', 'a/3', 'a/4', 'b/1'].map((name) => waiting(name)))).toEqual([
      'a/1',
      'a/2',
      'a/3',
      'b/1',
    ]);
  });

  it('hold no place of a snapshot', () => {
    const files = ['f1', 'f2', 'f3', 'f4'];
    expect(names([...files.map(working), waiting('phone-numbers', 'snapshot')])).toEqual(['phone-numbers']);
  });

  it('are no more than those that jobs are taken for', () => {
    const all = ['a/1', 'b/1', 'c/1', 'd/1', 'e/1', 'f1', 'f2', 'f3', 'f4', 'f5'].map((name) => waiting(name));
    expect(names(all)).toHaveLength(takeFiles.concurrency);
  });

  it('are handed out to the queue, whatever number of others waits before them', async () => {
    const { ledger, close } = await openTempLedger();
    try {
      const feeds = [...Array.from({ length: 60 }, (_, index) => `a/${index}`), 'crm'];
      for (const [index, name] of feeds.entries()) {
        await ledger.schedules.put({ name, work: 'take', rule: null, dueAtMs: null, createdAtMs: 1 });
        const tick = { id: `t${index}`, schedule: name, trigger: 'due', user: null, dueAtMs: 1 + index } as const;
        await ledger.schedules.request(tick);
      }
      const jobs = await jobsToDo(ledger, 100, 10, { line: null, leads: true, hostOf });
      expect(jobs.map(({ payload }) => payload)).toEqual(['t0', 't1', 't2', 't60'].map((tickId) => ({ tickId })));
    } finally {
      await close();
    }
  });
});
