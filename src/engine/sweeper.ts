/**
 * One round of the sweep at a time, whoever asks for it: the queue's job, or the engine itself where the queue does not
 * hand that job out. A round probes a paused service and hands out what is due, so it must happen without a queue too.
 */
import type { Clock } from '#src/clock.ts';
import { within } from '#src/queue/embedded/deadline.ts';

/** A round that is cut short ends at its next step, unless it waits for a queue that is frozen. */
const graceMs = 2_000;

export interface Sweeper {
  /** Joins the round that is under way. Rejects as the round does. */
  sweep(): Promise<void>;
  /** How long ago the last round began. */
  sinceLastMs(): number;
  /** Cuts the round under way short and waits for its end, though not for a queue that does not answer. Later calls do nothing. */
  stop(): Promise<void>;
}

export function createSweeper(
  clock: Pick<Clock, 'monotonicMs'>,
  round: (signal: AbortSignal) => Promise<void>,
): Sweeper {
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  let lastAtMs = clock.monotonicMs();
  return {
    sweep: () => {
      if (stopping.signal.aborted) return running ?? Promise.resolve();
      if (running !== null) return running;
      lastAtMs = clock.monotonicMs();
      running = round(stopping.signal).finally(() => {
        running = null;
      });
      return running;
    },
    sinceLastMs: () => clock.monotonicMs() - lastAtMs,
    stop: async () => {
      stopping.abort();
      // Whoever asked for the round has its error, and tells it; here only its end counts.
      await within(graceMs, running?.catch(() => undefined) ?? Promise.resolve());
    },
  };
}
