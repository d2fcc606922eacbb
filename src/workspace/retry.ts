/**
 * The one retry layer, for reads alone: four tries, exponential with full jitter, `Retry-After` as the floor.
 *
 * A try asks for another one by throwing `TryAgain`; anything else it throws is final, an abort above all. Writes do
 * not come here: a write in doubt is reconciled, never repeated (`design.md`, decision 4).
 */
import pRetry from 'p-retry';
import type { Clock } from '#src/clock.ts';
import type { PatchbayError } from '#src/errors.ts';
import { readTriesMax, retryAfterMaxMs } from './limits.ts';

/** Thrown by a try that may be repeated. `failure` is what the caller gets when it was the last one. */
export class TryAgain extends Error {
  override readonly name = 'TryAgain';
  readonly failure: PatchbayError;
  /** What the service asked for; null where it asked for nothing. */
  readonly retryAfterMs: number | null;

  constructor(failure: PatchbayError, retryAfterMs: number | null) {
    super(failure.message);
    this.failure = failure;
    this.retryAfterMs = retryAfterMs;
  }
}

interface RetryOptions {
  readonly clock: Clock;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
  readonly signal?: AbortSignal | undefined;
  /** Called before each wait. */
  readonly onWait?: (failure: PatchbayError, tryNumber: number, waitMs: number) => void;
}

const firstWaitMaxMs = 500;
const waitMaxMs = 10_000;

/**
 * The wait after try number `tryNumber` (from 1): random between 0 and a ceiling that doubles with each try, on top of
 * the floor, so that many clients that were given the same floor do not return at the same instant.
 */
export function backoffMs(tryNumber: number, random: () => number, floorMs: number | null): number {
  const ceilingMs = Math.min(firstWaitMaxMs * 2 ** (tryNumber - 1), waitMaxMs);
  return Math.round((floorMs ?? 0) + random() * ceilingMs);
}

/** Runs `attempt` (given the try's number, from 1) until it returns, gives up, or `readTriesMax` tries are used. */
export async function retryReads<T>(attempt: (tryNumber: number) => Promise<T>, options: RetryOptions): Promise<T> {
  const { clock, random, signal, onWait } = options;
  try {
    // The library counts; the waiting is ours, since it knows neither full jitter nor Retry-After. It does not get
    // the signal either: it would throw an answer away that arrived together with the abort.
    return await pRetry(attempt, {
      retries: readTriesMax - 1,
      minTimeout: 0,
      shouldRetry: async ({ error, attemptNumber }) => {
        if (!(error instanceof TryAgain)) return false;
        signal?.throwIfAborted();
        const waitMs = backoffMs(attemptNumber, random, error.retryAfterMs);
        onWait?.(error.failure, attemptNumber, waitMs);
        await clock.sleep(waitMs, signal);
        return true;
      },
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof TryAgain ? error.failure : error;
  }
}

// The header `Retry-After` in both of its forms, seconds and HTTP date, as a waiting time.
//
// Invariant: the result is between 0 and `maxMs`; what cannot be read is null, never a guess.

/** Milliseconds to wait from `nowMs` (wall clock) on; null where there is no readable header. */
export function parseRetryAfter(header: string | null, nowMs: number, maxMs = retryAfterMaxMs): number | null {
  if (header === null) return null;
  const text = header.trim();
  if (/^\d{1,15}$/.test(text)) return Math.min(Number(text) * 1_000, maxMs);
  // The three date forms of HTTP begin with the name of a day; other things that `Date.parse` takes are no dates here.
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return null;
  const atMs = Date.parse(text);
  if (Number.isNaN(atMs)) return null;
  return Math.min(Math.max(atMs - nowMs, 0), maxMs);
}
