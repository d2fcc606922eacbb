/**
 * The rate gate: every request to the service passes it first (`docs/rules.md`, "Retries, rate, outages").
 *
 * What counts at the service is when a request is written, not when it passed the gate. A request that had to wait for its
 * connection reports that through its pass and counts from then on. It must be written within a second.
 *
 * Two gates implement it: `shared-rate-gate.ts` where a rate is configured, and the pause gate below where none is.
 */
import { type Clock, sleepUnlessCut } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';

/** Permission for one request. Without a call of `written` it counts from when it was given. */
export interface RatePass {
  /** Must be called when the request is being written. */
  written(): void | Promise<void>;
}

/** The gate of one API key. */
export interface RateGate {
  /**
   * Resolves when one request may be sent, which must then happen within a second. Rejects with the signal's reason; and as soon as it is certain
   * that no request passes for more than `heldMsMax` milliseconds from now on: `unreachable` `rateLimited` in a pause, `rateGateAway` where
   * nothing can be asked (its cause says why). Other callers, and the rate itself, hold nothing up in this sense.
   */
  take(signal?: AbortSignal, heldMsMax?: number): Promise<RatePass>;
  /** The service answered 429: no request passes before `untilMs` on the monotonic clock. */
  pause(untilMs: number): void | Promise<void>;
}

/**
 * A gate without a limit: it only holds the pause after a 429. There is nothing to share between processes, since each
 * gets its own 429.
 */
export function createPauseGate(clock: Clock): RateGate {
  let pausedUntilMs = 0;
  const pass: RatePass = { written: () => undefined };
  return {
    async take(signal, heldMsMax = Number.POSITIVE_INFINITY) {
      signal?.throwIfAborted();
      const untilMs = clock.monotonicMs() + heldMsMax;
      // Ends with the pause, which may have been extended meanwhile, or with the signal.
      for (;;) {
        const waitMs = Math.ceil(pausedUntilMs - clock.monotonicMs());
        if (waitMs <= 0) return pass;
        if (pausedUntilMs > untilMs) throw heldByPause(waitMs);
        if (signal === undefined) await clock.sleep(waitMs);
        else await sleepUnlessCut(clock, waitMs, signal);
        signal?.throwIfAborted();
      }
    },
    pause: (untilMs) => {
      pausedUntilMs = Math.max(pausedUntilMs, untilMs);
    },
  };
}

/** @param forMs how much longer. */
export function heldByPause(forMs: number): PatchbayError {
  const message = `The service answered with 429 (too many requests), and no request may be sent for ${Math.ceil(forMs / 1_000)} s.`;
  return new PatchbayError('unreachable', 'rateLimited', message);
}

/**
 * Waiting calls, admitted in the order in which they came.
 *
 * Invariant: a call that was admitted, or whose signal fired, is no longer in the line.
 */
export interface WaitLine<Ticket> {
  /** Resolves with its ticket when admitted; rejects with the signal's reason if that fires first. */
  join(signal?: AbortSignal): Promise<Ticket>;
  /** Admits the call that has waited longest; false if there is none. */
  admitFirst(ticket: Ticket): boolean;
  readonly waitingCount: number;
}

/** `onLeave` is called after a signal took a call out of the line. */
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
