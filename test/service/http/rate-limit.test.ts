/** The rate limit: a sliding second per key, at a cost that does not grow with the limit (`docs/facts.md`, "rate"). */
import { expect, test } from 'vitest';
import { createRateLimit, type RateLimit } from '#src/service/http/access.ts';
import { manualClock } from '../test-service.ts';

/** How many of so many requests are served at this instant. */
function servedOf(take: RateLimit['takePlace'], count: number): number {
  let servedCount = 0;
  for (let index = 0; index < count; index += 1) {
    try {
      take(0);
      servedCount += 1;
    } catch {
      // Over the limit.
    }
  }
  return servedCount;
}

test('in any second at most so many are served, and a refused one does not count', () => {
  const clock = manualClock();
  const { takePlace: take } = createRateLimit(3, clock);
  expect(servedOf(take, 2)).toBe(2);
  clock.advance(600);
  expect(servedOf(take, 5)).toBe(1);
  clock.advance(399);
  expect(servedOf(take, 5)).toBe(0);
  clock.advance(1);
  expect(servedOf(take, 5)).toBe(2);
  clock.advance(599);
  expect(servedOf(take, 5)).toBe(0);
  clock.advance(1);
  expect(servedOf(take, 5)).toBe(1);
  clock.advance(5_000);
  expect(servedOf(take, 5)).toBe(3);
});

test('the headers count what is left to the key in the second that slides', () => {
  const clock = manualClock();
  const { takePlace, standing } = createRateLimit(3, clock);
  const left = (key: number) => takePlace(key)?.ratelimit;
  expect(standing(null)).toEqual({ 'ratelimit-policy': '"per-second"; q=3; w=1', ratelimit: '"per-second"; r=3; t=1' });
  expect(takePlace(0)).toEqual({ 'ratelimit-policy': '"per-second"; q=3; w=1', ratelimit: '"per-second"; r=2; t=1' });
  expect([standing(0), standing(1)].map((one) => one?.ratelimit)).toEqual([
    '"per-second"; r=2; t=1',
    '"per-second"; r=3; t=1',
  ]);
  clock.advance(600);
  expect([left(0), left(1)]).toEqual(['"per-second"; r=1; t=1', '"per-second"; r=2; t=1']);
  clock.advance(400);
  expect([left(0), left(0)]).toEqual(['"per-second"; r=1; t=1', '"per-second"; r=0; t=1']);
  expect(createRateLimit(null, clock).standing(0)).toBeNull();
});

test('a request under a limit of 50,000 costs about as much as one under a limit of 10', () => {
  const requestCount = 50_000;
  const costMs = (limit: number): number => {
    const clock = manualClock();
    const { takePlace: take } = createRateLimit(limit, clock);
    const before = process.threadCpuUsage();
    for (let index = 0; index < requestCount; index += 1) {
      if (index % limit === 0) clock.advance(1_000);
      take(0);
    }
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  costMs(10);
  // One that looks through its window takes hundreds of times as long; 20 leaves room for a busy machine.
  expect(costMs(50_000)).toBeLessThan(20 * costMs(10) + 100);
});
