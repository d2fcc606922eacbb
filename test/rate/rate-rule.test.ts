/** What the rate rule promises, shown on its model; `rate-script-contract.ts` shows that the script decides as the model does. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RateGate } from '#src/rate/rate-gate.ts';
import { createFakeClock, type FakeClock } from '../workspace/support/fake-clock.ts';
import { createModelGate } from './support/rule-model.ts';

/** Takes `count` times at once, noting when each passed. */
function takeMany(gate: RateGate, clock: FakeClock, count: number, passedAtMs: number[]): void {
  for (let taken = 0; taken < count; taken += 1) {
    gate.take().then(
      () => passedAtMs.push(clock.monotonicMs()),
      () => {},
    );
  }
}

/** The most that passed in any second, half open. */
function mostInOneSecond(passedAtMs: readonly number[]): number {
  let most = 0;
  let first = 0;
  passedAtMs.forEach((atMs, index) => {
    while (atMs - (passedAtMs[first] ?? 0) >= 1_000) first += 1;
    most = Math.max(most, index - first + 1);
  });
  return most;
}

describe('the rate rule', () => {
  test('never lets more pass than allowed in any sliding second, and uses 98 % while there is work', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 50 }),
        async (rate, lateness) => {
          let turn = 0;
          const clock = createFakeClock({ startMs: 5_000, lateMs: () => lateness[turn++ % lateness.length] ?? 0 });
          const gate = createModelGate(rate, clock);
          const passedAtMs: number[] = [];
          takeMany(gate, clock, rate * 25, passedAtMs);
          await clock.runUntil(26_500);
          expect(mostInOneSecond(passedAtMs)).toBeLessThanOrEqual(rate);
          const seconds = 20;
          const used = passedAtMs.filter((atMs) => atMs < (passedAtMs[0] ?? 0) + seconds * 1_000).length;
          expect(used).toBeGreaterThanOrEqual(0.98 * rate * seconds);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('holds the limit whenever the work comes, and whatever 429 comes between', async () => {
    const event = fc.record({ afterMs: fc.integer({ min: 0, max: 1_500 }), takes: fc.nat(12), pauseMs: fc.nat(800) });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 10 }),
        fc.array(event, { minLength: 1, maxLength: 30 }),
        async (rate, events) => {
          const clock = createFakeClock();
          const gate = createModelGate(rate, clock);
          const passedAtMs: number[] = [];
          const closed: { fromMs: number; untilMs: number }[] = [];
          for (const { afterMs, takes, pauseMs } of events) {
            await clock.runUntil(clock.monotonicMs() + afterMs);
            takeMany(gate, clock, takes, passedAtMs);
            await clock.runUntil(clock.monotonicMs());
            if (pauseMs < 100) continue;
            const fromMs = clock.monotonicMs();
            closed.push({ fromMs, untilMs: fromMs + pauseMs });
            await gate.pause(fromMs + pauseMs);
          }
          await clock.runUntil(clock.monotonicMs() + 3_600_000);
          expect(passedAtMs).toHaveLength(events.reduce((sum, one) => sum + one.takes, 0));
          expect(mostInOneSecond(passedAtMs)).toBeLessThanOrEqual(rate);
          for (const { fromMs, untilMs } of closed) {
            expect(passedAtMs.filter((atMs) => atMs > fromMs && atMs < untilMs)).toEqual([]);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test('what is written later than it passed counts from then', async () => {
    const delay = fc.integer({ min: 0, max: 999 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 10 }), fc.array(delay, { minLength: 1 }), async (rate, delays) => {
        const clock = createFakeClock();
        const gate = createModelGate(rate, clock);
        const writtenAtMs: number[] = [];
        for (let taken = 0; taken < rate * 6; taken += 1) {
          gate.take().then(
            async (pass) => {
              await clock.sleep(delays[taken % delays.length] ?? 0);
              await pass.written();
              writtenAtMs.push(clock.monotonicMs());
            },
            () => {},
          );
        }
        await clock.runUntil(60_000);
        expect(writtenAtMs).toHaveLength(rate * 6);
        expect(mostInOneSecond(writtenAtMs)).toBeLessThanOrEqual(rate);
      }),
    );
  });

  test('the first few pass together, a full second is spread', async () => {
    const clock = createFakeClock();
    const gate = createModelGate(8, clock);
    const passedAtMs: number[] = [];
    takeMany(gate, clock, 40, passedAtMs);
    await clock.runUntil(10_000);
    expect((passedAtMs[2] ?? 0) - (passedAtMs[0] ?? 0)).toBeLessThan(60);
    const gapsMs = passedAtMs.slice(16).map((atMs, index) => atMs - (passedAtMs[index + 15] ?? 0));
    expect(Math.max(...gapsMs)).toBeLessThan(400);
    expect(Math.min(...gapsMs)).toBeGreaterThan(60);
  });

  test('a new gate does not know the past and waits a full second', async () => {
    const clock = createFakeClock();
    const passedAtMs: number[] = [];
    takeMany(createModelGate(8, clock), clock, 1, passedAtMs);
    await clock.runUntil(999);
    expect(passedAtMs).toEqual([]);
    await clock.runUntil(1_000);
    expect(passedAtMs).toEqual([1_000]);
  });

  test('a rate below one lets one pass in its time', async () => {
    const clock = createFakeClock();
    const passedAtMs: number[] = [];
    takeMany(createModelGate(0.5, clock), clock, 3, passedAtMs);
    await clock.runUntil(10_000);
    expect(passedAtMs).toEqual([1_000, 3_010, 5_020]);
  });

  test('who comes first passes first; who gives up leaves the line', async () => {
    const clock = createFakeClock();
    const gate = createModelGate(1, clock);
    const passed: string[] = [];
    const stop = new AbortController();
    const first = gate.take().then(() => passed.push('first'));
    const second = gate.take(stop.signal).then(() => passed.push('second'));
    const third = gate.take().then(() => passed.push('third'));
    stop.abort(new Error('left'));
    await expect(second).rejects.toThrow('left');
    await clock.runUntil(2_500);
    await Promise.all([first, third]);
    expect(passed).toEqual(['first', 'third']);
    await expect(gate.take(stop.signal)).rejects.toThrow('left');
  });

  test('when the last one gives up, nothing keeps sleeping', async () => {
    const clock = createFakeClock();
    const gate = createModelGate(1, clock);
    await gate.pause(60_000);
    const stop = new AbortController();
    const taken = gate.take(stop.signal);
    stop.abort(new Error('left'));
    await expect(taken).rejects.toThrow('left');
    // A sleeper that is left would carry the clock to its end.
    await clock.runUntil(10);
    const again = gate.take();
    await clock.runUntil(60_000);
    await again;
  });

  test('three 429 within 10 s halve the rate, which creeps back by 5 % per 10 s', async () => {
    const clock = createFakeClock();
    const gate = createModelGate(8, clock);
    for (const atMs of [2_000, 5_000]) {
      await clock.runUntil(atMs);
      await gate.pause(atMs + 1_000);
    }
    expect(gate.requestsPerSecond()).toBe(8);
    await clock.runUntil(9_000);
    await gate.pause(10_000);
    expect(gate.requestsPerSecond()).toBe(4);
    await clock.runUntil(19_000);
    expect(gate.requestsPerSecond()).toBeCloseTo(4.4);
    await clock.runUntil(59_000);
    expect(gate.requestsPerSecond()).toBeCloseTo(6);
    await clock.runUntil(109_000);
    expect(gate.requestsPerSecond()).toBe(8);
  });

  test('three 429 in more than 10 s leave the rate', async () => {
    const clock = createFakeClock();
    const gate = createModelGate(8, clock);
    for (const atMs of [0, 6_000, 12_000, 18_000]) {
      await clock.runUntil(atMs);
      await gate.pause(atMs + 1_000);
    }
    expect(gate.requestsPerSecond()).toBe(8);
  });

  test('one burst of 429 halves once', async () => {
    const clock = createFakeClock();
    const gate = createModelGate(8, clock);
    for (let refused = 0; refused < 16; refused += 1) await gate.pause(1_000);
    expect(gate.requestsPerSecond()).toBe(4);
  });

  test('while it is slowed down, fewer pass', async () => {
    const clock = createFakeClock();
    const gate = createModelGate(8, clock);
    for (let refused = 0; refused < 3; refused += 1) await gate.pause(1_000);
    const passedAtMs: number[] = [];
    takeMany(gate, clock, 20, passedAtMs);
    await clock.runUntil(4_900);
    expect(mostInOneSecond(passedAtMs)).toBe(4);
    expect(passedAtMs).toHaveLength(16);
  });
});
