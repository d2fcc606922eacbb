/** The periodic tasks of a sweep, one sweep at a time, and its timer. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createSweeper, startEngineTimers, sweepOver } from '#src/engine/periodic-tasks.ts';
import { silentLogger } from '#src/log.ts';
import { openTempLedger } from '../ledger/support/temp-ledger.ts';
import { movedClock } from '../upsert/support/moved-clock.ts';

const never = new AbortController().signal;

describe('the tasks of a sweep', () => {
  it('are all run at the first sweep, then each at its own pace', async () => {
    const done: string[] = [];
    const sweep = sweepOver([
      { everySweeps: 1, run: async () => done.push('each') },
      { everySweeps: 3, run: async () => done.push('third') },
    ]);
    for (let count = 0; count < 4; count += 1) await sweep(never);
    expect(done).toEqual(['each', 'third', 'each', 'each', 'each', 'third']);
  });

  it('are all tried, and the first failure is reported', async () => {
    const done: string[] = [];
    const sweep = sweepOver([
      { everySweeps: 1, run: () => Promise.reject(new Error('first')) },
      { everySweeps: 1, run: async () => done.push('second') },
    ]);
    await expect(sweep(never)).rejects.toThrow('first');
    expect(done).toEqual(['second']);
  });

  it('end with the signal: none is started after it', async () => {
    const done: string[] = [];
    const stopping = new AbortController();
    const sweep = sweepOver([
      { everySweeps: 1, run: async () => stopping.abort() },
      { everySweeps: 1, run: async () => done.push('second') },
    ]);
    await sweep(stopping.signal);
    expect(done).toEqual([]);
  });
});

/** A sweep happens whether or not the queue takes jobs, one round at a time. */
describe('a sweeper', () => {
  it('lets later calls join the sweep in progress', async () => {
    const gate = Promise.withResolvers<void>();
    let rounds = 0;
    const sweeper = createSweeper(movedClock(), async () => {
      rounds += 1;
      await gate.promise;
    });
    const both = [sweeper.sweep(), sweeper.sweep()];
    gate.resolve();
    await Promise.all(both);
    expect(rounds).toBe(1);
    await sweeper.sweep();
    expect(rounds).toBe(2);
  });

  it('continues after a sweep that failed', async () => {
    let rounds = 0;
    const sweeper = createSweeper(movedClock(), async () => {
      rounds += 1;
      if (rounds === 1) throw new Error('once');
    });
    await expect(sweeper.sweep()).rejects.toThrow('once');
    await sweeper.sweep();
    expect(rounds).toBe(2);
  });

  it('stops: cuts the sweep short, waits for its end, and starts no other', async () => {
    let ended = 0;
    const sweeper = createSweeper(movedClock(), async (signal) => {
      await new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }));
      ended += 1;
    });
    void sweeper.sweep();
    await sweeper.stop();
    await sweeper.sweep();
    expect(ended).toBe(1);
  });

  it('stops although the sweep waits for a queue that never answers', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const sweeper = createSweeper(movedClock(), () => new Promise<void>(() => undefined));
    void sweeper.sweep();
    const stopped = sweeper.stop();
    await vi.advanceTimersByTimeAsync(2_000);
    await expect(stopped).resolves.toBeUndefined();
  });
});

describe('the timer of the sweep', () => {
  const openTimers = async (isTaken: () => boolean | Promise<boolean>, giveUp: () => void = () => undefined) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const opened = await openTempLedger();
    onTestFinished(() => opened.close());
    const clock = movedClock();
    let rounds = 0;
    let asked = 0;
    const sweeper = createSweeper(clock, async () => {
      rounds += 1;
    });
    const producer = {
      add: async () => {
        asked += 1;
        return isTaken();
      },
      giveUp,
    };
    const log = silentLogger();
    const stop = startEngineTimers({ clock, log, ledger: opened.ledger, producer, sweeper, wake: () => undefined });
    onTestFinished(stop);
    const tick = async (): Promise<void> => {
      clock.advance(5_000);
      await vi.advanceTimersByTimeAsync(5_000);
    };
    return { tick, stop, rounds: () => rounds, asked: () => asked };
  };

  it('leaves it to a queue that accepts it', async () => {
    const { tick, rounds, asked } = await openTimers(() => true);
    await tick();
    await tick();
    expect([asked(), rounds()]).toEqual([2, 0]);
  });

  it('sweeps here if the queue does not accept it', async () => {
    const { tick, rounds } = await openTimers(() => false);
    await tick();
    await tick();
    expect(rounds()).toBe(2);
  });

  it('stops although the queue does not say whether it accepts it, and then begins no sweep', async () => {
    const answer = Promise.withResolvers<boolean>();
    const { tick, stop, rounds } = await openTimers(
      () => answer.promise,
      () => answer.resolve(false),
    );
    await tick();
    await stop();
    expect(rounds()).toBe(0);
  });

  it('sweeps here if the queue accepted it again and again and delivered none', async () => {
    const { tick, rounds } = await openTimers(() => true);
    for (let ticks = 0; ticks < 5; ticks += 1) await tick();
    expect(rounds()).toBe(1);
  });
});
