/**
 * The rate limit: in any sliding second at most N requests of one key are served (`facts.md`, "rate").
 *
 * Section 8, rate limits: not shown. Over the limit: 429 with Retry-After in whole seconds; a refused request does
 * not count. The clock is the monotonic one, so that a clock set back locks nobody out.
 */
import type { Clock } from '#src/clock.ts';
import { Refusal } from './refusal.ts';

const windowMs = 1000;

/** Takes one place for the key, or throws `Refusal` 429. */
export type TakePlace = (key: number) => void;

export function createRateLimit(requestsPerSecond: number | null, clock: Clock): TakePlace {
  if (requestsPerSecond === null) return () => {};
  const servedAtMs = new Map<number, number[]>();
  return (key) => {
    const nowMs = clock.monotonicMs();
    const inWindow = (servedAtMs.get(key) ?? []).filter((atMs) => atMs > nowMs - windowMs);
    servedAtMs.set(key, inWindow);
    if (inWindow.length >= requestsPerSecond) {
      const waitMs = (inWindow[0] ?? nowMs) + windowMs - nowMs;
      throw new Refusal(429, `More than ${requestsPerSecond} requests in a second.`, {
        headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) },
      });
    }
    inWindow.push(nowMs);
  };
}
