/**
 * Retries: the one wrapper around p-retry, and the policy for reads.
 *
 * A try asks for another one by throwing `TryAgain`; anything else that it throws is final, above all an abort. The library
 * counts the tries; the waiting is done here, because the library knows neither full jitter nor `Retry-After`. Writes are
 * never retried: a write in doubt is reconciled, not repeated (`docs/design.md`, decision 4).
 */
import pRetry from 'p-retry';
import type { Clock } from '#src/clock.ts';
import type { PatchbayError } from '#src/errors.ts';
import { readTriesMax, retryAfterMaxMs } from './port.ts';

/** Thrown by a try that may be repeated. */
export class TryAgain extends Error {
  override readonly name = 'TryAgain';
  /** What the caller gets if this was the last try. */
  readonly failure: PatchbayError;
  /** What the server asked for, in milliseconds; null if it asked for nothing. */
  readonly retryAfterMs: number | null;

  constructor(failure: PatchbayError, retryAfterMs: number | null) {
    super(failure.message, { cause: failure });
    this.failure = failure;
    this.retryAfterMs = retryAfterMs;
  }
}

export interface RetryOptions {
  /** The first one included. */
  readonly triesMax: number;
  /** How long to wait after try number `tryNumber` (from 1), in milliseconds; null: give up. */
  readonly waitMs: (failed: TryAgain, tryNumber: number) => number | null;
  /** Called before each wait. */
  readonly onWait?: (failure: PatchbayError, tryNumber: number, waitMs: number) => void;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls `attempt` with the number of the try, from 1, until it returns, fails for good, or no try is left.
 * @throws the signal's reason if it fired; the `failure` of the last `TryAgain`; anything else that `attempt` throws.
 */
export async function retry<T>(attempt: (tryNumber: number) => Promise<T>, options: RetryOptions): Promise<T> {
  const { triesMax, clock, signal } = options;
  try {
    // The library does not get the signal: it would discard an answer that arrives together with the abort.
    return await pRetry(attempt, {
      retries: triesMax - 1,
      minTimeout: 0,
      shouldRetry: async ({ error, attemptNumber }) => {
        if (!(error instanceof TryAgain)) return false;
        signal?.throwIfAborted();
        const waitMs = options.waitMs(error, attemptNumber);
        if (waitMs === null) return false;
        options.onWait?.(error.failure, attemptNumber, waitMs);
        await clock.sleep(waitMs, signal);
        return true;
      },
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof TryAgain ? error.failure : error;
  }
}

const firstWaitMaxMs = 500;
const waitMaxMs = 10_000;

/**
 * Exponential backoff with full jitter: random between 0 and a ceiling that doubles with each try, in milliseconds. It is
 * added to the floor, so that many clients with the same floor do not return at the same instant.
 */
export function backoffMs(tryNumber: number, random: () => number, floorMs: number | null): number {
  const ceilingMs = Math.min(firstWaitMaxMs * 2 ** (tryNumber - 1), waitMaxMs);
  return Math.round((floorMs ?? 0) + random() * ceilingMs);
}

/** The policy for reads: four tries with backoff, `Retry-After` as the floor. @throws as `retry` does. */
export async function retryReads<T>(
  attempt: (tryNumber: number) => Promise<T>,
  { random, ...options }: Omit<RetryOptions, 'triesMax' | 'waitMs'> & { readonly random: () => number },
): Promise<T> {
  return retry(attempt, {
    ...options,
    triesMax: readTriesMax,
    waitMs: ({ retryAfterMs }, tryNumber) => backoffMs(tryNumber, random, retryAfterMs),
  });
}

/**
 * The header `Retry-After`, seconds or an HTTP date, as milliseconds from `nowMs` (wall clock) on: between 0 and `maxMs`.
 * Null for a missing or unreadable header.
 */
export function parseRetryAfter(header: string | null, nowMs: number, maxMs = retryAfterMaxMs): number | null {
  if (header === null) return null;
  const text = header.trim();
  if (/^\d{1,15}$/.test(text)) return Math.min(Number(text) * 1_000, maxMs);
  // All three date forms of HTTP begin with the name of a day; `Date.parse` would accept more than dates.
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return null;
  const atMs = Date.parse(text);
  if (Number.isNaN(atMs)) return null;
  return Math.min(Math.max(atMs - nowMs, 0), maxMs);
}
