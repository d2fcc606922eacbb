/**
 * The rate gate: every request to the service passes it first (`rules.md`, "Retries, rate, outages").
 *
 * Invariant: in no sliding second more requests pass than the allowed number, and while there is work at least 98 % of
 * it do. First come, first served. A fraction above one is rounded down: 2.5 per second lets 2 pass.
 *
 * What counts at the far end is when a request is written, not when it passed. A request that had to wait for its
 * connection says so by its pass, and then counts from that moment. The proof needs it written within a second.
 *
 * The first few pass together; the more passed of late, the wider they are spaced. Steady work is then spread evenly,
 * which keeps connections in use instead of closing them as idle between two bursts.
 *
 * A 429 pauses the gate. On three within 10 s the rate halves, at most once per pause, since one burst of refusals is
 * one message; it creeps back by 5 % of the allowed rate per 10 s.
 *
 * A gate without state does not know what its predecessor let pass, so a new one waits a full second from its making.
 */
import type { Clock } from '#src/clock.ts';
import { invariant } from '#src/errors.ts';
import { createWaitLine } from './wait-line.ts';

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

export interface RateGateOptions {
  /** Above zero; null: unlimited (a pause still holds). */
  readonly requestsPerSecond: number | null;
  readonly clock: Clock;
}

const secondMs = 1_000;
/** Added to each window, so that a little jitter on the way does not make one second too full at the far end. */
const marginMs = 8;
/** Below 1, so that the window alone decides how many pass and late timers cost nothing. */
const spacingShare = 0.9;
/** How far the spacing may catch up after a late timer. */
const catchUpMs = 50;
const refusalsToSlowDown = 3;
const refusalWindowMs = 10_000;
const recoveryStepMs = 10_000;
const recoveryStep = 0.05;
/** The rate never falls below this share of what is allowed. */
const shareMin = 1 / 16;

export function createRateGate(options: RateGateOptions): RateGate {
  const { clock, requestsPerSecond: configured } = options;
  invariant(configured === null || (Number.isFinite(configured) && configured > 0), 'a rate is above zero or null');

  const slowDown = createSlowDown();
  /** In the order of `atMs`; as many as may pass in one window. */
  const passes: { atMs: number }[] = [];
  let spacedAtMs = 0;
  let closedUntilMs = configured === null ? 0 : clock.monotonicMs() + secondMs;
  let admitting = false;
  let nap: AbortController | null = null;
  // When the last one in line gave up, the nap has no purpose and would only keep the process alive.
  const line = createWaitLine<RatePass>(() => {
    if (line.waitingCount === 0) nap?.abort();
  });

  const allowedNow = (nowMs: number) => (configured === null ? null : configured * slowDown.share(nowMs));

  function untilNextMs(nowMs: number): number {
    const closedMs = closedUntilMs - nowMs;
    const allowed = allowedNow(nowMs);
    if (allowed === null) return closedMs;
    const oldestMs = passes.at(-countPerWindow(allowed))?.atMs ?? Number.NEGATIVE_INFINITY;
    return Math.max(closedMs, spacedAtMs - nowMs, oldestMs + windowOf(allowed) - nowMs);
  }

  function admitFirst(nowMs: number): void {
    const pass = { atMs: nowMs };
    const allowed = allowedNow(nowMs);
    if (configured !== null && allowed !== null) {
      passes.push(pass);
      if (passes.length > countPerWindow(configured)) passes.shift();
      const windowMs = windowOf(allowed);
      const perWindow = countPerWindow(allowed);
      const usedCount = passes.length - firstAfter(passes, nowMs - 2 * windowMs);
      const fullness = Math.min(usedCount / perWindow, 1);
      spacedAtMs = Math.max(spacedAtMs, nowMs - catchUpMs) + (spacingShare * windowMs * fullness) / perWindow;
    }
    line.admitFirst({ written: () => countFromNow(pass) });
  }

  function countFromNow(pass: { atMs: number }): void {
    // It passed a moment ago: near the end.
    const index = passes.lastIndexOf(pass);
    if (index === -1) return;
    passes.splice(index, 1);
    pass.atMs = clock.monotonicMs();
    passes.push(pass);
  }

  async function admitAll(): Promise<void> {
    if (admitting) return;
    admitting = true;
    // Ends when nobody waits: each turn either admits one or sleeps until one may pass.
    while (line.waitingCount > 0) {
      const nowMs = clock.monotonicMs();
      const waitMs = untilNextMs(nowMs);
      if (waitMs > 0) {
        nap = new AbortController();
        await clock.sleep(Math.ceil(waitMs), nap.signal).catch(() => {});
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
    pause(untilMs) {
      closedUntilMs = Math.max(closedUntilMs, untilMs);
      slowDown.refused(clock.monotonicMs(), closedUntilMs);
    },
    requestsPerSecond: () => allowedNow(clock.monotonicMs()),
  };
}

/** Where the passes later than that begin; they are in the order of time. */
function firstAfter(passes: readonly { readonly atMs: number }[], thenMs: number): number {
  let low = 0;
  let high = passes.length;
  // Ends: each turn halves what is left.
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((passes[middle]?.atMs ?? 0) > thenMs) high = middle;
    else low = middle + 1;
  }
  return low;
}

const countPerWindow = (allowed: number) => Math.max(1, Math.floor(allowed));
const windowOf = (allowed: number) => Math.max(secondMs, secondMs / allowed) + marginMs;

/** Which share of the allowed rate is used, after what the service refused. */
function createSlowDown() {
  let shareAtStart = 1;
  let startedAtMs = 0;
  let quietUntilMs = 0;
  let refusedAtMs: number[] = [];

  const share = (nowMs: number) =>
    Math.min(1, shareAtStart + recoveryStep * Math.floor((nowMs - startedAtMs) / recoveryStepMs));

  return {
    share,
    refused(nowMs: number, pausedUntilMs: number): void {
      if (nowMs < quietUntilMs) return;
      refusedAtMs = [...refusedAtMs.filter((atMs) => nowMs - atMs < refusalWindowMs), nowMs];
      if (refusedAtMs.length < refusalsToSlowDown) return;
      shareAtStart = Math.max(share(nowMs) / 2, shareMin);
      startedAtMs = nowMs;
      quietUntilMs = pausedUntilMs;
      refusedAtMs = [];
    },
  };
}
