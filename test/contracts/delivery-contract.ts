/** Deliveries wait, arrive or die; what was told of a feed stands beside them; what the runs say of a feed is read at once. */
import { expect, test } from 'vitest';
import { type DeliveryRecord, type FeedCondition, type NewDelivery, waitingMax } from '#src/ledger/deliveries.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunState } from '#src/ledger/runs.ts';
import {
  act,
  createdAtMs,
  deadRow,
  newRecord,
  newRun,
  pendingOf,
  settleAs,
  settled,
  slice,
  stagingRun,
} from './support/build.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

const at = createdAtMs;
const why = { code: 'webhookFailed', message: 'the webhook answered 503' };

function notice(id: string, parts: Partial<NewDelivery> = {}): NewDelivery {
  return {
    id,
    kind: 'notice',
    type: 'feed.bad',
    feed: `feed-of-${id}`,
    data: { troubles: ['guard'] },
    atMs: at,
    ...parts,
  };
}

function change(id: string, parts: Partial<NewDelivery> = {}): NewDelivery {
  return notice(id, { kind: 'change', type: 'phoneNumber.changed', feed: 'phone-numbers', ...parts });
}

const good: FeedCondition = { feed: 'crm', troubles: [], sinceMs: at };

async function enter(ledger: Ledger, ...deliveries: readonly NewDelivery[]): Promise<void> {
  await ledger.deliveries.setCondition(good, deliveries);
}

const idsDue = async (ledger: Ledger, untilMs: number, limit = 10) =>
  (await ledger.deliveries.nextDue(untilMs, limit)).map(({ id }) => id);

/** A file's run of that feed that reached that state. */
async function fileRun(ledger: Ledger, id: string, state: RunState, parts: Parameters<typeof newRun>[1] = {}) {
  const run = await stagingRun(ledger, id, { feed: 'crm', ...parts });
  const reason = { code: `why-${id}`, message: '', hint: null, facts: {} };
  await ledger.runs.move(id, ['staging'], state, { atMs: at + 5, reason });
  return run;
}

export function deliveryContract(open: OpenLedger): void {
  test('a delivery is due at once, whatever the wall clock said when it was entered, with all that it is to tell', async () => {
    const { ledger, reopen } = await openForTest(open);
    await enter(ledger, notice('n1'));
    expect(await (await reopen()).deliveries.get('n1')).toEqual({
      ...notice('n1'),
      state: 'waiting',
      attempts: 0,
      dueAtMs: 0,
      endedAtMs: null,
      code: null,
      message: null,
    });
    expect(await ledger.deliveries.get('unknown')).toBeNull();
    expect(await idsDue(ledger, at - 3_600_000)).toEqual(['n1']);
  });

  test('entering an id twice is entering it once', async () => {
    const { ledger } = await openForTest(open);
    await enter(ledger, notice('n1'));
    await ledger.deliveries.tried('n1', at + 1, { state: 'delivered' });
    await enter(ledger, notice('n1', { type: 'another' }));
    expect(await ledger.deliveries.get('n1')).toMatchObject({ state: 'delivered', type: 'feed.bad', attempts: 1 });
  });

  test('notices are due before changes, each in the order of entry, up to the limit', async () => {
    const { ledger } = await openForTest(open);
    await enter(ledger, change('c1'), change('c2', { atMs: at - 5 }), notice('n1'), notice('n2', { atMs: at - 5 }));
    expect(await idsDue(ledger, at)).toEqual(['n1', 'n2', 'c1', 'c2']);
    expect(await idsDue(ledger, at, 3)).toEqual(['n1', 'n2', 'c1']);
    expect(await idsDue(ledger, at, 1)).toEqual(['n1']);
  });

  test('a notice waits for the one before it of the same feed', async () => {
    const { ledger } = await openForTest(open);
    await enter(ledger, notice('n1', { feed: 'crm' }), notice('n2', { feed: 'crm' }), notice('n3', { feed: 'other' }));
    await ledger.deliveries.tried('n1', at, { state: 'waiting', why: why, nextDueAtMs: at + 100 });
    expect(await idsDue(ledger, at + 50)).toEqual(['n3']);
    await ledger.deliveries.tried('n1', at + 100, { state: 'delivered' });
    expect(await idsDue(ledger, at + 100)).toEqual(['n2', 'n3']);
  });

  test('a failed try waits for the next one, with the reason', async () => {
    const { ledger } = await openForTest(open);
    await enter(ledger, notice('n1'));
    await ledger.deliveries.tried('n1', at + 1, { state: 'waiting', why: why, nextDueAtMs: at + 500 });
    expect(await ledger.deliveries.get('n1')).toMatchObject({
      state: 'waiting',
      attempts: 1,
      dueAtMs: at + 500,
      ...why,
    });
    expect(await idsDue(ledger, at + 499)).toEqual([]);
    await ledger.deliveries.tried('n1', at + 500, { state: 'delivered' });
    expect(await ledger.deliveries.get('n1')).toMatchObject({
      state: 'delivered',
      attempts: 2,
      endedAtMs: at + 500,
      code: null,
    });
  });

  test('without a next try it is dead; a person’s retry gives it all its tries again, once', async () => {
    const { ledger } = await openForTest(open);
    await enter(ledger, notice('n1'), notice('n2'));
    await ledger.deliveries.tried('n1', at + 1, { state: 'dead', why: why });
    expect(await ledger.deliveries.get('n1')).toMatchObject({ state: 'dead', attempts: 1, endedAtMs: at + 1, ...why });
    expect((await ledger.deliveries.list({ states: ['dead'], limit: 10 })).map(({ id }) => id)).toEqual(['n1']);
    expect(await ledger.deliveries.retry('n1', at + 9)).toBe(true);
    expect(await ledger.deliveries.get('n1')).toMatchObject({
      state: 'waiting',
      attempts: 0,
      dueAtMs: 0,
      endedAtMs: null,
    });
    expect(await ledger.deliveries.retry('n1', at + 9)).toBe(false);
    expect(await ledger.deliveries.retry('n2', at + 9)).toBe(false);
  });

  test('what failed is due once its addressee accepts again, each in its order, with its tries, and not before the addressee allows it', async () => {
    const { ledger } = await openForTest(open);
    const minute = 60_000;
    const failed = (id: string, nextDueAtMs: number, parts = {}) =>
      ledger.deliveries.tried(id, at, { state: 'waiting', why, nextDueAtMs, ...parts });
    await enter(ledger, notice('n1', { feed: 'crm' }), notice('n2', { feed: 'crm' }), notice('n3'), notice('n4'));
    await enter(ledger, notice('other', { feed: 'crm@slack' }), change('c1'));
    for (const id of ['n1', 'n3', 'other', 'c1']) await failed(id, at + 300 * minute);
    await failed('n4', at + 300 * minute, { notBeforeMs: at + 2 * minute });
    expect(await idsDue(ledger, at)).toEqual([]);
    const isTo = (feed: string) => !feed.endsWith('@slack');
    expect(await ledger.deliveries.bringForward(isTo, at + minute)).toBe(4);
    expect(await idsDue(ledger, at + minute)).toEqual(['n1', 'n3', 'c1']);
    expect(await idsDue(ledger, at + 2 * minute)).toEqual(['n1', 'n3', 'n4', 'c1']);
    expect(await ledger.deliveries.get('n3')).toMatchObject({ attempts: 1, failingSinceMs: at, ...why });
    await ledger.deliveries.tried('n1', at + minute, { state: 'delivered' });
    expect(await idsDue(ledger, at + minute)).toEqual(['n2', 'n3', 'c1']);
    expect(await ledger.deliveries.bringForward(isTo, at + minute)).toBe(0);
  });

  test('what is refused while its addressee accepts others is brought forward once in ten minutes', async () => {
    const { ledger } = await openForTest(open);
    const minute = 60_000;
    await enter(ledger, notice('n1'));
    const dueAtMs = at + 300 * minute;
    const refused = (atMs: number, extra = {}) =>
      ledger.deliveries.tried('n1', atMs, { state: 'waiting', why, nextDueAtMs: dueAtMs, ...extra });
    const broughtAt = (nowMs: number) => ledger.deliveries.bringForward(() => true, nowMs);
    await refused(at);
    expect(await broughtAt(at + minute)).toBe(1);
    expect(await ledger.deliveries.get('n1')).toMatchObject({ dueAtMs: at + minute, insteadOfMs: dueAtMs });
    await refused(at + minute, { isExtra: true });
    expect(await ledger.deliveries.get('n1')).not.toHaveProperty('insteadOfMs');
    expect(await broughtAt(at + 2 * minute)).toBe(0);
    expect(await broughtAt(at + 11 * minute)).toBe(1);
    expect(await ledger.deliveries.get('n1')).toMatchObject({ attempts: 1, failingSinceMs: at });
  });

  test('a person’s retry of a notice that waits makes it due, and those that it waits for, with all their tries', async () => {
    const { ledger } = await openForTest(open);
    await enter(ledger, ...['n1', 'n2', 'n3'].map((id) => notice(id, { feed: 'crm' })), notice('n4'));
    for (const id of ['n1', 'n4']) {
      await ledger.deliveries.tried(id, at, { state: 'waiting', why, nextDueAtMs: at + 500, notBeforeMs: at + 400 });
    }
    expect(await ledger.deliveries.retry('n2', at + 9, act('deadRetry'))).toBe(true);
    expect(await idsDue(ledger, at + 9)).toEqual(['n1']);
    const first = await ledger.deliveries.get('n1');
    expect(first).toMatchObject({ state: 'waiting', attempts: 0, dueAtMs: 0 });
    expect(first).not.toHaveProperty('failingSinceMs');
    expect(await ledger.acts.list({ limit: 9 })).toMatchObject([{ kind: 'deadRetry', facts: { notice: 'n2' } }]);
    expect(await ledger.deliveries.retry('n2', at + 9, act('deadRetry'))).toBe(false);
    await ledger.deliveries.tried('n1', at + 10, { state: 'delivered' });
    expect(await idsDue(ledger, at + 10)).toEqual(['n2']);
  });

  test('what a person drops is neither tried nor open any more; the act is entered, and what was not dead stays', async () => {
    const { ledger } = await openForTest(open);
    await enter(ledger, notice('n1'), notice('n2'), notice('n3'));
    for (const id of ['n1', 'n2']) await ledger.deliveries.tried(id, at + 1, { state: 'dead', why });
    expect(await ledger.deliveries.drop(['n1', 'n3', 'unknown'], act('deadDrop'))).toBe(1);
    expect(await ledger.deliveries.get('n1')).toMatchObject({ state: 'dropped', endedAtMs: at + 1, ...why });
    expect(await ledger.deliveries.get('n3')).toMatchObject({ state: 'waiting' });
    expect(await ledger.deliveries.retry('n1', at + 9)).toBe(false);
    expect(await ledger.deliveries.drop(['n1'], act('deadDrop'))).toBe(0);
    expect((await ledger.counts()).deadDeliveries).toBe(1);
    expect(await ledger.acts.list({ limit: 9 })).toMatchObject([{ kind: 'deadDrop', facts: { notices: 1 } }]);
    await ledger.forget(at + 10, 0);
    expect(await ledger.deliveries.get('n1')).toBeNull();
  });

  test('are listed newest first, of several states as one list, page by page also where the last one has left its state', async () => {
    const { ledger } = await openForTest(open);
    await enter(ledger, ...['n1', 'n2', 'n3', 'n4', 'n5'].map((id) => notice(id)));
    for (const id of ['n1', 'n2', 'n3', 'n4']) await ledger.deliveries.tried(id, at + 1, { state: 'dead', why });
    await ledger.deliveries.drop(['n3'], act('deadDrop'));
    const list = async (states: readonly DeliveryRecord['state'][], limit: number, after?: string) =>
      (await ledger.deliveries.list({ states, limit, ...(after === undefined ? {} : { after }) })).map(({ id }) => id);
    expect(await list(['dead'], 9)).toEqual(['n4', 'n2', 'n1']);
    expect(await list(['dead', 'dropped'], 2)).toEqual(['n4', 'n3']);
    expect(await list(['dead', 'dropped'], 2, 'n3')).toEqual(['n2', 'n1']);
    await ledger.deliveries.retry('n2', at + 2);
    expect(await list(['dead'], 9, 'n2')).toEqual(['n1']);
    expect(await list(['dead'], 9, 'unknown')).toEqual([]);
  });

  test('the end of a try that comes late changes nothing', async () => {
    const { ledger } = await openForTest(open);
    await enter(ledger, notice('n1'));
    await ledger.deliveries.tried('n1', at + 1, { state: 'delivered' });
    await ledger.deliveries.tried('n1', at + 2, { state: 'dead', why: why });
    await ledger.deliveries.tried('n1', at + 3, { state: 'delivered' });
    expect(await ledger.deliveries.get('n1')).toMatchObject({ state: 'delivered', attempts: 1, endedAtMs: at + 1 });
  });

  test('what is put off counts no try; what waits for too long expires, counted from a person’s retry', async () => {
    const { ledger } = await openForTest(open);
    await enter(ledger, notice('n1'), notice('n2', { atMs: at + 50 }), notice('n3'));
    await ledger.deliveries.tried('n2', at, { state: 'waiting', why: why, nextDueAtMs: at + 50 });
    await ledger.deliveries.putOff(at + 40);
    expect(await idsDue(ledger, at + 39)).toEqual([]);
    expect(await ledger.deliveries.get('n1')).toMatchObject({ attempts: 0, dueAtMs: at + 40 });
    expect(await ledger.deliveries.get('n2')).toMatchObject({ dueAtMs: at + 50 });
    await ledger.deliveries.tried('n3', at, { state: 'dead', why: why });
    await ledger.deliveries.retry('n3', at + 60);
    const none = { code: 'noWebhook', message: 'no webhook is set' };
    expect(await ledger.deliveries.expire(at + 50, at + 99, none)).toBe(1);
    expect(await ledger.deliveries.get('n1')).toMatchObject({
      state: 'dead',
      attempts: 0,
      endedAtMs: at + 99,
      ...none,
    });
    expect((await ledger.counts()).waitingDeliveries).toBe(2);
  });

  test('at most so many wait: beyond that the oldest die, changes first, with the reason', async () => {
    const { ledger } = await openForTest(open);
    await enter(ledger, notice('first'));
    await enter(ledger, ...Array.from({ length: waitingMax - 1 }, (_, index) => change(`c${index}`)));
    expect((await ledger.counts()).deadDeliveries).toBe(0);
    await enter(ledger, notice('n1'), notice('n2'));
    expect((await ledger.counts()).waitingDeliveries).toBe(waitingMax);
    const dead = await ledger.deliveries.list({ states: ['dead'], limit: 10 });
    expect(dead.map(({ id, code }) => `${id} ${code}`)).toEqual(['c1 tooManyWaiting', 'c0 tooManyWaiting']);
  });

  test('what ended before a moment is forgotten; what waits never is', async () => {
    const { ledger } = await openForTest(open);
    await enter(ledger, ...['n1', 'n2', 'n3', 'n4'].map((id) => notice(id)));
    await ledger.deliveries.tried('n1', at + 1, { state: 'delivered' });
    await ledger.deliveries.tried('n2', at + 1, { state: 'dead', why: why });
    await ledger.deliveries.tried('n3', at + 10, { state: 'delivered' });
    await ledger.forget(at + 10, 0);
    const kept = await Promise.all(['n1', 'n2', 'n3', 'n4'].map((id) => ledger.deliveries.get(id)));
    expect(kept.map((one) => one?.state)).toEqual([undefined, undefined, 'delivered', 'waiting']);
  });

  test('a condition and its deliveries are entered together; the feed is known since the first one', async () => {
    const { ledger, reopen } = await openForTest(open);
    expect(await ledger.deliveries.conditions()).toEqual([]);
    await ledger.deliveries.setCondition({ feed: 'crm', troubles: ['guard', 'missed'], sinceMs: at }, [notice('n1')]);
    await ledger.deliveries.setCondition({ feed: 'a', troubles: ['outage'], sinceMs: at }, []);
    await ledger.deliveries.setCondition({ feed: 'crm', troubles: [], sinceMs: at + 9 }, [notice('n2')]);
    const other = await reopen();
    expect(await other.deliveries.conditions()).toEqual([
      { feed: 'a', troubles: ['outage'], sinceMs: at, knownSinceMs: at },
      { feed: 'crm', troubles: [], sinceMs: at + 9, knownSinceMs: at },
    ]);
    expect((await other.counts()).waitingDeliveries).toBe(2);
    await ledger.deliveries.forgetCondition('crm');
    expect((await ledger.deliveries.conditions()).map(({ feed }) => feed)).toEqual(['a']);
  });

  test('a feed stands as its last file does: redrives, fix-files and cancelled files say nothing of it', async () => {
    const { ledger } = await openForTest(open);
    expect(await ledger.deliveries.standings()).toEqual([]);
    await fileRun(ledger, 'r1', 'done', { createdAtMs: at + 1 });
    await fileRun(ledger, 'r2', 'stopped', { createdAtMs: at + 2 });
    await fileRun(ledger, 'r3', 'cancelled', { createdAtMs: at + 3 });
    await fileRun(ledger, 'r4', 'failed', { createdAtMs: at + 4, kind: 'redrive' });
    await fileRun(ledger, 'r5', 'done', { createdAtMs: at + 5, kind: 'fixFile' });
    await fileRun(ledger, 'r6', 'failed', { feed: 'other' });
    expect(await ledger.deliveries.standings()).toEqual([
      {
        feed: 'crm',
        createdAtMs: at + 1,
        last: { id: 'r2', state: 'stopped', code: 'why-r2', deadCount: 0, deadOpen: false },
        atWork: false,
        acceptedAtMs: at + 1,
        acceptedSequence: 1,
        newestSequence: 5,
        isCancelledSince: false,
        failed: null,
        stopped: { id: 'r2', code: 'why-r2' },
      },
      expect.objectContaining({
        feed: 'other',
        last: expect.objectContaining({ state: 'failed' }),
        acceptedAtMs: null,
      }),
    ]);
  });

  test('a file that is cancelled says so as long as none has ended since', async () => {
    const { ledger } = await openForTest(open);
    const isCancelledSince = async () => (await ledger.deliveries.standings())[0]?.isCancelledSince;
    await fileRun(ledger, 'r1', 'cancelled');
    expect(await isCancelledSince()).toBe(true);
    await fileRun(ledger, 'r2', 'stopped');
    expect(await isCancelledSince()).toBe(false);
    await ledger.runs.move('r2', ['stopped'], 'cancelling', { atMs: at + 50 });
    expect(await isCancelledSince()).toBe(true);
    await ledger.runs.move('r2', ['cancelling'], 'cancelled', { atMs: at + 60 });
    expect(await isCancelledSince()).toBe(true);
    const run = await stagingRun(ledger, 'r3', { feed: 'crm' });
    await ledger.runs.move(run.id, ['staging'], 'done', { atMs: at + 70 });
    expect(await isCancelledSince()).toBe(false);
  });

  test.each(['staging', 'applying'] as const)(
    'a newer file that is %s is at work; the last one stays the last',
    async (state) => {
      const { ledger } = await openForTest(open);
      await fileRun(ledger, 'r1', 'failed');
      await fileRun(ledger, 'r2', state);
      const [standing] = await ledger.deliveries.standings();
      expect(standing).toMatchObject({ last: { id: 'r1' }, atWork: true, acceptedAtMs: null });
    },
  );

  test('what a fix-file leaves dead is open too', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1', { feed: 'crm' });
    await ledger.runs.stage(slice(run, { dead: [deadRow('k1')], counts: { rows: 1, dead: 1 } }));
    await ledger.runs.move('r1', ['staging'], 'doneWithDead', { atMs: at + 5 });
    const [letter] = await ledger.deadLetters.list({ limit: 1 });
    const fix = await stagingRun(ledger, 'r2', { feed: 'crm', kind: 'fixFile' });
    const dead = deadRow('k1', { code: 'emailInvalid', ...(letter === undefined ? {} : { letterId: letter.id }) });
    await ledger.runs.stage(slice(fix, { dead: [dead], counts: { rows: 1, dead: 1 } }));
    await ledger.runs.move('r2', ['staging'], 'doneWithDead', { atMs: at + 6 });
    expect(await ledger.deadLetters.get(letter?.id ?? '')).toMatchObject({ state: 'closed' });
    const [standing] = await ledger.deliveries.standings();
    expect(standing?.last).toMatchObject({ id: 'r1', deadOpen: true });
  });

  test('dead rows of the last file are open until each of its letters is closed, also by a redrive', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1', { feed: 'crm' });
    await ledger.runs.stage(slice(run, { dead: [deadRow('k1'), deadRow('k2')], counts: { rows: 2, dead: 2 } }));
    await ledger.runs.move('r1', ['staging'], 'doneWithDead', { atMs: at + 5 });
    await ledger.runs.prune('r1');
    const last = async () => (await ledger.deliveries.standings())[0]?.last;
    expect(await last()).toMatchObject({ state: 'doneWithDead', deadCount: 2, deadOpen: true });
    const letters = await ledger.deadLetters.list({ limit: 10 });
    const redrive = await ledger.deadLetters.enterRedrive(newRun('r2', { feed: 'crm' }), { metBy: ['r1'] });
    if (redrive === null) throw new Error('no redrive was entered');
    await ledger.runs.beginStaging('r2', at + 10);
    expect(await last()).toMatchObject({ deadOpen: true });
    await closeLetters(ledger, redrive, letters);
    expect(await last()).toMatchObject({ id: 'r1', state: 'doneWithDead', deadOpen: false });
  });
}

/** The redrive's rows reach their contacts. */
async function closeLetters(
  ledger: Ledger,
  redrive: Awaited<ReturnType<typeof stagingRun>>,
  letters: readonly { readonly key: string | null; readonly sequence: number }[],
): Promise<void> {
  const records = letters.map(({ key, sequence }, index) => newRecord(key ?? '', { line: index + 2, sequence }));
  await ledger.runs.stage(slice(redrive, { records, counts: { rows: records.length } }));
  await ledger.runs.move(redrive.id, ['staging'], 'applying', { atMs: at + 20 });
  const ends = (await pendingOf(ledger, redrive)).map((record) => settled(record));
  await settleAs(ledger, redrive, 'w1', ends);
}
