/**
 * How many keys one piece of work takes at a time under a limited rate.
 *
 * Leases are taken only as fast as the rate can serve them (`rules.md`, "One contact per key", step 1), and a read must
 * still be fresh when its write has passed the line before the gate. How long that line is depends on the other workers
 * that share the rate, which nobody here knows. So the pace feels its way: half as many after a chunk whose writes came
 * too late, one more after each that came in time.
 */
export interface Pace {
  /** How many keys the next chunk takes; at least one. */
  keysPerChunk(): number;
  /** How a chunk fared: so many of its writes came too late. */
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
