/** Notices: a log line and a delivery when a feed goes bad, and again when it recovers (issue "Schedules", point 5). */
import { describe, expect, it } from 'vitest';
import { troublesSinceMs } from '#src/ledger/deliveries.ts';
import { noOptions } from '#src/ledger/runs.ts';
import { goneAfter } from '#src/notices/watch-feeds.ts';
import { settledHolds } from '#test/contracts/held-contract.ts';
import { applyingRun, newRun } from '#test/contracts/support/build.ts';
import { hour, minute, type NoticeBench, openNoticeBench } from './support/notice-bench.ts';

const bad = (feed: string, ...troubles: readonly string[]) => ({
  type: 'feed.bad',
  feed,
  data: expect.objectContaining({ troubles }),
});
const recovered = (feed: string) => ({
  type: 'feed.recovered',
  feed,
  data: expect.objectContaining({ troubles: [] }),
});

describe('Fields that wait for a decision', () => {
  it('are reported when a feed begins to have some, and again only after all were decided; the feed stays healthy', async () => {
    const bench = await openNoticeBench();
    const { ledger } = bench;
    const role = { field: 'role', said: 'X', theirs: 'App', ours: 'File' } as const;
    const held = (fields: number) => ({ type: 'feed.held', feed: 'crm', data: { fields } });
    await settledHolds(ledger, 'r1', { k1: [role], k2: [role] }, 'crm');
    await bench.look();
    await settledHolds(ledger, 'r2', { k3: [role] }, 'crm');
    await bench.look();
    expect(await bench.told()).toEqual([held(2)]);
    expect(await ledger.deliveries.conditions()).toMatchObject([{ feed: 'crm', troubles: [], heldFields: 2 }]);
    // A trouble that comes and goes meanwhile changes nothing of that.
    await bench.file('crm', 'failed');
    await bench.look();
    await bench.file('crm', 'done');
    await bench.look();
    expect(await bench.told()).toEqual([bad('crm', 'failed'), recovered('crm')]);
    const decision = { feed: 'crm', write: null, atMs: 1, nowMs: 1, isOwnerDead: () => false };
    await ledger.contacts.decideHeld({ ...decision, shown: await ledger.contacts.held({ limit: 9 }) });
    await bench.look();
    await settledHolds(ledger, 'r3', { k4: [role] }, 'crm');
    await bench.look();
    await bench.look();
    expect(await bench.told()).toEqual([held(1)]);
  });
});

describe('A feed that goes bad', () => {
  it('is told once, however many runs are bad', async () => {
    const bench = await openNoticeBench();
    await bench.file('crm', 'done');
    await bench.look();
    for (let run = 0; run < 3; run += 1) {
      await bench.file('crm', 'stopped');
      await bench.look();
      await bench.look();
    }
    expect(await bench.told()).toEqual([bad('crm', 'guard')]);
    expect(bench.lines).toEqual(['warn crm guard feed became unhealthy']);
  });

  it('has a trouble since that began, not since another one that has ended; the feed is bad since the first', async () => {
    const bench = await openNoticeBench();
    await bench.file('crm', 'doneWithDead');
    await bench.look();
    const firstMs = bench.clock.nowMs();
    bench.clock.advance(minute);
    await bench.file('crm', 'stopped');
    await bench.look();
    const secondMs = bench.clock.nowMs();
    bench.clock.advance(minute);
    await bench.look();
    const [condition] = await bench.ledger.deliveries.conditions();
    expect(condition).toMatchObject({ troubles: ['guard'], sinceMs: firstMs });
    expect(condition && troublesSinceMs(condition)).toBe(secondMs);
    const badSince = new Date(firstMs).toISOString();
    expect((await bench.told()).map(({ data }) => data.badSince)).toEqual([badSince, badSince]);
  });

  it('is told with run, code and count, and once more when it is good again', async () => {
    const bench = await openNoticeBench();
    const run = await bench.file('crm', 'doneWithDead');
    await bench.look();
    const badSince = new Date(bench.clock.nowMs()).toISOString();
    await bench.file('crm', 'done');
    await bench.look();
    await bench.look();
    expect(await bench.told()).toEqual([
      {
        type: 'feed.bad',
        feed: 'crm',
        data: { troubles: ['deadRows'], badSince, began: [{ trouble: 'deadRows', run, code: null, dead: 1 }] },
      },
      { type: 'feed.recovered', feed: 'crm', data: { troubles: [], badSince, ended: ['deadRows'] } },
    ]);
    expect(bench.lines).toEqual(['warn crm deadRows feed became unhealthy', 'info crm deadRows feed recovered']);
  });

  it('is told of a run that waits for a person while newer files of its feed go in, and is good once that is cancelled', async () => {
    const bench = await openNoticeBench();
    const stopped = await bench.file('main', 'stopped');
    await bench.file('main', 'done');
    await bench.look();
    const began = [expect.objectContaining({ trouble: 'guard', run: stopped, code: 'why-stopped' })];
    expect(await bench.told()).toMatchObject([{ type: 'feed.bad', feed: 'main', data: { began } }]);
    // Nothing has become better with a further one.
    await bench.file('main', 'done');
    await bench.look();
    expect(await bench.told()).toEqual([]);
    await bench.ledger.runs.move(stopped, ['stopped'], 'cancelling', { atMs: bench.clock.nowMs() });
    await bench.look();
    expect(await bench.told()).toEqual([recovered('main')]);
  });

  it('is told of a file of `main` that failed while others went in, until one is accepted that came after that', async () => {
    const bench = await openNoticeBench();
    const lost = await bench.file('main', 'failed');
    await bench.file('main', 'done');
    await bench.look();
    await bench.look();
    const began = [expect.objectContaining({ trouble: 'failed', run: lost, code: 'why-failed' })];
    expect(await bench.told()).toMatchObject([{ type: 'feed.bad', feed: 'main', data: { began } }]);
    // A further one is no further notice, and waits for a file after it, too.
    await bench.file('main', 'failed');
    await bench.file('main', 'done');
    await bench.look();
    await bench.look();
    expect(await bench.told()).toEqual([]);
    await bench.file('main', 'done');
    await bench.look();
    expect(await bench.told()).toEqual([recovered('main')]);
    const again = await bench.file('main', 'failed');
    await bench.file('main', 'stopped');
    await bench.look();
    expect(await bench.told()).toMatchObject([
      { type: 'feed.bad', data: { began: [{ trouble: 'failed', run: again }, { trouble: 'guard' }] } },
    ]);
    bench.restart();
    await bench.look();
    expect(await bench.told()).toEqual([]);
  });

  it('recovers by a file of `main` that was entered after the notice, whatever the clock of its host says', async () => {
    const bench = await openNoticeBench();
    const lost = await bench.file('main', 'failed', undefined, 'b');
    await bench.file('main', 'done', undefined, 'a');
    await bench.look();
    expect(await bench.told()).toMatchObject([{ type: 'feed.bad', data: { began: [{ run: lost }] } }]);
    await bench.file('main', 'done', undefined, 'a', -hour);
    await bench.look();
    expect(await bench.told()).toEqual([recovered('main')]);
    // A file that arrived together with one of a host whose clock is behind.
    const other = await bench.file('main', 'failed', undefined, 'b', -hour);
    await bench.file('main', 'done', undefined, 'a');
    await bench.look();
    expect(await bench.told()).toMatchObject([{ type: 'feed.bad', data: { began: [{ run: other }] } }]);
    await bench.file('main', 'done', undefined, 'b', -hour);
    await bench.look();
    expect(await bench.told()).toEqual([recovered('main')]);
  });

  it('is not told of a file of `main` that was told and corrected before an update', async () => {
    const bench = await openNoticeBench();
    const { clock, ledger } = bench;
    await bench.file('main', 'failed');
    clock.advance(10_000);
    await bench.file('main', 'done');
    clock.advance(5_000);
    // As an older version wrote that the feed had recovered.
    await ledger.deliveries.setCondition({ feed: 'main', troubles: [], sinceMs: clock.nowMs() }, []);
    await bench.look();
    expect(await bench.told()).toEqual([]);
    const next = await bench.file('main', 'failed');
    await bench.file('main', 'done');
    await bench.look();
    expect(await bench.told()).toMatchObject([{ type: 'feed.bad', data: { began: [{ run: next }] } }]);
  });

  it('is not told of a file of `main` that failed more than a day ago beside another one', async () => {
    const bench = await openNoticeBench();
    await bench.file('main', 'failed');
    await bench.file('main', 'done');
    bench.clock.advance(25 * hour);
    await bench.look();
    expect(await bench.told()).toEqual([]);
  });

  it('is not told of a file of `main` that was corrected long since, where another one was told once', async () => {
    const bench = await openNoticeBench();
    await bench.file('main', 'failed');
    await bench.look();
    await bench.file('main', 'done');
    await bench.look();
    expect(await bench.told()).toEqual([bad('main', 'failed'), recovered('main')]);
    await bench.file('main', 'failed');
    bench.clock.advance(hour);
    await bench.file('main', 'done');
    await bench.look();
    expect(await bench.told()).toEqual([]);
  });

  it('is not told of a file of `main` that failed long before the newest one, nor of another feed once a newer file is read', async () => {
    const bench = await openNoticeBench();
    await bench.file('main', 'failed');
    await bench.file('crm', 'failed');
    bench.clock.advance(hour);
    await bench.file('main', 'done');
    await bench.file('crm', 'done');
    await bench.look();
    await bench.look();
    expect(await bench.told()).toEqual([]);
  });

  it('is told in the log alone where no webhook is set', async () => {
    const bench = await openNoticeBench({ url: null });
    await bench.file('crm', 'failed');
    await bench.look();
    await bench.file('crm', 'done');
    await bench.look();
    expect(await bench.told()).toEqual([]);
    expect(bench.lines).toEqual(['warn crm failed feed became unhealthy', 'info crm failed feed recovered']);
  });

  it('is not told again by the next process', async () => {
    const bench = await openNoticeBench();
    await bench.file('crm', 'failed');
    await bench.look();
    bench.restart();
    await bench.look();
    expect(await bench.told()).toHaveLength(1);
  });

  it('stays bad while an approved run is at work, and recovers with its end', async () => {
    const bench = await openNoticeBench();
    await bench.file('crm', 'done');
    const run = await bench.file('crm', 'stopped');
    await bench.look();
    await bench.ledger.runs.move(run, ['stopped'], 'applying', { atMs: bench.clock.nowMs() });
    await bench.look();
    expect(await bench.told()).toEqual([bad('crm', 'guard')]);
    await bench.ledger.runs.move(run, ['applying'], 'done', { atMs: bench.clock.nowMs() });
    await bench.look();
    expect(await bench.told()).toEqual([recovered('crm')]);
  });

  it('is as before when a person cancels the stopped run, and is not said to be healthy again', async () => {
    const bench = await openNoticeBench();
    const run = await bench.file('crm', 'stopped');
    await bench.look();
    await bench.ledger.runs.move(run, ['stopped'], 'cancelling', { atMs: bench.clock.nowMs() });
    await bench.look();
    const cancelled = { ...recovered('crm'), data: expect.objectContaining({ ended: ['guard'], cancelled: true }) };
    expect(await bench.told()).toEqual([bad('crm', 'guard'), cancelled]);
    expect(bench.lines.at(-1)).toBe('info crm guard feed as before its stopped run: that was cancelled');
    await bench.ledger.runs.move(run, ['cancelling'], 'cancelled', { atMs: bench.clock.nowMs() });
    // The one after it is told by its own end.
    await bench.file('crm', 'failed');
    await bench.look();
    bench.clock.advance(minute);
    await bench.file('crm', 'done');
    await bench.look();
    const last = (await bench.told()).at(-1);
    expect(last).toEqual(recovered('crm'));
    expect(last?.data).not.toHaveProperty('cancelled');
  });

  it.each(['before', 'after'] as const)(
    'is healthy again by a newer file that took the place of the stopped one, which is looked at %s its end',
    async (when) => {
      const bench = await openNoticeBench();
      const { ledger, clock } = bench;
      const run = await bench.file('crm', 'stopped');
      await bench.look();
      const reason = { code: 'replaced', message: 'a newer file', hint: null, facts: { by: 'newer' } };
      await ledger.runs.move(run, ['stopped'], 'cancelling', { atMs: clock.nowMs(), reason });
      await bench.file('crm', 'done', 'newer');
      clock.advance(1);
      if (when === 'after') await ledger.runs.move(run, ['cancelling'], 'cancelled', { atMs: clock.nowMs() });
      await bench.look();
      const last = (await bench.told()).at(-1);
      expect(last).toEqual(recovered('crm'));
      expect(last?.data).not.toHaveProperty('cancelled');
      expect(bench.lines.at(-1)).toBe('info crm guard feed recovered');
    },
  );

  it('is healthy again by a newer file also where its stopped one is cancelled before anything looked', async () => {
    const bench = await openNoticeBench();
    const run = await bench.file('crm', 'stopped');
    await bench.look();
    await bench.file('crm', 'done');
    bench.clock.advance(1);
    await bench.ledger.runs.move(run, ['stopped'], 'cancelled', { atMs: bench.clock.nowMs() });
    await bench.look();
    expect((await bench.told()).at(-1)?.data).not.toHaveProperty('cancelled');
  });

  it('is as before also where a run of some of its rows ended after the stopped one that is cancelled', async () => {
    const bench = await openNoticeBench();
    const { ledger, clock } = bench;
    const run = await bench.file('crm', 'stopped');
    await bench.look();
    await ledger.runs.create(
      newRun('some', { feed: 'crm', createdAtMs: clock.nowMs(), options: { ...noOptions, limit: 5 } }),
    );
    await ledger.runs.beginStaging('some', clock.nowMs());
    await ledger.runs.move('some', ['staging'], 'done', { atMs: clock.nowMs() });
    await bench.look();
    clock.advance(1);
    await ledger.runs.move(run, ['stopped'], 'cancelled', { atMs: clock.nowMs() });
    await bench.look();
    expect((await bench.told()).at(-1)?.data).toMatchObject({ ended: ['guard'], cancelled: true });
  });

  it('has no name, phone or key in its notice or its line', async () => {
    const bench = await openNoticeBench();
    for (const state of ['doneWithDead', 'stopped', 'failed'] as const) await bench.file(`${state} feed`, state);
    await bench.look();
    const told = await bench.told();
    expect(told).toHaveLength(3);
    expect(JSON.stringify([told, bench.log])).not.toMatch(/Lovelace|Ada|1415555/);
  });
});

describe('An outage', () => {
  it('is told once for all feeds, when it lasts, and again when work goes on', async () => {
    const bench = await openNoticeBench();
    for (let feed = 0; feed < 20; feed += 1) await bench.file(`feed ${feed}`, 'done');
    await bench.pause('serviceUnreachable');
    await bench.look();
    expect(await bench.told()).toEqual([]);
    bench.clock.advance(minute);
    await bench.look();
    await bench.look();
    expect(await bench.told()).toEqual([
      {
        type: 'feed.bad',
        feed: 'main',
        data: expect.objectContaining({ began: [expect.objectContaining({ code: 'serviceUnreachable' })] }),
      },
    ]);
    await bench.pause(null);
    await bench.look();
    expect(await bench.told()).toEqual([recovered('main')]);
  });

  it('that a new engine meets again is the same outage', async () => {
    const bench = await openNoticeBench();
    await bench.pause('serviceFailing');
    bench.clock.advance(minute);
    await bench.look();
    await bench.pause('serviceFailing');
    bench.restart();
    await bench.look();
    expect(await bench.told()).toEqual([bad('main', 'outage')]);
  });
});

describe('A missing export', () => {
  const feeds = { crm: { expectEveryMs: 26 * hour } };

  it('is news when it is overdue, and so is the file that comes after all', async () => {
    const bench = await openNoticeBench({ feeds });
    await bench.file('crm', 'done');
    await bench.look();
    bench.clock.advance(26 * hour);
    await bench.look();
    await bench.look();
    expect(await bench.told()).toEqual([bad('crm', 'missed')]);
    await bench.file('crm', 'done');
    await bench.look();
    expect(await bench.told()).toEqual([recovered('crm')]);
  });

  it('is missing since it was due, however late that is noticed', async () => {
    const bench = await openNoticeBench({ feeds });
    await bench.file('crm', 'done');
    const arrivedMs = bench.clock.nowMs();
    await bench.look();
    bench.clock.advance(72 * hour);
    bench.restart();
    await bench.look();
    bench.clock.advance(minute);
    await bench.look();
    const [condition] = await bench.ledger.deliveries.conditions();
    expect(condition && troublesSinceMs(condition)).toBe(arrivedMs + 26 * hour);
  });

  it('is missing since its tick was due where a schedule stands still', async () => {
    const bench = await openNoticeBench();
    await bench.schedule('crm', 'take');
    const dueAtMs = (await bench.ledger.schedules.get('crm'))?.dueAtMs;
    await bench.look();
    bench.clock.advance(3 * hour);
    await bench.look();
    const [condition] = await bench.ledger.deliveries.conditions();
    expect(condition && troublesSinceMs(condition)).toBe(dueAtMs);
  });

  it('is news also where no file ever came', async () => {
    const bench = await openNoticeBench({ feeds });
    await bench.look();
    bench.clock.advance(26 * hour - minute);
    await bench.look();
    expect(await bench.told()).toEqual([]);
    bench.clock.advance(minute);
    await bench.look();
    expect(await bench.told()).toEqual([bad('crm', 'missed')]);
  });

  it.each([
    ['had files', true],
    ['never had any', false],
  ])(
    'of a feed that %s and is taken out of the configuration has not recovered: it is not watched any more',
    async (_which, hadFiles) => {
      const bench = await openNoticeBench({ feeds });
      if (hadFiles) await bench.file('crm', 'done');
      await bench.look();
      bench.clock.advance(26 * hour);
      await bench.look();
      bench.restart({});
      await bench.look();
      await bench.look();
      expect(await bench.told()).toEqual([
        bad('crm', 'missed'),
        { ...recovered('crm'), data: expect.objectContaining({ ended: ['missed'], unwatched: true }) },
      ]);
      expect(bench.lines).toEqual([
        'warn crm missed feed became unhealthy',
        'info crm missed feed no longer watched for this: it was removed from the configuration',
      ]);
    },
  );

  /** Looks over more than the time after which a feed that is not there is gone. */
  const lookLong = async (bench: NoticeBench): Promise<void> => {
    for (let look = 0; look <= goneAfter.looks; look += 1) {
      bench.clock.advance(goneAfter.ms / goneAfter.looks);
      await bench.look();
    }
  };
  const unwatched = { ...recovered('crm'), data: expect.objectContaining({ ended: ['failed'], unwatched: true }) };

  it('that could not be read is watched no longer once its feed is gone, and is news again where the feed is back', async () => {
    const bench = await openNoticeBench();
    await bench.file('crm', 'failed');
    await bench.look();
    bench.gone.add('crm');
    await lookLong(bench);
    await bench.look();
    expect(await bench.told()).toEqual([bad('crm', 'failed'), unwatched]);
    expect(await bench.ledger.deliveries.conditions()).toMatchObject([{ feed: 'crm', troubles: [] }]);
    // A new process knows of no absence yet.
    bench.restart();
    await bench.look();
    expect(await bench.told()).toEqual([]);
    bench.gone.clear();
    await bench.look();
    expect(await bench.told()).toEqual([bad('crm', 'failed')]);
  });

  it('that could not be read stays news while its feed is not there for a moment, or cannot be seen', async () => {
    const bench = await openNoticeBench();
    await bench.file('crm', 'failed');
    await bench.look();
    expect(await bench.told()).toEqual([bad('crm', 'failed')]);
    bench.gone.add('crm');
    await bench.look();
    // The machine slept: a long time, and few looks.
    bench.clock.advance(hour);
    await bench.look();
    bench.unseen.add('crm');
    await lookLong(bench);
    bench.unseen.clear();
    await bench.look();
    bench.gone.clear();
    await bench.look();
    expect(await bench.told()).toEqual([]);
    await bench.file('crm', 'done');
    await bench.look();
    const [end] = await bench.told();
    expect(end).toEqual(recovered('crm'));
    expect(end?.data).not.toHaveProperty('unwatched');
  });

  it('that could not be read is watched no longer, too, where each command that looks ends in a moment', async () => {
    const bench = await openNoticeBench({ runsSchedules: false });
    const lookAnew = async (laterMs: number): Promise<void> => {
      bench.clock.advance(laterMs);
      bench.restart();
      await bench.look();
    };
    await bench.file('crm', 'failed');
    await lookAnew(0);
    bench.gone.add('crm');
    await lookAnew(hour);
    // However many commands a minute has, the feed is away for a moment.
    for (let count = 0; count < goneAfter.looks; count += 1) await lookAnew(0);
    bench.gone.clear();
    await lookAnew(hour);
    bench.gone.add('crm');
    await lookAnew(hour);
    // A tick fails and another one ends well meanwhile, and the absence goes on.
    await bench.schedule('crm', 'take');
    await bench.tick('crm', 'failed');
    await lookAnew(minute);
    await bench.tick('crm', 'nothingNew');
    await lookAnew(minute);
    expect(await bench.told()).toEqual([bad('crm', 'failed')]);
    await lookAnew(goneAfter.ms - 2 * minute);
    expect(await bench.told()).toEqual([unwatched]);
    expect(await bench.ledger.deliveries.conditions()).toMatchObject([{ feed: 'crm', troubles: [] }]);
    await lookAnew(hour);
    expect(await bench.told()).toEqual([]);
  });

  it('that could not be read stays news shortly after a start, however long its feed was not there before', async () => {
    const bench = await openNoticeBench();
    await bench.file('crm', 'failed');
    await bench.look();
    bench.gone.add('crm');
    await bench.look();
    bench.clock.advance(hour);
    bench.restart();
    for (let look = 1; look < goneAfter.looks; look += 1) await bench.look();
    expect(await bench.told()).toEqual([bad('crm', 'failed')]);
    await bench.look();
    expect(await bench.told()).toEqual([unwatched]);
  });

  it('that could not be read is news also where its feed was away for a moment when it was first looked at', async () => {
    const bench = await openNoticeBench();
    await bench.file('crm', 'failed');
    bench.gone.add('crm');
    await bench.look();
    bench.gone.clear();
    await bench.look();
    expect(await bench.told()).toEqual([bad('crm', 'failed')]);
  });

  it('that is expected no longer has not come, also where the schedule of its feed stays, or is not due', async () => {
    const bench = await openNoticeBench({ feeds });
    await bench.schedule('crm', 'take');
    await bench.file('crm', 'done');
    await bench.look();
    bench.clock.advance(26 * hour);
    await bench.schedule('crm', 'take');
    await bench.look();
    bench.restart({ crm: { expectEveryMs: null } });
    await bench.look();
    expect(await bench.told()).toEqual([
      bad('crm', 'missed'),
      { ...recovered('crm'), data: expect.objectContaining({ ended: ['missed'], unwatched: true }) },
    ]);
  });

  it('is waited for anew where its feed was taken out of the configuration and added again', async () => {
    const bench = await openNoticeBench({ feeds });
    await bench.schedule('crm', 'take');
    await bench.file('crm', 'done');
    await bench.look();
    bench.restart({});
    await bench.ledger.schedules.remove('crm');
    await bench.look();
    bench.clock.advance(100 * hour);
    await bench.schedule('crm', 'take');
    bench.restart(feeds);
    bench.clock.advance(2 * minute);
    await bench.look();
    expect(await bench.told()).toEqual([]);
    bench.clock.advance(26 * hour);
    await bench.look();
    expect((await bench.told()).at(-1)).toMatchObject({ data: { troubles: expect.arrayContaining(['missed']) } });
  });

  it('is not made up for by a file that was refused', async () => {
    const bench = await openNoticeBench({ feeds });
    await bench.file('crm', 'done');
    await bench.look();
    bench.clock.advance(26 * hour);
    await bench.file('crm', 'stopped');
    await bench.look();
    expect((await bench.told()).at(-1)).toEqual(bad('crm', 'guard', 'missed'));
  });

  it('is not judged right after a start: the file may lie there', async () => {
    const bench = await openNoticeBench({ feeds });
    await bench.file('crm', 'done');
    await bench.look();
    bench.clock.advance(72 * hour);
    bench.restart();
    await bench.look();
    expect(await bench.told()).toEqual([]);
    await bench.file('crm', 'done');
    bench.clock.advance(2 * minute);
    await bench.look();
    expect(await bench.told()).toEqual([]);
  });

  it('is news as soon where the clock was ahead at the last file, or at the first start, and was set back', async () => {
    for (const files of [1, 0]) {
      const bench = await openNoticeBench({ feeds, runsSchedules: false });
      bench.clock.advance(30 * 24 * hour);
      await bench.schedule('crm', 'take');
      await bench.look();
      if (files > 0) await bench.file('crm', 'done');
      bench.clock.advance(-30 * 24 * hour);
      await bench.look();
      bench.clock.advance(25 * hour);
      bench.restart();
      await bench.look();
      bench.clock.advance(hour);
      await bench.look();
      expect(await bench.told()).toEqual([bad('crm', 'missed')]);
      // Past all that was written ahead.
      bench.clock.advance(29 * 24 * hour);
      for (let looks = 0; looks < 3; looks += 1) {
        bench.clock.advance(5 * minute);
        await bench.look();
      }
      expect(await bench.told()).toEqual([]);
      await bench.file('crm', 'done');
      await bench.look();
      expect(await bench.told()).toEqual([recovered('crm')]);
    }
  });

  it('is not judged while its schedule is paused or at work, and waited for anew when it is resumed', async () => {
    const bench = await openNoticeBench({ feeds });
    const { schedules } = bench.ledger;
    await bench.schedule('crm', 'take');
    await schedules.setPaused('crm', bench.clock.nowMs(), null);
    await bench.look();
    bench.clock.advance(72 * hour);
    await bench.look();
    await schedules.resume('crm', bench.clock.nowMs(), bench.clock.nowMs() + 48 * hour);
    await bench.look();
    expect(await bench.told()).toEqual([]);
    bench.clock.advance(27 * hour);
    const tick = await bench.tick('crm', null);
    await bench.look();
    expect(await bench.told()).toEqual([]);
    await bench.endTick(tick, 'nothingNew');
    await bench.look();
    expect(await bench.told()).toEqual([bad('crm', 'missed')]);
  });
});

describe('A schedule', () => {
  it('that stopped is news, and so is its next tick', async () => {
    const bench = await openNoticeBench();
    await bench.schedule('phone-numbers', 'snapshot');
    await bench.look();
    bench.clock.advance(hour + 4 * minute);
    await bench.look();
    expect(await bench.told()).toEqual([]);
    bench.clock.advance(2 * minute);
    await bench.look();
    await bench.schedule('phone-numbers', 'snapshot');
    await bench.look();
    expect(await bench.told()).toEqual([bad('phone-numbers', 'missed'), recovered('phone-numbers')]);
  });

  it('that failed is told with what happened and what to do, without the words of others', async () => {
    const bench = await openNoticeBench();
    await bench.schedule('crm', 'take');
    const id = await bench.tick('crm', null);
    const words = { message: 'it answered 404: no file of Ada Lovelace', plainMessage: 'it answered 404' };
    const end = {
      outcome: 'failed',
      code: 'urlNotFound',
      kind: 'unreachable',
      hint: 'Check the URL.',
      ...words,
    } as const;
    await bench.ledger.schedules.end(id, bench.clock.nowMs(), end);
    await bench.look();
    const [told] = await bench.told();
    expect(told?.data.began).toEqual([
      {
        ...{ trouble: 'failed', run: null, code: 'urlNotFound', dead: null },
        ...{ message: 'it answered 404', hint: 'Check the URL.' },
      },
    ]);
    expect(bench.log.join('')).not.toContain('404');
  });

  it('that failed under an older version, which did not tell the words of others apart, is told without what happened', async () => {
    const bench = await openNoticeBench();
    await bench.schedule('crm', 'take');
    await bench.tick('crm', 'failed');
    await bench.look();
    const [told] = await bench.told();
    expect(told?.data.began).toMatchObject([{ trouble: 'failed', code: 'why-failed', message: null }]);
  });

  it('that failed and is taken out of the configuration has not recovered', async () => {
    const bench = await openNoticeBench();
    await bench.schedule('phone-numbers', 'snapshot');
    await bench.tick('phone-numbers', 'failed');
    await bench.look();
    await bench.ledger.schedules.remove('phone-numbers');
    await bench.look();
    expect(await bench.told()).toMatchObject([{ type: 'feed.bad' }, { data: { ended: ['failed'], unwatched: true } }]);
  });

  it('that failed and is taken out of the configuration has not recovered either where its feed had files before, or a failed one since', async () => {
    const bench = await openNoticeBench();
    await bench.schedule('crm', 'take');
    await bench.file('crm', 'done');
    await bench.tick('crm', 'failed');
    await bench.look();
    await bench.file('crm', 'failed');
    await bench.look();
    await bench.file('crm', 'done');
    await bench.look();
    await bench.ledger.schedules.remove('crm');
    await bench.look();
    expect(await bench.told()).toMatchObject([{ type: 'feed.bad' }, { data: { ended: ['failed'], unwatched: true } }]);
    expect(bench.lines.at(-1)).toBe(
      'info crm failed feed no longer watched for this: it was removed from the configuration',
    );
  });

  it('that is taken out of the configuration does not hide that a file after a failed one is well', async () => {
    const bench = await openNoticeBench();
    await bench.schedule('crm', 'take');
    await bench.tick('crm', 'run');
    await bench.file('crm', 'failed');
    await bench.look();
    await bench.ledger.schedules.remove('crm');
    await bench.file('crm', 'done');
    await bench.look();
    const [, again] = await bench.told();
    expect(again?.data).not.toHaveProperty('unwatched');
    expect(bench.lines.at(-1)).toBe('info crm failed feed recovered');
  });

  it('that stood still and is taken out of the configuration is watched no longer, though files are expected still', async () => {
    const bench = await openNoticeBench({ feeds: { crm: { expectEveryMs: 26 * hour } } });
    await bench.schedule('crm', 'take');
    await bench.file('crm', 'done');
    await bench.look();
    bench.clock.advance(2 * hour);
    await bench.look();
    await bench.ledger.schedules.remove('crm');
    await bench.look();
    expect(await bench.told()).toMatchObject([{ type: 'feed.bad' }, { data: { ended: ['missed'], unwatched: true } }]);
  });

  it('is not missed by a process that does not run schedules', async () => {
    const bench = await openNoticeBench({ runsSchedules: false });
    await bench.schedule('phone-numbers', 'snapshot');
    await bench.look();
    bench.clock.advance(72 * hour);
    await bench.look();
    expect(await bench.told()).toEqual([]);
  });

  it('whose tick failed is bad until one ends well; skipped ones and those of one user say nothing', async () => {
    const bench = await openNoticeBench();
    await bench.schedule('phone-numbers', 'snapshot');
    await bench.look();
    await bench.tick('phone-numbers', 'failed', 'US1');
    await bench.look();
    expect(await bench.told()).toEqual([]);
    await bench.tick('phone-numbers', 'failed');
    await bench.look();
    for (let skipped = 0; skipped < 21; skipped += 1) {
      await bench.tick('phone-numbers', 'skipped');
      if (skipped % 10 === 0) await bench.look();
    }
    expect(await bench.told()).toEqual([bad('phone-numbers', 'failed')]);
    await bench.tick('phone-numbers', 'snapshot');
    await bench.look();
    expect(await bench.told()).toEqual([recovered('phone-numbers')]);
  });
});

describe('a file whose host is away', () => {
  it.each(['applying', 'cancelling'] as const)(
    'is reported where its run is %s and nothing of it is left to write',
    async (state) => {
      const bench = await openNoticeBench({ feeds: { crm: { expectEveryMs: hour } } });
      bench.away.push('a');
      await bench.file('crm', state, 'r1', 'a');
      await bench.look();
      expect(await bench.told()).toMatchObject([{ type: 'feed.bad', feed: 'crm', data: { troubles: ['hostAway'] } }]);
      expect(JSON.stringify((await bench.ledger.deliveries.list({ states: ['waiting'], limit: 9 }))[0])).toContain(
        'name of a',
      );
      // The next export is missing although that one waits.
      bench.clock.advance(2 * hour);
      await bench.look();
      expect(await bench.told()).toMatchObject([{ type: 'feed.bad', data: { troubles: ['hostAway', 'missed'] } }]);
    },
  );

  it('is at work while other hosts write its rows', async () => {
    const bench = await openNoticeBench({ feeds: { crm: { expectEveryMs: hour } } });
    await applyingRun(bench.ledger, 'r1', ['k1'], { feed: 'crm', host: 'a' });
    bench.away.push('a');
    bench.clock.advance(2 * hour);
    await bench.look();
    expect(await bench.told()).toEqual([]);
  });
});
