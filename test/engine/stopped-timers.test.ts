/** What the engine does at intervals is done one at a time, and nothing of it uses the ledger once it is stopped. */
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Home } from '#src/app.ts';
import { configSchema } from '#src/config/schema.ts';
import { createSweeper, startEngineTimers } from '#src/engine/periodic-tasks.ts';
import { registerEngine, registerWorker, watchEngine } from '#src/engine/registration.ts';
import { silentLogger } from '#src/log.ts';
import { expectOneAtATime, fakeIntervals, heldCalls } from '#test/engine/support/held-calls.ts';
import { openTempLedger } from '#test/ledger/support/temp-ledger.ts';
import { movedClock } from '#test/upsert/support/moved-clock.ts';

/** As much of a home as registrations need. */
async function openedHome() {
  fakeIntervals();
  const { ledger, close } = await openTempLedger();
  onTestFinished(() => close());
  const held = heldCalls();
  const register: typeof ledger.register = async (...entry) => {
    await held.call();
    await ledger.register(...entry);
  };
  const registrations: typeof ledger.registrations = async () => {
    await held.call();
    return ledger.registrations();
  };
  // Work at hand, so that the engine signs.
  const runs = { ...ledger.runs, list: async () => [{}] };
  const home = {
    ...{ ledger: { ...ledger, register, registrations, runs }, clock: movedClock(), log: silentLogger() },
    ...{ identity: { name: 'me', isDead: () => false }, folders: { root: '/data' }, ledgerPlace: { kind: 'file' } },
    config: configSchema.parse({}),
  } as unknown as Home;
  return { home, held, ledger };
}

it('an engine that has taken its registration back signs no more', async () => {
  const { home, held, ledger } = await openedHome();
  const stop = await registerEngine(home, 'http://127.0.0.1:1', { kind: 'socket', path: '/data/queue' });
  await expectOneAtATime(held, stop, 5_000);
  expect((await ledger.registrations()).engine).toBeNull();
});

it('so does a worker', async () => {
  const { home, held, ledger } = await openedHome();
  const stop = await registerWorker(home);
  await expectOneAtATime(held, stop, 5_000);
  expect((await ledger.registrations()).workers).toEqual([]);
});

it('a worker that no longer watches its engine asks the ledger nothing', async () => {
  const { home, held } = await openedHome();
  const engine = { identity: 'e', serviceOrigin: '', queue: { kind: 'socket', path: '' }, startedAtMs: 0 } as const;
  const feeds = { has: () => false, look: async () => undefined };
  const watching = watchEngine(home, engine, feeds, () => undefined);
  await expectOneAtATime(held, watching.stop, 250);
});

it('looks for changes of other processes do not pile up while the ledger is slow', async () => {
  fakeIntervals();
  const { ledger, close } = await openTempLedger();
  onTestFinished(() => close());
  const held = heldCalls();
  const requireSound: typeof ledger.requireSound = async () => {
    await held.call();
  };
  const clock = movedClock();
  const stop = startEngineTimers({
    ...{ ledger: { ...ledger, requireSound }, clock, log: silentLogger(), producer: null, wake: () => undefined },
    sweeper: createSweeper(clock, async () => undefined),
  });
  await expectOneAtATime(held, stop, 250);
});

it('a sweep that waits for a frozen queue does not hold up the stop of its timer: the sweeper ends it', async () => {
  fakeIntervals();
  const { ledger, close } = await openTempLedger();
  onTestFinished(() => close());
  const clock = movedClock();
  let ended = 0;
  const sweeper = createSweeper(clock, async (signal) => {
    await new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }));
    ended += 1;
  });
  const parts = { ledger, clock, log: silentLogger(), producer: null, wake: () => undefined };
  const stop = startEngineTimers({ ...parts, sweeper });
  await vi.advanceTimersByTimeAsync(5_000);
  await stop();
  expect(ended).toBe(0);
  await sweeper.stop();
  expect(ended).toBe(1);
});
