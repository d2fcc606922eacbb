/**
 * A line of waiting calls: first come, first admitted; who gives up leaves the line.
 *
 * Invariant: a call that was admitted or has left is no longer in the line.
 */
export interface WaitLine<Ticket> {
  /** Resolves with its ticket when admitted; rejects with the signal's reason when that fires first. */
  join(signal?: AbortSignal): Promise<Ticket>;
  /** Admits the one who waits longest; false when nobody waits. */
  admitFirst(ticket: Ticket): boolean;
  readonly waitingCount: number;
}

/** `onLeave` is called after somebody gave up. */
export function createWaitLine<Ticket>(onLeave: () => void = () => {}): WaitLine<Ticket> {
  const waiting = new Set<(ticket: Ticket) => void>();
  return {
    join(signal) {
      return new Promise<Ticket>((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason);
          return;
        }
        const leave = () => {
          waiting.delete(admit);
          reject(signal?.reason);
          onLeave();
        };
        const admit = (ticket: Ticket) => {
          waiting.delete(admit);
          signal?.removeEventListener('abort', leave);
          resolve(ticket);
        };
        signal?.addEventListener('abort', leave, { once: true });
        waiting.add(admit);
      });
    },
    admitFirst(ticket) {
      for (const admit of waiting) {
        admit(ticket);
        return true;
      }
      return false;
    },
    get waitingCount() {
      return waiting.size;
    },
  };
}
