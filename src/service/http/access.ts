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
 *
 * Every reply to a request for an operation says how its key stands, in the two headers that were measured (`docs/facts.md`,
 * "Later findings"). Without a limit there is nothing that they could say truly, and none is sent.
 */
export interface RateLimit {
  /** Takes one place for the key, or throws `Refusal` 429. Answers the headers of the reply; null without a limit. */
  readonly takePlace: (key: number) => RateHeaders | null;
  /** The headers of a reply to a request that takes no place, since its key is not known. */
  readonly untouched: RateHeaders | null;
}

export type RateHeaders = Readonly<Record<'ratelimit-policy' | 'ratelimit', string>>;

const windowMs = 1000;

export function createRateLimit(requestsPerSecond: number | null, clock: Clock): RateLimit {
  if (requestsPerSecond === null) return { takePlace: () => null, untouched: null };
  const policy = `"per-second"; q=${requestsPerSecond}; w=1`;
  // The oldest request leaves the window within a second: less is not said in whole seconds.
  const headersOf = (leftCount: number): RateHeaders => ({
    'ratelimit-policy': policy,
    ratelimit: `"per-second"; r=${leftCount}; t=1`,
  });
  const served = new Map<number, Served>();
  const takePlace: RateLimit['takePlace'] = (key) => {
    const nowMs = clock.monotonicMs();
    const ofKey = served.get(key) ?? { atMs: [], oldest: 0, count: 0 };
    served.set(key, ofKey);
    while (ofKey.count > 0 && (ofKey.atMs[ofKey.oldest] ?? 0) + windowMs <= nowMs) {
      ofKey.oldest = (ofKey.oldest + 1) % requestsPerSecond;
      ofKey.count -= 1;
    }
    if (ofKey.count === requestsPerSecond) {
      throw new Refusal(429, `More than ${requestsPerSecond} requests in a second.`, {
        headers: { 'retry-after': '1', ...headersOf(0) },
      });
    }
    ofKey.atMs[(ofKey.oldest + ofKey.count) % requestsPerSecond] = nowMs;
    ofKey.count += 1;
    return headersOf(requestsPerSecond - ofKey.count);
  };
  return { takePlace, untouched: headersOf(requestsPerSecond) };
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
