/** Audits are entries in the ledger that whichever engine runs carries out (`docs/rules.md`, "One contact per key", step 7). */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { NewTick } from '#src/ledger/schedules.ts';
import { silentLogger } from '#src/log.ts';
import { createDispatcher, jobsToDo } from '#src/queue/dispatcher.ts';
import type { JobToAdd } from '#src/queue/producer.ts';
import { applyingRun, lease, nobodyOwns, pendingOf, settleAs, settled } from '../contracts/support/build.ts';
import { openTempLedger } from '../ledger/support/temp-ledger.ts';
import { steppedClock } from '../runs/support/stepped-clock.ts';

async function openedDispatcher(jobsMax: number) {
  const { ledger, close } = await openTempLedger();
  onTestFinished(() => close());
  const clock = steppedClock();
  const jobs: JobToAdd[] = [];
  const producer = {
    add: async (added: readonly JobToAdd[]) => {
      jobs.push(...added);
      return true;
    },
    giveUp: () => undefined,
    forget: async () => undefined,
    depths: async () => null,
    limitAtOnce: async () => undefined,
    schedule: async () => true,
    queue: () => {
      throw new Error('nobody looks at the queue');
    },
    close: async () => undefined,
  };
  const dispatcher = createDispatcher({ ledger, producer, clock, log: silentLogger(), jobsMax });
  onTestFinished(() => dispatcher.stop());
  return { ledger, clock, jobs, dispatcher, producer };
}

async function openedAudits() {
  const { ledger, clock, jobs, dispatcher } = await openedDispatcher(100);
  /** Ends a run of that one key, whose audit is due `dueInMs` from now; answers the audit's id. */
  const audited = async (id: string, key: string, dueInMs: number): Promise<string> => {
    const run = await applyingRun(ledger, id, [key]);
    await settleAs(
      ledger,
      run,
      'w1',
      (await pendingOf(ledger, run)).map((record) => settled(record)),
    );
    const atMs = clock.nowMs();
    await ledger.audits.enter({ runId: id, atMs, firstDueAtMs: atMs + dueInMs, secondDueAtMs: atMs + dueInMs + 1 });
    await ledger.runs.move(id, ['applying'], 'done', { atMs });
    return (await ledger.audits.ofRun(id))[0]?.id ?? '';
  };
  const sweep = async () => {
    jobs.length = 0;
    await dispatcher.sweep();
    return jobs.filter((job) => job.name === 'audit').map(({ payload }) => payload);
  };
  return { ledger, clock, jobs, audited, sweep };
}

describe('the dispatcher', () => {
  it('hands out audits one at a time, the next one when the first has ended', async () => {
    const { ledger, audited, sweep } = await openedAudits();
    const first = await audited('r1', 'k1', 0);
    const second = await audited('r2', 'k2', 0);
    expect(await sweep()).toEqual([{ auditId: first }]);
    await ledger.audits.finish(first, 1);
    expect(await sweep()).toEqual([{ auditId: second }]);
  });

  it('hands out one when it is due, and waits for that itself: what the queue delays ends by the wall clock', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { clock, jobs, audited, sweep } = await openedAudits();
    const audit = await audited('r1', 'k1', 20_000);
    expect(await sweep()).toEqual([]);
    await clock.sleep(17_000);
    expect(await sweep()).toEqual([]);
    await clock.sleep(3_000);
    await vi.advanceTimersByTimeAsync(2_999);
    expect(jobs).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(jobs.map((job) => job.payload)).toEqual([{ auditId: audit }]);
  });

  it('hands them out beside runs that are at work, and none while work is paused', async () => {
    const { ledger, audited, sweep, jobs } = await openedAudits();
    const audit = await audited('r1', 'k1', 0);
    await applyingRun(ledger, 'r2', ['k2'], { feed: 'crm' });
    expect(await sweep()).toEqual([{ auditId: audit }]);
    expect(jobs.map((job) => job.name)).toEqual(['upsert-batch', 'audit']);
    await ledger.setPause({ code: 'unreachable', message: 'away', sinceMs: 1 });
    expect(await sweep()).toEqual([]);
  });
});

describe('looks after jobs that have ended', () => {
  /** Batches of one row each. */
  async function openedBatches() {
    const opened = await openedDispatcher(4);
    const keys = ['k1', 'k2', 'k3', 'k4', 'k5', 'k6'];
    await applyingRun(opened.ledger, 'r1', keys, { rowsPerBatch: 1 });
    const looks = vi.spyOn(opened.ledger.runs, 'nextBatches');
    await opened.dispatcher.sweep();
    const batches = opened.jobs.filter(({ name }) => name === 'upsert-batch');
    expect(batches).toHaveLength(4);
    const end = (index: number): void => opened.dispatcher.ended(batches[index]?.id ?? '', false);
    return { ...opened, looks, end };
  }

  it('are one for many while most of the jobs that may wait are there, within a quarter of a second', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { looks, end } = await openedBatches();
    end(0);
    expect(looks).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(249);
    expect(looks).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    await vi.waitFor(() => expect(looks).toHaveBeenCalledTimes(2));
  });

  it('come at once where fewer are left, and where the last look is long ago', async () => {
    const { looks, end, clock } = await openedBatches();
    end(0);
    end(1);
    await vi.waitFor(() => expect(looks).toHaveBeenCalledTimes(2));
    // Those that have not ended in the ledger were added again.
    await clock.sleep(250);
    end(2);
    await vi.waitFor(() => expect(looks).toHaveBeenCalledTimes(3));
  });

  it('decide about a job that ended during one: what that one had read is older', async () => {
    const { ledger, jobs, dispatcher } = await openedDispatcher(4);
    const run = await applyingRun(ledger, 'r1', ['k1']);
    await dispatcher.sweep();
    const [batch] = jobs.splice(0);
    const read = ledger.runs.nextBatches;
    vi.spyOn(ledger.runs, 'nextBatches').mockImplementationOnce(async (...asked) => {
      const waiting = await read(...asked);
      const ends = (await pendingOf(ledger, run)).map((record) => settled(record));
      await settleAs(ledger, run, 'w1', ends);
      await ledger.runs.releaseBatch(run.id, 1, 0, 0);
      dispatcher.ended(batch?.id ?? '', false);
      return waiting;
    });
    await dispatcher.sweep();
    expect(jobs.map(({ name }) => name)).toEqual(['finish-run']);
  });
});

describe('a job', () => {
  it('that the queue did not take is handed out again with the next look', async () => {
    const { ledger, jobs, dispatcher, producer } = await openedDispatcher(4);
    await applyingRun(ledger, 'r1', ['k1']);
    const take = producer.add;
    producer.add = async () => false;
    await dispatcher.sweep();
    producer.add = take;
    dispatcher.wake();
    await vi.waitFor(() => expect(jobs.map(({ payload }) => payload)).toMatchObject([{ runId: 'r1' }]));
  });

  it('that finishes a run is handed out when its last batch was given back, with the requests that it counts', async () => {
    const { ledger } = await openedDispatcher(4);
    const run = await applyingRun(ledger, 'r1', ['k1']);
    const ends = (await pendingOf(ledger, run)).map((record) => settled(record));
    await settleAs(ledger, run, 'w1', ends);
    const names = async () => (await jobsToDo(ledger, nowMs, 4)).map(({ name }) => name);
    expect(await names()).toEqual(['upsert-batch']);
    await ledger.runs.releaseBatch('r1', 1, 0, 0);
    expect(await names()).toEqual(['finish-run']);
  });

  it('of a batch that was put off goes before those of new ones', async () => {
    const { ledger } = await openedDispatcher(4);
    await applyingRun(ledger, 'r1', ['k1', 'k2'], { rowsPerBatch: 1 });
    await ledger.runs.releaseBatch('r1', 1, 0, 0);
    const jobs = (await jobsToDo(ledger, nowMs, 4)).map(({ payload, isNew }) => [payload.batch, isNew]);
    expect(jobs.toSorted()).toEqual([
      [1, false],
      [2, true],
    ]);
  });

  it('that failed is handed out again with the next sweep, and not by the looks before it', async () => {
    const { ledger, jobs, dispatcher } = await openedDispatcher(4);
    const runs = () => jobs.splice(0).map(({ payload }) => payload.runId);
    await applyingRun(ledger, 'r1', ['k1']);
    await dispatcher.sweep();
    const [failed] = jobs;
    expect(runs()).toEqual(['r1']);
    dispatcher.ended(failed?.id ?? '', true);
    await applyingRun(ledger, 'r2', ['k2'], { feed: 'crm' });
    dispatcher.wake();
    await vi.waitFor(() => expect(jobs).not.toEqual([]));
    expect(runs()).toEqual(['r2']);
    await dispatcher.sweep();
    expect(runs()).toEqual(['r1', 'r2']);
  });
});

it.each([0, 1, 2, 3, 4])(
  'a wake is answered by a look, also %i microtasks after the one before has added its job',
  async (later) => {
    const { ledger, dispatcher, producer } = await openedDispatcher(4);
    await applyingRun(ledger, 'r1', ['k1']);
    const looks = vi.spyOn(ledger.runs, 'nextBatches');
    const added = Promise.withResolvers<boolean>();
    producer.add = () => added.promise;
    dispatcher.wake();
    await vi.waitFor(() => expect(looks).toHaveBeenCalledTimes(1));
    await new Promise(setImmediate);
    added.resolve(true);
    for (let microtask = 0; microtask < later; microtask += 1) await Promise.resolve();
    dispatcher.wake();
    await vi.waitFor(() => expect(looks).toHaveBeenCalledTimes(2));
  },
);

it('a run whose rows all have an outcome is finished, whatever number of older ones waits while writing is paused', async () => {
  const { ledger, close } = await openTempLedger();
  onTestFinished(() => close());
  for (let number = 1; number <= 25; number += 1)
    await applyingRun(ledger, `r${number}`, ['k1'], { feed: `f${number}` });
  await applyingRun(ledger, 'whole', ['k1'], { feed: 'last' });
  await ledger.runs.skipPending('whole', 'cancelled', 1);
  const finished = async () =>
    (await jobsToDo(ledger, nowMs, 100)).filter(({ name }) => name === 'finish-run').map(({ payload }) => payload);
  await ledger.setPause({ code: 'unreachable', scope: 'writes', message: 'away', sinceMs: 1 });
  expect(await finished()).toEqual([{ runId: 'whole' }]);
});

/** Ticks and deliveries are entries in the ledger, from which the dispatcher derives jobs (`docs/rules.md`, "Schedules"). */
const nowMs = 1_000;

async function openedSchedules() {
  const { ledger, close } = await openTempLedger();
  onTestFinished(() => close());
  const common = { rule: null, dueAtMs: null, createdAtMs: nowMs };
  await ledger.schedules.put({ ...common, name: 'crm', work: 'take' });
  await ledger.schedules.put({ ...common, name: 'phone-numbers', work: 'snapshot' });
  const tick = (id: string, schedule: string): NewTick => ({
    id,
    schedule,
    trigger: 'request',
    user: null,
    dueAtMs: nowMs,
  });
  await ledger.schedules.request(tick('t1', 'crm'));
  await ledger.schedules.request(tick('t2', 'phone-numbers'));
  const condition = { feed: 'crm', troubles: ['missed' as const], sinceMs: nowMs };
  const delivery = { id: 'd1', kind: 'notice' as const, type: 'feed.bad', feed: 'crm', data: {}, atMs: nowMs };
  await ledger.deliveries.setCondition(condition, [delivery]);
  const jobs = async (atMs = nowMs) => (await jobsToDo(ledger, atMs, 10)).map(({ name, payload }) => [name, payload]);
  return { ledger, jobs };
}

const take = ['take-files', { tickId: 't1' }];
const snapshot = ['snapshot-phone-numbers', { tickId: 't2' }];
const delivery = ['deliver', { deliveryId: 'd1' }];

it('the dispatcher hands out ticks by their work, and deliveries, until they are begun or done', async () => {
  const { ledger, jobs } = await openedSchedules();
  expect(await jobs()).toEqual([take, snapshot, delivery]);
  await ledger.schedules.begin('t1', nowMs);
  await ledger.deliveries.tried('d1', nowMs, { state: 'delivered' });
  expect(await jobs()).toEqual([snapshot]);
});

it('an outage makes snapshots wait; files are taken and what is to be told is told', async () => {
  const { ledger, jobs } = await openedSchedules();
  await ledger.setPause({ code: 'unreachable', message: 'away', sinceMs: nowMs });
  expect(await jobs()).toEqual([take, delivery]);
  await ledger.setPause({ code: 'unreachable', scope: 'writes', message: 'away', sinceMs: nowMs });
  expect(await jobs()).toEqual([take, snapshot, delivery]);
});

it('a cancelled run is ended once its writes on their way are answered, or their process has died', async () => {
  const { ledger } = await openedDispatcher(100);
  const run = await applyingRun(ledger, 'r1', ['k1']);
  await lease(ledger, 'w1', ['k1'], { sequence: run.sequence, nowMs });
  await ledger.contacts.intend({
    contacts: [{ key: 'k1', owned: nobodyOwns, claim: null }],
    ...{ owner: 'w1', runId: 'r1', horizon: { atMs: nowMs + 1_000, spanMs: 1_000 } },
  });
  await ledger.runs.move('r1', ['applying'], 'cancelling', { atMs: nowMs });
  const waits = async (isDead: boolean) =>
    (await jobsToDo(ledger, nowMs, 10, { line: null, leads: true, isOwnerDead: () => isDead }))
      .filter(({ name }) => name === 'finish-run')
      .map(({ inMs }) => inMs > 0);
  expect(await waits(false)).toEqual([true]);
  expect(await waits(true)).toEqual([false]);
  await ledger.contacts.release('w1', ['k1']);
  expect(await waits(false)).toEqual([false]);
});

it('a tick that is begun again is another job, since an ended job of that id may still be there', async () => {
  const { ledger } = await openedSchedules();
  const idOf = async () => (await jobsToDo(ledger, nowMs, 10)).find((job) => job.name === 'take-files')?.id;
  const before = await idOf();
  await ledger.schedules.begin('t1', nowMs);
  await ledger.schedules.reopen(nowMs, 3, new Set());
  expect(await idOf()).not.toBe(before);
});
