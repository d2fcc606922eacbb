/** When a delivery is tried again. Pure. */

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** After the first try, the second, …: nine tries within about a day. */
export const retryDelaysMs: readonly number[] = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  12 * hour,
];
/** At most so much is added by chance, so that what failed together does not come back together. */
const jitterShare = 0.2;
/** A `Retry-After` above this is read as this. */
export const retryAfterMaxMs = 6 * hour;

/**
 * Milliseconds until the next try after `attempts` failed ones; null: there is none.
 * @param chance from 0 to 1.
 * @param retryAfterMs what the receiver asks for; never shortens the wait.
 */
export function retryDelayMs(attempts: number, chance: number, retryAfterMs: number | null): number | null {
  const delayMs = retryDelaysMs[attempts - 1];
  if (delayMs === undefined) return null;
  const askedMs = Math.min(retryAfterMs ?? 0, retryAfterMaxMs);
  return Math.round(Math.max(delayMs * (1 + jitterShare * chance), askedMs));
}
