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
 * writes, and grows by one after a chunk without, up to what the configured rate certainly serves. Beyond that it grows
 * only as far as the chunk before was fast, and is over with the first late write: so that one durable commit and one
 * settling transaction serve many keys.
 */
export interface Pace {
  /** How many keys the next chunk takes; at least one. */
  keysPerChunk(): number;
  /** Must be called after each chunk. */
  ended(chunk: EndedChunk): void;
}

export interface EndedChunk {
  /** Writes that came too late. */
  readonly lateCount: number;
  readonly keyCount: number;
  /** From the first lease to the last answer. */
  readonly tookMs: number;
}

export interface PaceLimits {
  /** The number of keys that the configured rate certainly serves. */
  readonly keysSure: number;
  /** At most this many where the chunks are fast enough. */
  readonly keysMax: number;
  /** A chunk above `keysSure` must end within this time at the speed of the one before. */
  readonly chunkMsMax: number;
}

export function createPace({ keysSure, keysMax, chunkMsMax }: PaceLimits): Pace {
  let keys = keysSure;
  return {
    keysPerChunk: () => keys,
    ended: ({ lateCount, keyCount, tookMs }) => {
      if (lateCount > 0) keys = keys > keysSure ? keysSure : Math.max(1, Math.floor(keys / 2));
      else if (keys < keysSure) keys += 1;
      // The rest of a batch shows nothing: what each chunk costs beside its requests would count too much.
      else if (keyCount >= keysSure) {
        const inTime = Math.floor((keyCount * chunkMsMax) / Math.max(1, tookMs));
        const more = Math.min(keysMax, 2 * keys, inTime);
        // Whole multiples, so that no look-up is left half empty.
        keys = Math.max(keysSure, more - (more % keysSure));
      }
    },
  };
}
