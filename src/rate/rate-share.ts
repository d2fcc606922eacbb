/**
 * How batches share a limited rate. Pure.
 *
 * Each batch puts some requests into the queue at the gate. If that queue is long, creates pass too late for their start
 * guard and reads go stale before their PATCH passes; either costs another look-up, and so part of the rate. More batches
 * at once than the rate can serve only lengthen it. So two figures follow from the rate: the *share* of a batch, and the
 * *pace* at which it takes its keys.
 */

export interface RateShare {
  /** What each batch gets of the rate at least; null: no limit. */
  readonly requestsPerSecondEach: number | null;
  /** How long a create may wait between intent and sending. Longer under a rate so low that the gate alone takes longer. */
  readonly startGuardMs: number;
}

/** One sends while the other waits for an answer. */
const batchesAtOnceMin = 2;
const batchesPerRequestPerSecond = 0.025;
/** The start guard is long enough for this number of requests of each batch. */
const requestsInLine = 8;

/** Batches at work at once, over all processes; null: as many as the processes take. */
export function batchesAtOnceMax(requestsPerSecond: number | null): number | null {
  if (requestsPerSecond === null) return null;
  return Math.max(batchesAtOnceMin, Math.ceil(requestsPerSecond * batchesPerRequestPerSecond));
}

/** @param startGuardMsMin the start guard without a limit. */
export function shareOfRate(requestsPerSecond: number | null, startGuardMsMin: number): RateShare {
  const batchesMax = batchesAtOnceMax(requestsPerSecond);
  if (requestsPerSecond === null || batchesMax === null) {
    return { requestsPerSecondEach: null, startGuardMs: startGuardMsMin };
  }
  const requestsPerSecondEach = requestsPerSecond / batchesMax;
  const lineMs = Math.ceil((requestsInLine * 1_000) / requestsPerSecondEach);
  return { requestsPerSecondEach, startGuardMs: Math.max(startGuardMsMin, lineMs) };
}

/**
 * How many keys a batch takes at a time. Leases are taken only as fast as the rate can serve them (`docs/rules.md`, "One contact
 * per key", step 1), and a read must still be fresh when its write passes the gate. How long that takes depends on the
 * other processes that share the rate, which are unknown here. So the pace adapts: it halves after a chunk with late
 * writes, and grows by one after a chunk without.
 */
export interface Pace {
  /** How many keys the next chunk takes; at least one. */
  keysPerChunk(): number;
  /** Must be called after each chunk, with the number of its writes that came too late. */
  ended(lateCount: number): void;
}

export function createPace(keysMax: number): Pace {
  let keys = keysMax;
  return {
    keysPerChunk: () => keys,
    ended: (lateCount) => {
      keys = lateCount > 0 ? Math.max(1, Math.floor(keys / 2)) : Math.min(keysMax, keys + 1);
    },
  };
}
