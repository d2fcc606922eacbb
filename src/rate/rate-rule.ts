/**
 * The rule of the rate gate, without clock and without waiting (`rules.md`, "Retries, rate, outages"): who may pass at
 * which moment. Two gates follow it: the one of a process (`rate-gate.ts`) and the one that processes share, which repeats
 * the arithmetic where the state lies (`queue/shared-rate-gate-script.ts`). A test puts the same calls to both.
 *
 * Terms. A *pass* counts from when it was given, or from when its request was written, where that is later. The *window*
 * is a second and a margin; where less than one request per second is allowed, the time of one request. The *share* is
 * how much of the configured rate is used at the moment.
 *
 * Invariant: in no window more passes than the allowed number, rounded down: 2.5 per second lets 2 pass.
 *
 * The *spacing*: the first few pass together; the more passed of late, the wider they are spaced. Steady work is then
 * spread evenly, which keeps connections in use instead of closing them as idle between two bursts.
 *
 * The *slow-down*: on three 429 within 10 s the rate halves, at most once per pause, since one burst of refusals is one
 * message; it creeps back by 5 % of the configured rate per 10 s.
 *
 * A state that is new does not know what passed before it, so nobody passes in its first second.
 */

export const rateRule = {
  secondMs: 1_000,
  /** Added to each window, so that a little jitter on the way does not make one second too full at the far end. */
  marginMs: 10,
  /** Below 1, so that the window alone decides how many pass and late timers cost nothing. */
  spacingShare: 0.9,
  /** How far the spacing may catch up after a late timer. */
  catchUpMs: 50,
  refusalsToSlowDown: 3,
  refusalWindowMs: 10_000,
  recoveryStepMs: 10_000,
  recoveryStep: 0.05,
  /** The rate never falls below this share of what is configured. */
  shareMin: 1 / 16,
} as const;

/** Requests per second; null: unlimited, but a pause holds. */
type ConfiguredRate = number | null;

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

export function newRateState(configured: ConfiguredRate, nowMs: number): RateState {
  const closedUntilMs = configured === null ? 0 : nowMs + rateRule.secondMs;
  return { passes: [], spacedAtMs: 0, closedUntilMs, slowDown: fullSpeed };
}

/** Zero or below: one may pass. */
export function untilNextMs(state: RateState, configured: ConfiguredRate, nowMs: number): number {
  const closedMs = state.closedUntilMs - nowMs;
  const allowed = allowedAt(state.slowDown, configured, nowMs);
  if (allowed === null) return closedMs;
  const oldestMs = state.passes.at(-countPerWindow(allowed))?.atMs ?? Number.NEGATIVE_INFINITY;
  return Math.max(closedMs, state.spacedAtMs - nowMs, oldestMs + windowOf(allowed) - nowMs);
}

/** To be called only where one may pass. */
export function admit(state: RateState, configured: ConfiguredRate, nowMs: number): CountedPass {
  const pass = { atMs: nowMs };
  const allowed = allowedAt(state.slowDown, configured, nowMs);
  if (configured === null || allowed === null) return pass;
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
export function countFrom(state: RateState, configured: ConfiguredRate, pass: CountedPass, nowMs: number): void {
  if (configured === null) return;
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

export function allowedAt(slowDown: SlowDown, configured: ConfiguredRate, nowMs: number): ConfiguredRate {
  return configured === null ? null : configured * shareAt(slowDown, nowMs);
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
