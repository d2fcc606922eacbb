/**
 * Work that is done again and again, one at a time: when it is asked for, or at an interval.
 *
 * Invariant: what was asked for while the work was under way is done once more, so that nothing which changed meanwhile is missed; and
 * after `stop` nothing of it is under way, so that what it uses can be closed.
 */

export interface Repeated {
  /** Does the work now, or once more after what is under way; many calls make one. Resolves when that is done, and never rejects. */
  ask(): Promise<void>;
  isUnderWay(): boolean;
  /** Begins no more, and waits for the end of what is under way. */
  stop(): Promise<void>;
}

/** @param onError gets what the work throws. */
export function oneAtATime(work: () => Promise<unknown>, onError: (error: unknown) => void): Repeated {
  let underWay: Promise<void> | null = null;
  let isAsked = false;
  let isStopped = false;

  const workWhileAsked = async (): Promise<void> => {
    // Ends: it is asked from outside only, and each turn answers that.
    do {
      isAsked = false;
      try {
        await work();
      } catch (error) {
        onError(error);
      }
    } while (isAsked && !isStopped);
    // In the same turn of the loop as the last question: what is asked next finds either the work, or none.
    underWay = null;
  };

  return {
    ask: () => {
      if (isStopped) return underWay ?? Promise.resolve();
      isAsked = true;
      underWay ??= workWhileAsked();
      return underWay;
    },
    isUnderWay: () => underWay !== null,
    stop: async () => {
      isStopped = true;
      await underWay;
    },
  };
}

/** The same, and also at that interval, unless it is under way. The first time after one interval. */
export function every(intervalMs: number, work: () => Promise<unknown>, onError: (error: unknown) => void): Repeated {
  const repeated = oneAtATime(work, onError);
  const timer = setInterval(() => {
    if (!repeated.isUnderWay()) void repeated.ask();
  }, intervalMs);
  return {
    ...repeated,
    stop: async () => {
      clearInterval(timer);
      await repeated.stop();
    },
  };
}
