/**
 * One time for all parts of a world, moved by hand only: nothing happens because the machine was slow.
 *
 * It has two faces. Workers that wait move it on by themselves, so that no wait costs real time; a wait as long as a whole
 * request is a watchdog, which fires when the time has moved past it. The service's waits (a commit that lands late) end
 * when the time has moved past them; a hang of some milliseconds is a real one, since nobody moves the time meanwhile.
 */
import { setTimeout as reallySleep } from 'node:timers/promises';
import type { Clock } from '#src/clock.ts';
import { workspaceTimeouts } from '#src/workspace/port.ts';

export interface MovedTime {
  readonly ofWorkers: Clock;
  readonly ofService: Clock;
  /** At one leap: whoever waited meanwhile wakes at its end. */
  advance(ms: number): void;
  /** How long until the first of those who wait for the time to move; null where nobody does. */
  untilNextWakeMs(): number | null;
}

const startMs = Date.UTC(2026, 10, 21);
const realHangMsMax = 100;

export function movedTime(): MovedTime {
  let nowMs = startMs;
  const sleepers = new Set<{ readonly untilMs: number; readonly wake: () => void }>();
  const advance = (ms: number): void => {
    nowMs += ms;
    for (const sleeper of sleepers) {
      if (sleeper.untilMs > nowMs) continue;
      sleepers.delete(sleeper);
      sleeper.wake();
    }
  };
  const sleepUntilMoved = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const sleeper = { untilMs: nowMs + ms, wake: resolve };
      const cutShort = (): void => {
        sleepers.delete(sleeper);
        reject(new DOMException('aborted', 'AbortError'));
      };
      if (signal?.aborted) return cutShort();
      sleepers.add(sleeper);
      signal?.addEventListener('abort', cutShort, { once: true });
    });
  const face = (sleep: Clock['sleep']): Clock => ({
    nowMs: () => nowMs,
    monotonicMs: () => nowMs - startMs + 1_000_000,
    bootId: 'one-boot',
    sleep,
  });
  return {
    advance,
    untilNextWakeMs: () =>
      sleepers.size === 0 ? null : Math.max(0, Math.min(...[...sleepers].map((one) => one.untilMs)) - nowMs),
    ofWorkers: face(async (ms, signal) => {
      if (ms >= workspaceTimeouts.requestMs) return sleepUntilMoved(ms, signal);
      // A turn of the event loop even for a wait of nothing: due timers run, as they do on a real clock.
      await reallySleep(0, undefined, signal ? { signal } : {});
      advance(ms);
    }),
    ofService: face((ms, signal) =>
      ms <= realHangMsMax ? reallySleep(ms, undefined, signal ? { signal } : {}) : sleepUntilMoved(ms, signal),
    ),
  };
}
