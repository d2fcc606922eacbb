/**
 * A clock for tests: time stands still while anything can run, then jumps to the next sleeper.
 *
 * `lateMs` makes sleepers wake late, as real timers do.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '#src/clock.ts';

export interface FakeClock extends Clock {
  /** Lets time pass until `untilMs`, waking sleepers in order. */
  runUntil(untilMs: number): Promise<void>;
}

interface Sleeper {
  readonly wakeAtMs: number;
  readonly wake: () => void;
}

export function createFakeClock(options: { startMs?: number; lateMs?: () => number } = {}): FakeClock {
  let nowMs = options.startMs ?? 0;
  const sleepers = new Set<Sleeper>();
  return {
    bootId: 'test',
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep(ms, signal) {
      return new Promise<void>((resolve, reject) => {
        const wakeAtMs = nowMs + ms + (options.lateMs?.() ?? 0);
        const sleeper = { wakeAtMs, wake: resolve };
        sleepers.add(sleeper);
        const stop = () => {
          sleepers.delete(sleeper);
          reject(signal?.reason);
        };
        if (signal?.aborted) stop();
        else signal?.addEventListener('abort', stop, { once: true });
      });
    },
    async runUntil(untilMs) {
      // Ends when no sleeper wakes before `untilMs`; each turn wakes one.
      for (;;) {
        await turn();
        const [first] = [...sleepers].sort((a, b) => a.wakeAtMs - b.wakeAtMs);
        if (first === undefined || first.wakeAtMs > untilMs) break;
        nowMs = Math.max(nowMs, first.wakeAtMs);
        sleepers.delete(first);
        first.wake();
      }
      nowMs = Math.max(nowMs, untilMs);
    },
  };
}
