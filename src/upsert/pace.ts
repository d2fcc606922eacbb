/**
 * How many keys one piece of work takes at a time under a limited rate.
 *
 * Leases are taken only as fast as the rate can serve them (`rules.md`, "One contact per key", step 1), and a read must
 * still be fresh when its write has passed the line before the gate. How long that line is depends on the other workers
 * that share the rate, which nobody here knows. So the pace feels its way: half as many after a chunk whose writes came
 * too late, one more after each that came in time.
 */
export interface Pace {
  /** How many keys the next chunk takes. */
  keysPerChunk(): number;
  /** Runs the work when it is its turn: under a low rate one chunk at a time is in the line. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>;
  /** How the last chunk fared. */
  ended(lateCount: number): void;
}

/** From here on two chunks may share the line: one alone could not fill it. */
const sharedLineRate = 100;

export function createPace(keysMax: number, requestsPerSecond: number | null): Pace {
  let keys = keysMax;
  let last: Promise<unknown> = Promise.resolve();
  const oneByOne = requestsPerSecond !== null && requestsPerSecond < sharedLineRate;
  return {
    keysPerChunk: () => keys,
    inTurn: (work) => {
      if (!oneByOne) return work();
      const turn = last.then(work);
      // How a turn ends is its caller's matter; the next one follows in any case.
      last = turn.catch(() => undefined);
      return turn;
    },
    ended: (lateCount) => {
      keys = lateCount > 0 ? Math.max(1, Math.floor(keys / 2)) : Math.min(keysMax, keys + 1);
    },
  };
}
