/**
 * As many requests at a time as there are connections, so that none waits inside the connection pool, where it would
 * pass the rate gate early and be written late.
 */
import { createWaitLine } from './wait-line.ts';

export interface Slots {
  /** Waits for a free slot, in order; gives the function that frees it, to be called once. Rejects on abort. */
  take(signal?: AbortSignal): Promise<() => void>;
}

export function createSlots(slotCount: number): Slots {
  const line = createWaitLine<null>();
  let freeCount = slotCount;
  // A slot that is given up goes straight to the next in line, so nobody overtakes.
  const release = () => {
    if (!line.admitFirst(null)) freeCount += 1;
  };
  return {
    async take(signal) {
      signal?.throwIfAborted();
      if (freeCount > 0) freeCount -= 1;
      else await line.join(signal);
      return release;
    },
  };
}
