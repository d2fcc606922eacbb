/**
 * A place in a listing that shows the newest first: calls and messages are in order of creation, then of insertion.
 *
 * A page begins below a place. What is created later stands above it, so that new records neither repeat nor skip
 * those that a walk has not reached yet.
 */

export interface Place {
  readonly createdMs: number;
  /** Grows with every insert; 1 is the first. */
  readonly seq: number;
}

/** Above every record. */
export const topPlace: Place = { createdMs: 999_999_999_999_999, seq: 0 };

/** The place above everything that was created at this instant, and below everything created later. */
export function placeBefore(createdMs: number): Place {
  return { createdMs, seq: 0 };
}

export function lowerPlace(one: Place, other: Place): Place {
  if (one.createdMs !== other.createdMs) return one.createdMs < other.createdMs ? one : other;
  return one.seq < other.seq ? one : other;
}
