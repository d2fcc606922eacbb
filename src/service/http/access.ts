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

/** Answers which key was sent, by its place in the list; null for none, and for one that is not known. */
export type FindKey = (authorization: string | null) => number | null;

export function createKeyFinder({ salt, keys }: KnownKeys): FindKey {
  const known = keys.map((key) => key.hash);
  return (authorization) => {
    if (authorization === null) return null;
    const sent = hashKey(salt, authorization);
    let found: number | null = null;
    // Hashes of equal length, and no early exit: the time says nothing about the keys.
    for (const [index, one] of known.entries()) if (timingSafeEqual(one, sent)) found = index;
    return found;
  };
}

/** Answers the key that was sent. Throws `Refusal` 401. */
export function requireKey(findKey: FindKey, authorization: string | null): number {
  const key = findKey(authorization);
  if (key !== null) return key;
  // The two messages of `docs/facts.md` ("Later findings"). A header that is there and empty is a wrong key.
  throw new Refusal(401, authorization === null ? 'Missing authorization header' : 'Unauthorized');
}

/**
 * The rate limit: in any sliding second at most N requests of one key are served (`docs/facts.md`, "rate").
 *
 * Section 8, rate limits: not shown. Over the limit: 429 with Retry-After in whole seconds; a refused request does
 * not count. The clock is the monotonic one, so that a clock set back locks no client out.
 *
 * Every reply says how its key stands, in the two headers that were measured (`docs/facts.md`, "Later findings"), also where
 * no such path or method is. Without a limit there is nothing that they could say truly, and none is sent.
 */
export interface RateLimit {
  /** Takes one place for the key, or throws `Refusal` 429. Answers the headers of the reply; null without a limit. */
  readonly takePlace: (key: number) => RateHeaders | null;
  /**
   * The headers of a reply to a request that takes no place, as it is for no operation, or its key is not known (null): such
   * a key has all places left.
   */
  readonly standing: (key: number | null) => RateHeaders | null;
}

export type RateHeaders = Readonly<Record<'ratelimit-policy' | 'ratelimit', string>>;

const windowMs = 1000;

export function createRateLimit(requestsPerSecond: number | null, clock: Clock): RateLimit {
  if (requestsPerSecond === null) return { takePlace: () => null, standing: () => null };
  const policy = `"per-second"; q=${requestsPerSecond}; w=1`;
  // The oldest request leaves the window within a second: less is not said in whole seconds.
  const headersOf = (leftCount: number): RateHeaders => ({
    'ratelimit-policy': policy,
    ratelimit: `"per-second"; r=${leftCount}; t=1`,
  });
  const untouched = headersOf(requestsPerSecond);
  const served = new Map<number, Served>();
  const servedNow = (key: number, nowMs: number): Served => {
    const ofKey = served.get(key) ?? { atMs: [], oldest: 0, count: 0 };
    served.set(key, ofKey);
    while (ofKey.count > 0 && (ofKey.atMs[ofKey.oldest] ?? 0) + windowMs <= nowMs) {
      ofKey.oldest = (ofKey.oldest + 1) % requestsPerSecond;
      ofKey.count -= 1;
    }
    return ofKey;
  };
  const takePlace: RateLimit['takePlace'] = (key) => {
    const nowMs = clock.monotonicMs();
    const ofKey = servedNow(key, nowMs);
    if (ofKey.count === requestsPerSecond) {
      throw new Refusal(429, `More than ${requestsPerSecond} requests in a second.`, {
        headers: { 'retry-after': '1', ...headersOf(0) },
      });
    }
    ofKey.atMs[(ofKey.oldest + ofKey.count) % requestsPerSecond] = nowMs;
    ofKey.count += 1;
    return headersOf(requestsPerSecond - ofKey.count);
  };
  const standing: RateLimit['standing'] = (key) =>
    key === null ? untouched : headersOf(requestsPerSecond - servedNow(key, clock.monotonicMs()).count);
  return { takePlace, standing };
}

/**
 * The instants of the requests of a key in the window, in a ring: each is put in once and taken out once, so that a
 * request costs the same, whatever N is.
 */
interface Served {
  readonly atMs: number[];
  oldest: number;
  count: number;
}
