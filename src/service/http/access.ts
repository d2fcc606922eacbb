/**
 * Who may call: the raw key as the whole Authorization value (section 5).
 *
 * Section 5, "whether a scheme prefix is used": not shown. No prefix: `Bearer KEY` is refused (`docs/facts.md`, measured).
 * White space around the value is no part of a header's value; two Authorization headers are joined by a comma, which
 * then is no key.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '#src/clock.ts';
import { hashKey, type KnownKeys } from '#src/service/keys.ts';
import { Refusal } from './refusal.ts';

/** Answers which key was sent, by its place in the list. Throws `Refusal` 401. */
export type Authenticate = (authorization: string | null) => number;

export function createAuthentication({ salt, keys }: KnownKeys): Authenticate {
  const known = keys.map((key) => key.hash);
  return (authorization) => {
    // The two messages of `docs/facts.md` ("Later findings"). A header that is there and empty is a wrong key.
    if (authorization === null) throw new Refusal(401, 'Missing authorization header');
    const sent = hashKey(salt, authorization);
    let found = -1;
    // Hashes of equal length, and no early exit: the time says nothing about the keys.
    for (const [index, one] of known.entries()) if (timingSafeEqual(one, sent)) found = index;
    if (found < 0) throw new Refusal(401, 'Unauthorized');
    return found;
  };
}

/**
 * The rate limit: in any sliding second at most N requests of one key are served (`docs/facts.md`, "rate").
 *
 * Section 8, rate limits: not shown. Over the limit: 429 with Retry-After in whole seconds; a refused request does
 * not count. The clock is the monotonic one, so that a clock set back locks no client out.
 */
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
