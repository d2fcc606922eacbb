/**
 * The header `Retry-After` in both of its forms, seconds and HTTP date, as a waiting time.
 *
 * Invariant: the result is between 0 and `maxMs`; what cannot be read is null, never a guess.
 */
import { retryAfterMaxMs } from './limits.ts';

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
