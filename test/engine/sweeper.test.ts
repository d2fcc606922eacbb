/** A sweep happens whether or not the queue takes jobs, one round at a time. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startEngineTimers } from '#src/engine/engine-timers.ts';
import { createSweeper } from '#src/engine/sweeper.ts';
import { silentLogger } from '#src/log.ts';
import { openTempLedger } from '#test/ledger/support/temp-ledger.ts';
import { movedClock } from '#test/upsert/support/moved-clock.ts';

describe('a sweeper', () => {
  it('lets whoever asks meanwhile join the round under way', async () => {
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

  it('goes on after a round that failed', async () => {
    let rounds = 0;
    const sweeper = createSweeper(movedClock(), async () => {
      rounds += 1;
      if (rounds === 1) throw new Error('once');
    });
    await expect(sweeper.sweep()).rejects.toThrow('once');
    await sweeper.sweep();
    expect(rounds).toBe(2);
  });

  it('stops: cuts the round short, waits for its end, and begins no other', async () => {
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

  it('stops although the round waits for a queue that never answers', async () => {
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
  const openTimers = async (isTaken: () => boolean) => {
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
    };
    const log = silentLogger();
    const stop = startEngineTimers({ clock, log, ledger: opened.ledger, producer, sweeper, wake: () => undefined });
    onTestFinished(stop);
    const tick = async (): Promise<void> => {
      clock.advance(5_000);
      await vi.advanceTimersByTimeAsync(5_000);
    };
    return { tick, rounds: () => rounds, asked: () => asked };
  };

  it('leaves it to a queue that takes it', async () => {
    const { tick, rounds, asked } = await openTimers(() => true);
    await tick();
    await tick();
    expect([asked(), rounds()]).toEqual([2, 0]);
  });

  it('does it here where the queue does not take it', async () => {
    const { tick, rounds } = await openTimers(() => false);
    await tick();
    await tick();
    expect(rounds()).toBe(2);
  });

  it('does it here where the queue took it again and again and handed none out', async () => {
    const { tick, rounds } = await openTimers(() => true);
    for (let ticks = 0; ticks < 5; ticks += 1) await tick();
    expect(rounds()).toBe(1);
  });
});
