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
  const served = new Map<number, Served>();
  return (key) => {
    const nowMs = clock.monotonicMs();
    const ofKey = served.get(key) ?? { atMs: [], next: 0 };
    served.set(key, ofKey);
    // The place of the request that was served N requests ago: while that one is in the window, the window is full.
    const waitMs = (ofKey.atMs[ofKey.next] ?? Number.NEGATIVE_INFINITY) + windowMs - nowMs;
    if (waitMs > 0) {
      throw new Refusal(429, `More than ${requestsPerSecond} requests in a second.`, {
        headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) },
      });
    }
    ofKey.atMs[ofKey.next] = nowMs;
    ofKey.next = (ofKey.next + 1) % requestsPerSecond;
  };
}

/** The instants of the last N requests of a key, in a ring: one request costs the same, whatever N is. */
interface Served {
  readonly atMs: number[];
  /** The oldest; beyond the end while there are fewer than N. */
  next: number;
}
