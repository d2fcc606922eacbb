/** The work of a tick, and how it ends (`src/schedules/carry-out-tick.ts`). */

import { describe, expect, it } from 'vitest';
import { takeFiles } from '#jobs/take-files.ts';
import { wakeSchedules } from '#jobs/wake-schedules.ts';
import { PatchbayError } from '#src/errors.ts';
import { startableTicks } from '#src/ledger/rules/ticks.ts';
import type { TickEnd } from '#src/ledger/schedules.ts';
import { type SchedulesContext, tickLimitMs } from '#src/schedules/carry-out-tick.ts';
import { reopenTicks, startSchedules } from '#src/schedules/start-schedules.ts';
import { everyHours, hourMs, openScheduleBench } from './support/schedule-bench.ts';

type Take = SchedulesContext['take'];

async function opened(take: Take) {
  const bench = await openScheduleBench();
  const schedules = await startSchedules(bench, [everyHours('crm', 1)]);
  const underWay = new Set<string>();
  const context = { schedules: { ...bench, underWay, tickDue: schedules.tickDue, take } };
  const stop = new AbortController();
  const [tick] = startableTicks(await bench.ledger.schedules.openTicks()).slice(0, 1);
  const tickId = tick?.id ?? '';
  const work = () => takeFiles.process({ tickId }, context, stop.signal);
  return { bench, schedules, context, underWay, stop, tickId, work, ended: () => bench.ledger.schedules.tick(tickId) };
}

/** Hangs until it is told to stop. */
const hanging: Take = (_feed, _trigger, signal) =>
  new Promise((_done, reject) => signal.addEventListener('abort', () => reject(new Error('cut off'))));

const taken: TickEnd = { outcome: 'run', runIds: ['r1'], message: 'leads.csv' };

describe('the job take-files', () => {
  it('takes what the feed of the tick has, ends the tick with it and wakes the dispatcher', async () => {
    const feeds: string[] = [];
    const { bench, work, ended } = await opened(async (feed) => {
      feeds.push(feed);
      return taken;
    });
    const before = bench.wakes.count;
    await work();
    expect(feeds).toEqual(['crm']);
    expect(await ended()).toMatchObject({ ...taken, state: 'ended', attempts: 1 });
    expect(bench.wakes.count).toBe(before + 1);
    await work();
    expect(feeds).toEqual(['crm']);
  });

  it('ends as failed with code and message of what is thrown', async () => {
    const hint = 'Check the address.';
    const error = new PatchbayError('unreachable', 'urlRefused', 'https://example.com answered 404', { hint });
    const { work, ended, bench } = await opened(async () => Promise.reject(error));
    await work();
    expect(await ended()).toMatchObject({
      outcome: 'failed',
      code: 'urlRefused',
      kind: 'unreachable',
      message: error.message,
      hint,
    });
    expect(bench.lines.at(-1)).toBe('schedule done: crm');
  });

  it('does not repeat the words of strangers, and the job fails', async () => {
    const { work, ended } = await opened(async () => Promise.reject(new TypeError('Ada Lovelace')));
    await expect(work()).rejects.toThrow(TypeError);
    const tick = await ended();
    expect(tick).toMatchObject({ outcome: 'failed', code: 'unexpected' });
    expect(tick?.message).not.toContain('Ada');
  });

  it('keeps what others wrote apart, and what a bug says to itself', async () => {
    const said = 'The service refuses to list the numbers (400)';
    const quoting = new PatchbayError('rejected', 'requestRefused', `${said}: Ada Lovelace`, { plainMessage: said });
    const refused = await opened(async () => Promise.reject(quoting));
    await refused.work();
    expect(await refused.ended()).toMatchObject({ message: quoting.message, plainMessage: said });
    const bug = await opened(async () => Promise.reject(new PatchbayError('bug', 'invariant', 'Ada Lovelace')));
    await bug.work();
    expect(await bug.ended()).toMatchObject({ plainMessage: 'unexpected error; see the log for details' });
  });

  it('is stopped at its limit, and has failed', async () => {
    const { bench, work, ended } = await opened(hanging);
    const working = work();
    await expect.poll(async () => (await ended())?.state).toBe('working');
    bench.clock.advance(tickLimitMs.take);
    await working;
    expect(await ended()).toMatchObject({ outcome: 'failed', code: 'tickTooLong' });
  });

  it('does not wait for work that hangs and heeds nobody', async () => {
    const { bench, work, ended } = await opened(() => new Promise(() => undefined));
    const working = work();
    await expect.poll(async () => (await ended())?.state, { timeout: 30_000 }).toBe('working');
    bench.clock.advance(tickLimitMs.take);
    // The grace begins only when the limit was seen to be over.
    await expect
      .poll(
        async () => {
          bench.clock.advance(1_000);
          return (await ended())?.code;
        },
        { timeout: 30_000 },
      )
      .toBe('tickTooLong');
    await working;
  });

  it('leaves a tick that trouble of the ledger cut off to the next sweep, which counts as an attempt', async () => {
    const busy = new PatchbayError('transient', 'ledgerBusy', 'another process holds the ledger');
    const { bench, underWay, work, ended } = await opened(async () => Promise.reject(busy));
    await expect(work()).rejects.toThrow(busy);
    expect(underWay.size).toBe(0);
    expect(await reopenTicks({ ...bench, underWay })).toBe(1);
    expect(await ended()).toMatchObject({ state: 'waiting', attempts: 1 });
  });

  it('is not begun beside itself, and no sweep takes it away while it works', async () => {
    const { bench, underWay, stop, work, ended } = await opened(hanging);
    const working = work();
    await expect.poll(async () => (await ended())?.state).toBe('working');
    await work();
    expect(await reopenTicks({ ...bench, underWay })).toBe(0);
    stop.abort();
    await working;
  });

  it.each([
    ['failed', async () => Promise.reject(new TypeError('x'))],
    ['succeeded', async () => taken],
  ] as const)(
    'that %s and is cut off while its end cannot be written leaves its tick to wait, too',
    async (_how, take) => {
      const { bench, context, stop, tickId, ended } = await opened(take);
      const busy = new PatchbayError('transient', 'ledgerBusy', 'another process holds the ledger');
      const tries = Promise.withResolvers<void>();
      const { schedules } = bench.ledger;
      const end = async (): Promise<never> => {
        tries.resolve();
        throw busy;
      };
      const ledger = { ...bench.ledger, schedules: { ...schedules, end } };
      const working = takeFiles.process({ tickId }, { schedules: { ...context.schedules, ledger } }, stop.signal);
      await tries.promise;
      stop.abort();
      await working;
      expect(await ended()).toMatchObject({ state: 'waiting', attempts: 0, outcome: null });
    },
  );

  it('that succeeded all the same as it was cut off has ended, and is not done again', async () => {
    const { stop, work, ended } = await opened(async () => {
      stop.abort();
      return taken;
    });
    await work();
    expect(await ended()).toMatchObject({ ...taken, state: 'ended', attempts: 1 });
  });

  it('that is cut off leaves its tick to wait, and that counts as no attempt', async () => {
    const { stop, work, ended } = await opened(hanging);
    const working = work();
    await expect.poll(async () => (await ended())?.state).toBe('working');
    stop.abort();
    await working;
    expect(await ended()).toMatchObject({ state: 'waiting', attempts: 0, outcome: null });
  });
});

it('a killed engine: the tick at work waits again, and the third time it has failed as interrupted', async () => {
  const { bench, tickId, ended } = await opened(hanging);
  for (const state of ['waiting', 'waiting', 'ended']) {
    await bench.ledger.schedules.begin(tickId, bench.clock.nowMs());
    expect(await reopenTicks({ ...bench, underWay: new Set() })).toBe(1);
    expect((await ended())?.state).toBe(state);
  }
  expect(await ended()).toMatchObject({ outcome: 'failed', code: 'interrupted', attempts: 3 });
});

it('the job wake-schedules enters what is due and wakes the dispatcher', async () => {
  const { bench, context } = await opened(hanging);
  await bench.takeRuns('crm', []);
  bench.clock.advance(hourMs);
  const before = bench.wakes.count;
  await wakeSchedules.process({ slot: 1 }, context, new AbortController().signal);
  expect(await bench.ticks('crm')).toEqual(['due run', 'due waiting']);
  expect(bench.wakes.count).toBeGreaterThan(before);
});
