/** The gate without a limit. */
import { describe, expect, test } from 'vitest';
import { createPauseGate } from '#src/rate/rate-gate.ts';
import { createFakeClock } from '../workspace/support/fake-clock.ts';

describe('the pause gate', () => {
  test('lets all pass at once, but a pause holds, and a longer one lengthens it', async () => {
    const clock = createFakeClock();
    const gate = createPauseGate(clock);
    const passedAtMs: number[] = [];
    const take = async (): Promise<void> => {
      await gate.take();
      passedAtMs.push(clock.monotonicMs());
    };
    const first = Promise.all(Array.from({ length: 100 }, take));
    await clock.runUntil(0);
    await first;
    expect(passedAtMs).toHaveLength(100);
    await gate.pause(2_000);
    const waiting = take();
    await clock.runUntil(1_000);
    await gate.pause(3_000);
    await gate.pause(2_500);
    await clock.runUntil(5_000);
    await waiting;
    expect(passedAtMs.at(-1)).toBe(3_000);
  });

  test('turns away at once whom a pause holds back longer than it waits, also where the pause grows', async () => {
    const clock = createFakeClock();
    const gate = createPauseGate(clock);
    await gate.pause(3_000);
    await expect(gate.take(undefined, 2_999)).rejects.toMatchObject({
      ...{ kind: 'unreachable', code: 'rateLimited' },
      message: 'The service answered with 429 (too many requests), and no request may be sent for 3 s.',
    });
    const passed = gate.take(undefined, 3_000);
    await clock.runUntil(3_000);
    await passed;
    await gate.pause(4_000);
    const turnedAway = expect(gate.take(undefined, 2_000)).rejects.toMatchObject({ code: 'rateLimited' });
    await clock.runUntil(3_500);
    await gate.pause(9_000);
    await clock.runUntil(4_000);
    await turnedAway;
  });

  test('rejects a caller that gives up during a pause, with its reason, and stops its sleep', async () => {
    const clock = createFakeClock();
    const gate = createPauseGate(clock);
    await gate.pause(60_000);
    const stop = new AbortController();
    const taken = gate.take(stop.signal);
    stop.abort(new Error('left'));
    await expect(taken).rejects.toThrow('left');
    await expect(gate.take(stop.signal)).rejects.toThrow('left');
    // A sleeper that is left would carry the clock to its end.
    await clock.runUntil(10);
    const again = gate.take();
    await clock.runUntil(60_000);
    await again;
  });
});
