/** When a feed is bad, and when that is news (`docs/rules.md`, "Schedules" and "Guards"; notices). */
import { describe, expect, it } from 'vitest';
import type { FeedTrouble } from '#src/ledger/deliveries.ts';
import type { FeedStanding, LastRun } from '#src/ledger/rules/feeds.ts';
import { changeOf, type FeedFacts, noticeOf, troublesOf } from '#src/notices/feed-condition.ts';
import { sentenceOf } from '#src/notices/words.ts';

const nowMs = Date.UTC(2026, 10, 21);
const minute = 60_000;

function run(state: LastRun['state'], parts: Partial<LastRun> = {}): LastRun {
  return { id: 'r1', state, code: null, deadCount: 0, deadOpen: state === 'doneWithDead', ...parts };
}

function standing(last: LastRun | null, parts: Partial<FeedStanding> = {}): FeedStanding {
  const none = {
    atWork: false,
    acceptedAtMs: null,
    isCancelledSince: false,
    failed: null,
    stopped: null,
    acceptedSequence: 0,
    newestSequence: 0,
  };
  return { feed: 'crm', createdAtMs: 0, last, ...none, ...parts };
}

function facts(parts: Partial<FeedFacts>): FeedFacts {
  return {
    feed: 'crm',
    exists: true,
    reported: [],
    causes: null,
    goodSinceMs: null,
    failedFile: null,
    standing: null,
    tick: null,
    expected: [],
    outage: null,
    onHostAway: null,
    ...parts,
  };
}

const expected = (sinceMs: number, canBeJudged = true) => [
  { of: 'missedFile' as const, everyMs: 60 * minute, fromMs: nowMs - sinceMs, canBeJudged },
];
const outage = (sinceMs: number) => ({ code: 'serviceUnreachable', sinceMs: nowMs - sinceMs, outageAfterMs: minute });
const failedTick = { failed: true, code: 'notFound' };
const goodTick = { failed: false, code: null };

const kinds = (given: Partial<FeedFacts>): readonly FeedTrouble[] =>
  troublesOf(facts(given), nowMs).map(({ trouble }) => trouble);

describe('A feed is', () => {
  it.each<[string, Partial<FeedFacts>, readonly FeedTrouble[]]>([
    ['good before its first file', {}, []],
    ['good when its last file is done', { standing: standing(run('done')) }, []],
    ['bad while letters of its last file are open', { standing: standing(run('doneWithDead')) }, ['deadRows']],
    ['good when they are all closed', { standing: standing(run('doneWithDead', { deadOpen: false })) }, []],
    ['bad when a guard stopped its last file', { standing: standing(run('stopped')) }, ['guard']],
    ['bad when its last file could not be read', { standing: standing(run('failed')) }, ['failed']],
    ['bad when its last tick failed', { tick: failedTick }, ['failed']],
    ['bad once, when file and tick failed', { standing: standing(run('failed')), tick: failedTick }, ['failed']],
    ['good when it is gone: no newer file can come', { standing: standing(run('failed')), exists: false }, []],
    [
      'not judged failed while it cannot be seen whether it is gone',
      { standing: standing(run('failed')), exists: null },
      [],
    ],
    ['good when its last tick ended well', { tick: goodTick }, []],
    ['bad when an expected file is overdue', { expected: expected(61 * minute) }, ['missed']],
    [
      'bad when one of two things is overdue',
      { expected: [...expected(minute), ...expected(61 * minute)] },
      ['missed'],
    ],
    ['good until then', { expected: expected(60 * minute) }, []],
    ['not judged missed while it is paused or at work', { expected: expected(99 * minute, false) }, []],
    ['bad when an outage lasts', { outage: outage(minute) }, ['outage']],
    ['good in an outage that is no news yet', { outage: outage(minute - 1) }, []],
    [
      'bad for several reasons, in a fixed order',
      {
        standing: standing(run('doneWithDead')),
        tick: failedTick,
        expected: expected(99 * minute),
        outage: outage(minute),
      },
      ['outage', 'failed', 'deadRows', 'missed'],
    ],
  ])('%s', (_, given, troubles) => {
    expect(kinds(given)).toEqual(troubles);
  });

  it('bad with the run and the code behind it', () => {
    const stopped = standing(run('stopped', { code: 'tooManyUpdates' }));
    expect(troublesOf(facts({ standing: stopped }), nowMs)).toEqual([
      { trouble: 'guard', runId: 'r1', code: 'tooManyUpdates', deadCount: null, onHost: null, why: null },
    ]);
    const dead = standing(run('doneWithDead', { deadCount: 3 }));
    expect(troublesOf(facts({ standing: dead, tick: failedTick }), nowMs)).toEqual([
      { trouble: 'failed', runId: null, code: 'notFound', deadCount: null, onHost: null, why: null },
      { trouble: 'deadRows', runId: 'r1', code: null, deadCount: 3, onHost: null, why: null },
    ]);
  });
});

it('is bad while a host is away that alone can read a file, and the notice names both', () => {
  const onHostAway = { runId: 'r7', file: 'people.csv', host: 'berlin-1:/srv/patchbay' };
  const troubles = troublesOf(facts({ onHostAway }), nowMs);
  const { runId, ...onHost } = onHostAway;
  expect(troubles).toEqual([{ trouble: 'hostAway', runId, code: null, deadCount: null, onHost, why: null }]);
  const change = changeOf([], troubles);
  if (change?.kind !== 'bad') throw new Error('it is bad');
  const notice = noticeOf({
    id: 'n1',
    feed: 'crm',
    change,
    troubles,
    badSinceMs: nowMs,
    unwatched: false,
    cancelled: false,
    atMs: nowMs,
  });
  expect(notice.data.began).toEqual([{ trouble: 'hostAway', run: 'r7', code: null, dead: null, ...onHost }]);
  expect(sentenceOf(notice, null)).toBe(
    'Patchbay: crm needs attention: the file people.csv is on the host berlin-1:/srv/patchbay, which is away; later files go on without it.',
  );
});

describe('What cannot be judged now stays as it was told', () => {
  const atWork = standing(run('done'), { atWork: true });
  it.each<[string, Partial<FeedFacts>, readonly FeedTrouble[]]>([
    ['a stopped run that was approved is at work', { reported: ['guard'], standing: atWork }, ['guard']],
    ['the file after a failed one is at work', { reported: ['failed'], standing: atWork, tick: goodTick }, ['failed']],
    ['the file after a bad one is at work', { reported: ['deadRows'], standing: atWork }, ['deadRows']],
    ['a missed file is at work', { reported: ['missed'], expected: expected(99 * minute, false) }, ['missed']],
    ['an outage that was told begins anew', { reported: ['outage'], outage: outage(0) }, ['outage']],
    [
      'whether its feed is there',
      { reported: ['failed'], standing: standing(run('failed')), exists: null },
      ['failed'],
    ],
    ['all last ticks were skipped', { reported: ['failed'], tick: { failed: null, code: null } }, ['failed']],
    ['nothing of it was reported: then nothing is bad', { standing: atWork }, []],
  ])('%s', (_, given, troubles) => {
    expect(kinds(given)).toEqual(troubles);
  });

  it.each<[string, Partial<FeedFacts>]>([
    ['the outage ended', { reported: ['outage'] }],
    [
      'the file after it is done, wherever its feed is',
      { reported: ['failed'], standing: standing(run('done')), exists: null },
    ],
    ['the file after it is done', { reported: ['guard', 'deadRows', 'failed'], standing: standing(run('done')) }],
    ['nobody expects a file any more', { reported: ['missed'] }],
    ['the schedule is gone', { reported: ['failed'] }],
  ])('and no longer: %s', (_, given) => {
    expect(kinds(given)).toEqual([]);
  });
});

describe('One notice per change of state', () => {
  const now = (...troubles: readonly FeedTrouble[]) =>
    troubles.map((trouble) => ({ trouble, runId: null, code: null, deadCount: null, onHost: null, why: null }));
  it.each<[string, readonly FeedTrouble[], readonly FeedTrouble[], string | null]>([
    ['good stays good', [], [], null],
    ['bad stays bad, however many runs are bad', ['guard'], ['guard'], null],
    ['a trouble begins', [], ['guard'], 'bad'],
    ['a further trouble begins', ['guard'], ['guard', 'missed'], 'bad'],
    ['one takes the place of another', ['guard'], ['deadRows'], 'bad'],
    ['a trouble ends while others stay', ['guard', 'missed'], ['missed'], 'eased'],
    ['the last trouble ends', ['guard', 'missed'], [], 'recovered'],
  ])('%s', (_, told, then, kind) => {
    expect(changeOf(told, now(...then))?.kind ?? null).toBe(kind);
  });

  it('names what began, and at the end all that was', () => {
    expect(changeOf(['guard'], now('guard', 'missed'))).toMatchObject({ began: [{ trouble: 'missed' }] });
    expect(changeOf(['guard', 'missed'], [])).toEqual({ kind: 'recovered', ended: ['guard', 'missed'] });
  });
});
