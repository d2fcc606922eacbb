import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import { backoffMs, parseRetryAfter, retryReads, TryAgain } from '#src/workspace/retry.ts';
import { createFakeClock } from './support/fake-clock.ts';

const failing = new PatchbayError('unreachable', 'serviceFailing', 'status 503');

/** Runs all tries on a fake clock: the result, and when each try began. */
async function runTries<T>(
  attempt: (tryNumber: number) => Promise<T>,
  options: { random?: number; signal?: AbortSignal } = {},
) {
  const clock = createFakeClock();
  const beganAtMs: number[] = [];
  const settled = Promise.allSettled([
    retryReads(
      (tryNumber) => {
        beganAtMs.push(clock.monotonicMs());
        return attempt(tryNumber);
      },
      { clock, random: () => options.random ?? 0.5, signal: options.signal },
    ),
  ]);
  await clock.runUntil(1_000_000);
  const [result] = await settled;
  return { result, beganAtMs };
}

describe('the retry policy', () => {
  test('a read is tried four times, with waits under a ceiling that doubles', async () => {
    const { result, beganAtMs } = await runTries(() => Promise.reject(new TryAgain(failing, null)));
    expect(result).toEqual({ status: 'rejected', reason: failing });
    expect(beganAtMs).toEqual([0, 250, 750, 1_750]);
  });

  test('a read that succeeds is not tried again', async () => {
    const { result, beganAtMs } = await runTries(async (tryNumber) => {
      if (tryNumber < 3) throw new TryAgain(failing, null);
      return 'fine';
    });
    expect(result).toEqual({ status: 'fulfilled', value: 'fine' });
    expect(beganAtMs).toHaveLength(3);
  });

  test('Retry-After is the floor of the wait', async () => {
    const { beganAtMs } = await runTries(() => Promise.reject(new TryAgain(failing, 7_000)), { random: 0 });
    expect(beganAtMs).toEqual([0, 7_000, 14_000, 21_000]);
  });

  test('anything but a TryAgain is final, a network TypeError included', async () => {
    for (const reason of [failing, new TypeError('fetch failed'), new DOMException('stop', 'AbortError')]) {
      const { result, beganAtMs } = await runTries(() => Promise.reject(reason));
      expect(result).toEqual({ status: 'rejected', reason });
      expect(beganAtMs).toEqual([0]);
    }
  });

  test('an abort ends the waiting with the reason of the signal and is not retried', async () => {
    const stop = new AbortController();
    const reason = new Error('the caller left');
    const { result, beganAtMs } = await runTries(
      () => {
        setImmediate(() => stop.abort(reason));
        return Promise.reject(new TryAgain(failing, 50_000));
      },
      { signal: stop.signal },
    );
    expect(result).toEqual({ status: 'rejected', reason });
    expect(beganAtMs).toEqual([0]);
  });

  test('the jitter is full: from the floor to the floor plus the ceiling', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.option(fc.integer({ min: 0, max: 60_000 })),
        (tryNumber, random, floorMs) => {
          const waitMs = backoffMs(tryNumber, () => random, floorMs);
          expect(waitMs).toBeGreaterThanOrEqual(floorMs ?? 0);
          expect(waitMs).toBeLessThanOrEqual((floorMs ?? 0) + Math.min(500 * 2 ** (tryNumber - 1), 10_000));
        },
      ),
    );
    expect(backoffMs(3, () => 0, null)).toBe(0);
  });
});

describe('Retry-After', () => {
  const nowMs = Date.UTC(2026, 10, 21, 14, 0, 0);

  test.each([
    ['0', 0],
    ['2', 2_000],
    [' 30 ', 30_000],
    ['3600', 60_000],
    ['999999999999999', 60_000],
    ['Sat, 21 Nov 2026 14:00:05 GMT', 5_000],
    ['Saturday, 21-Nov-26 14:00:05 GMT', 5_000],
    ['Sat, 21 Nov 2026 15:00:00 GMT', 60_000],
    ['Sat, 21 Nov 2026 13:59:00 GMT', 0],
  ])('%j is read as a wait of %i ms at most 60 s long', (header, waitMs) => {
    expect(parseRetryAfter(header, nowMs)).toBe(waitMs);
  });

  test.each([null, '', 'soon', '-5', '1.5', 'Noday, what', '1e3'])('%j is no answer', (header) => {
    expect(parseRetryAfter(header, nowMs)).toBeNull();
  });
});
