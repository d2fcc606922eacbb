/** The page of feeds, and its JSON twin. */
import { describe, expect, it } from 'vitest';
import type { FeedTrouble, TroubleCause } from '#src/ledger/deliveries.ts';
import { workspaceSeries } from '#src/ledger/snapshots.ts';
import { feedsShownMax } from '#src/operations/feeds.ts';
import { dashboardBench, deadRow, enterRun, finishedRun, stageRun, startMs } from './dashboard-bench.ts';

const hourMs = 3_600_000;
const hint = 'Correct take, then: patchbay schedule run crm';

async function benchWithFeeds() {
  const bench = await dashboardBench();
  const { schedules, deliveries, snapshots } = bench.ledger;
  const crm = { kind: 'at', at: '30 2 * * *', zone: 'Europe/Berlin' } as const;
  await schedules.put({ name: 'crm', work: 'take', rule: crm, dueAtMs: startMs + hourMs, createdAtMs: startMs });
  const tick = { id: 't1', schedule: 'crm', trigger: 'request', user: null, dueAtMs: startMs } as const;
  await schedules.request(tick);
  await schedules.begin('t1', startMs);
  await schedules.end('t1', startMs + 1_000, { outcome: 'failed', code: 'takeRefused', message: 'no such host', hint });
  await deliveries.setCondition({ feed: 'crm', troubles: ['missed', 'deadRows'], sinceMs: startMs }, []);
  const numbers = { kind: 'every', everyMs: hourMs } as const;
  await schedules.put({
    ...{ name: 'phone-numbers', work: 'snapshot', rule: numbers, dueAtMs: startMs + hourMs, createdAtMs: startMs },
  });
  await schedules.setPaused('phone-numbers', startMs + 5_000, null);
  await snapshots.publish({
    record: {
      ...{ series: workspaceSeries, takenAtMs: startMs, count: 0, pages: 1, changed: true },
      ...{ added: 3, removed: 2, changedNumbers: 1, contentOfMs: startMs },
    },
    numbers: [],
    deliveries: [],
  });
  const run = await finishedRun(bench, [deadRow()]);
  return { bench, run };
}

describe('the feeds', () => {
  it('show schedule, next time, last outcome, condition, last run and the last snapshot', async () => {
    const { bench, run } = await benchWithFeeds();
    const { status, text } = await bench.page('/feeds');
    expect(status).toBe(200);
    for (const shown of [
      ...[
        'daily at 02:30 (Europe/Berlin)',
        'title="2026-11-21T15:00:00.000Z">Sat 21 Nov 16:00 +01:00</time>',
        'no new export, rejected rows',
        'failed <code>takeRefused</code>: <bdi>no such host</bdi>',
        `<bdi>${hint}</bdi>`,
      ],
      ...[`/runs/${run.id}`, 'every hour', 'paused', '3 added, 2 removed, 1 changed', 'aria-current="page">Feeds'],
    ]) {
      expect(text).toContain(shown);
    }
  });

  it('lead from a trouble to the run that it is about', async () => {
    const bench = await dashboardBench();
    const entered = (id: string, feed: string) => enterRun(bench, { id: `20261121T140000Z-${id}`, feed });
    const failed = await entered('00000b', 'erp');
    await bench.ledger.runs.move(failed.id, ['queued'], 'failed', { atMs: startMs });
    const stopped = await entered('00000c', 'main');
    await stageRun(bench, stopped, { rows: 1 });
    await bench.ledger.runs.move(stopped.id, ['staging'], 'stopped', { atMs: startMs });
    const behind = await entered('00000d', 'main');
    await stageRun(bench, behind, { rows: 1, dead: 1 }, [deadRow()]);
    await bench.ledger.runs.move(behind.id, ['staging'], 'applying', { atMs: startMs });
    await bench.ledger.runs.move(behind.id, ['applying'], 'doneWithDead', { atMs: startMs });
    const condition = (feed: string, troubles: readonly FeedTrouble[], causes: readonly TroubleCause[] = []) =>
      bench.ledger.deliveries.setCondition({ feed, troubles, sinceMs: startMs, causes }, []);
    await condition('erp', ['failed'], ['failedFile']);
    await condition('main', ['deadRows', 'guard']);
    const { text } = await bench.page('/feeds');
    expect(text).toContain(`<a href="/runs/${failed.id}">failed</a>`);
    expect(text).toContain(
      `<a href="/runs/${behind.id}">rejected rows</a>, <a href="/runs/${stopped.id}">stopped by a guard</a>`,
    );
    await condition('erp', ['failed'], ['failedTick']);
    expect((await bench.page('/feeds')).text, 'of its schedule').not.toContain(`<a href="/runs/${failed.id}">failed`);
  });

  it('say why a tick found nothing new, and that later ones were skipped, and why', async () => {
    const { bench } = await benchWithFeeds();
    const { schedules } = bench.ledger;
    const end = async (id: string, outcome: 'nothingNew' | 'skipped', message: string) => {
      await schedules.request({ id, schedule: 'crm', trigger: 'request', user: null, dueAtMs: startMs });
      await schedules.begin(id, startMs);
      await schedules.end(id, startMs + 2_000, { outcome, code: 'c', message });
    };
    await end('t2', 'nothingNew', 'there is no file at /exports/crm.csv');
    expect((await bench.page('/feeds')).text).toContain('nothing new: <bdi>there is no file at /exports/crm.csv</bdi>');
    await end('t3', 'skipped', 'run r-1 of the previous tick is still active');
    await end('t4', 'skipped', 'run r-2 of the previous tick is still active');
    const { text } = await bench.page('/feeds');
    expect(text).toContain('nothing new: <bdi>there is no file');
    expect(text).toContain('skipped 2 times: <bdi>run r-2 of the previous tick is still active</bdi>');
  });

  it('have a JSON twin', async () => {
    const { bench, run } = await benchWithFeeds();
    const { body } = await bench.json('/feeds');
    expect(body.feeds).toMatchObject([
      {
        feed: 'crm',
        schedule: {
          ...{ when: 'daily at 02:30 (Europe/Berlin)', dueAt: '2026-11-21T15:00:00.000Z', pausedAt: null },
          ...{ words: 'daily at 02:30 (Europe/Berlin)', due: '2026-11-21T15:00:00.000Z', paused: null },
          last: {
            outcome: 'failed',
            code: 'takeRefused',
            message: 'no such host',
            hint,
            at: '2026-11-21T14:00:01.000Z',
          },
        },
        troubles: expect.arrayContaining(['missed', 'deadRows']),
        since: '2026-11-21T14:00:00.000Z',
        lastRun: null,
      },
      { feed: 'main', schedule: null, troubles: [], since: null, lastRun: { run: run.id, state: 'doneWithDead' } },
    ]);
    expect(body.phoneNumbers).toMatchObject({
      schedule: { words: 'every hour', due: null, paused: '2026-11-21T14:00:05.000Z', last: null },
      latest: { takenAt: '2026-11-21T14:00:00.000Z', count: 0, added: 3, removed: 2, changedNumbers: 1 },
    });
  });

  it('beyond what is shown are good ones', async () => {
    const bench = await dashboardBench();
    const { deliveries } = bench.ledger;
    for (let index = 0; index < feedsShownMax; index += 1)
      await deliveries.setCondition({ feed: `a${index}`, troubles: [], sinceMs: startMs }, []);
    await deliveries.setCondition({ feed: 'z', troubles: ['failed'], sinceMs: startMs }, []);
    const { body } = await bench.json('/feeds');
    expect(body.feeds.length).toBe(feedsShownMax);
    expect(body.feeds.at(-1)).toMatchObject({ feed: 'z', troubles: ['failed'] });
    expect((await bench.page('/feeds')).text).toContain('1 further feed not shown');
  });

  it('say where to drop a file while there are none', async () => {
    const bench = await dashboardBench();
    expect((await bench.page('/feeds')).text).toContain(`${bench.folder}/import`);
    expect((await bench.json('/feeds')).body).toEqual({ feeds: [], phoneNumbers: { schedule: null, latest: null } });
  });
});
