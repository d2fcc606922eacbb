/**
 * The rate rule of `src/rate/rate-script.ts` once more, as a model: plain functions over a plain state. One test gives the
 * same calls to the script and to the model; others show what the rule promises on the model, with a clock of their own.
 */
import { type Clock, sleepUnlessCut } from '#src/clock.ts';
import { createWaitLine, type RateGate, type RatePass } from '#src/rate/rate-gate.ts';
import { rateRule } from '#src/rate/rate-script.ts';

export interface CountedPass {
  atMs: number;
}

/** Changed in place. Times are on one clock that never goes back. */
interface RateState {
  /** In the order of `atMs`; as many as may pass in one window. */
  readonly passes: CountedPass[];
  spacedAtMs: number;
  closedUntilMs: number;
  slowDown: SlowDown;
}

interface SlowDown {
  /** The share as it was at `sinceMs`. */
  readonly share: number;
  readonly sinceMs: number;
  /** What is refused before this belongs to the pause that slowed it down. */
  readonly quietUntilMs: number;
  readonly refusedAtMs: readonly number[];
}

const fullSpeed: SlowDown = { share: 1, sinceMs: 0, quietUntilMs: 0, refusedAtMs: [] };

export function newRateState(nowMs: number): RateState {
  const closedUntilMs = nowMs + rateRule.secondMs;
  return { passes: [], spacedAtMs: 0, closedUntilMs, slowDown: fullSpeed };
}

/** Zero or below: one may pass. */
export function untilNextMs(state: RateState, configured: number, nowMs: number): number {
  const closedMs = state.closedUntilMs - nowMs;
  const allowed = allowedAt(state.slowDown, configured, nowMs);
  const oldestMs = state.passes.at(-countPerWindow(allowed))?.atMs ?? Number.NEGATIVE_INFINITY;
  return Math.max(closedMs, state.spacedAtMs - nowMs, oldestMs + windowOf(allowed) - nowMs);
}

/** To be called only where one may pass. */
export function admit(state: RateState, configured: number, nowMs: number): CountedPass {
  const pass = { atMs: nowMs };
  const allowed = allowedAt(state.slowDown, configured, nowMs);
  count(state, configured, pass);
  const windowMs = windowOf(allowed);
  const perWindow = countPerWindow(allowed);
  const usedCount = state.passes.length - firstAfter(state.passes, nowMs - 2 * windowMs);
  const fullness = Math.min(usedCount / perWindow, 1);
  const spacingMs = (rateRule.spacingShare * windowMs * fullness) / perWindow;
  state.spacedAtMs = Math.max(state.spacedAtMs, nowMs - rateRule.catchUpMs) + spacingMs;
  return pass;
}

/** The request of that pass is being written. */
export function countFrom(state: RateState, configured: number, pass: CountedPass, nowMs: number): void {
  // It passed a moment ago: near the end.
  const index = state.passes.lastIndexOf(pass);
  if (index !== -1) state.passes.splice(index, 1);
  pass.atMs = nowMs;
  count(state, configured, pass);
}

/** The service answered 429: nobody passes before `untilMs`. */
export function refuse(state: RateState, nowMs: number, untilMs: number): void {
  state.closedUntilMs = Math.max(state.closedUntilMs, untilMs);
  state.slowDown = slowedDown(state.slowDown, nowMs, state.closedUntilMs);
}

export function allowedAt(slowDown: SlowDown, configured: number, nowMs: number): number {
  return configured * shareAt(slowDown, nowMs);
}

export function shareAt({ share, sinceMs }: Pick<SlowDown, 'share' | 'sinceMs'>, nowMs: number): number {
  return Math.min(1, share + rateRule.recoveryStep * Math.floor((nowMs - sinceMs) / rateRule.recoveryStepMs));
}

function slowedDown(slowDown: SlowDown, nowMs: number, pausedUntilMs: number): SlowDown {
  if (nowMs < slowDown.quietUntilMs) return slowDown;
  const recent = slowDown.refusedAtMs.filter((atMs) => nowMs - atMs < rateRule.refusalWindowMs);
  const refusedAtMs = [...recent, nowMs];
  if (refusedAtMs.length < rateRule.refusalsToSlowDown) return { ...slowDown, refusedAtMs };
  const share = Math.max(shareAt(slowDown, nowMs) / 2, rateRule.shareMin);
  return { share, sinceMs: nowMs, quietUntilMs: pausedUntilMs, refusedAtMs: [] };
}

/** It is the latest. */
function count(state: RateState, configured: number, pass: CountedPass): void {
  state.passes.push(pass);
  if (state.passes.length > countPerWindow(configured)) state.passes.shift();
}

/** Where the passes later than that begin; they are in the order of time. */
function firstAfter(passes: readonly CountedPass[], thenMs: number): number {
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
const windowOf = (allowed: number) => Math.max(rateRule.secondMs, rateRule.secondMs / allowed) + rateRule.marginMs;

/** A gate of one process that follows the model. */
export interface ModelGate extends RateGate {
  /** What is allowed at the moment. */
  requestsPerSecond(): number;
}

export function createModelGate(configured: number, clock: Clock): ModelGate {
  const state = newRateState(clock.monotonicMs());
  let admitting = false;
  let nap: AbortController | null = null;
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
    // Ends when the line is empty: each turn either admits one or sleeps until one may pass.
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
