/**
 * The rate gate: every request to the service passes it first (`rules.md`, "Retries, rate, outages").
 *
 * Invariant: in no sliding second more requests pass than the allowed number, and while there is work at least 98 % of
 * it do. First come, first served. How that is decided stands in `rate-rule.ts`.
 *
 * What counts at the far end is when a request is written, not when it passed. A request that had to wait for its
 * connection says so by its pass, and then counts from that moment. The proof needs it written within a second.
 *
 * The gate here is that of one process. `queue/shared-rate-gate.ts` has the same face for many.
 */
import { type Clock, sleepUnlessCut } from '#src/clock.ts';
import { invariant } from '#src/errors.ts';
import { admit, allowedAt, countFrom, newRateState, refuse, untilNextMs } from './rate-rule.ts';

/** One request that may be sent. Who ignores it is counted from when it passed. */
export interface RatePass {
  /** The request is being written now. */
  written(): void | Promise<void>;
}

/** The gate of one API key. A gate that many processes share has the same face, so all of it may be asynchronous. */
export interface RateGate {
  /** Resolves when one request may be sent, which must then happen within a second. Rejects with the signal's reason. */
  take(signal?: AbortSignal): Promise<RatePass>;
  /** The service answered 429: nobody passes before `untilMs` on the monotonic clock of this system. */
  pause(untilMs: number): void | Promise<void>;
  /** What is allowed at the moment; null: unlimited. */
  requestsPerSecond(): number | null;
}

interface RateGateOptions {
  /** Above zero; null: unlimited (a pause still holds). */
  readonly requestsPerSecond: number | null;
  readonly clock: Clock;
}

/** Throws a `bug` for a rate that is none. */
export function createRateGate(options: RateGateOptions): RateGate {
  const { clock, requestsPerSecond: configured } = options;
  assertRate(configured);
  const state = newRateState(configured, clock.monotonicMs());
  let admitting = false;
  let nap: AbortController | null = null;
  // When the last one in line gave up, the nap has no purpose and would only keep the process alive.
  const line = createWaitLine<RatePass>(() => {
    if (line.waitingCount === 0) nap?.abort();
  });

  function admitFirst(nowMs: number): void {
    const pass = admit(state, configured, nowMs);
    line.admitFirst({ written: () => countFrom(state, configured, pass, clock.monotonicMs()) });
  }

  async function admitAll(): Promise<void> {
    if (admitting) return;
    admitting = true;
    // Ends when nobody waits: each turn either admits one or sleeps until one may pass.
    while (line.waitingCount > 0) {
      const nowMs = clock.monotonicMs();
      const waitMs = untilNextMs(state, configured, nowMs);
      if (waitMs > 0) {
        nap = new AbortController();
        await sleepUnlessCut(clock, Math.ceil(waitMs), nap.signal);
        nap = null;
      } else {
        admitFirst(nowMs);
      }
    }
    admitting = false;
  }

  return {
    take(signal) {
      const admitted = line.join(signal);
      void admitAll();
      return admitted;
    },
    pause: (untilMs) => refuse(state, clock.monotonicMs(), untilMs),
    requestsPerSecond: () => allowedAt(state.slowDown, configured, clock.monotonicMs()),
  };
}

export function assertRate(requestsPerSecond: number | null): void {
  const sound = requestsPerSecond === null || (Number.isFinite(requestsPerSecond) && requestsPerSecond > 0);
  invariant(sound, 'a rate is above zero or null');
}

/**
 * A line of waiting calls: first come, first admitted; who gives up leaves the line.
 *
 * Invariant: a call that was admitted or has left is no longer in the line.
 */
interface WaitLine<Ticket> {
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
