/**
 * How a limited rate is shared among the batches that all processes together work on at once. Pure.
 *
 * Each batch puts some requests into the line before the gate. A long line makes creates pass too late for their start guard
 * and reads go stale before their PATCH passes: both cost a further look-up, and so the rate. More batches at once than
 * serve to use the rate up only lengthen the line. Two at least, so that one sends while the other waits for an answer.
 */
import { workspaceTimeouts } from '#src/workspace/limits.ts';

export interface RateShare {
  /** Batches at work at once, over all processes; null: as many as the processes take. */
  readonly batchesAtOnceMax: number | null;
  /** What one batch gets of the rate at least; null: no limit. */
  readonly requestsPerSecondEach: number | null;
  /** One second; longer where the rate is so low that the line before the gate alone takes longer. */
  readonly startGuardMs: number;
}

const batchesAtOnceMin = 2;
const batchesPerRequestPerSecond = 0.025;
/** In this time each batch at work gets through its share of the line twice. */
const requestsInLine = 8;

export function shareOfRate(requestsPerSecond: number | null): RateShare {
  const startGuardMs = workspaceTimeouts.writeStartMs;
  if (requestsPerSecond === null) return { batchesAtOnceMax: null, requestsPerSecondEach: null, startGuardMs };
  const batchesAtOnceMax = Math.max(batchesAtOnceMin, Math.ceil(requestsPerSecond * batchesPerRequestPerSecond));
  const requestsPerSecondEach = requestsPerSecond / batchesAtOnceMax;
  const lineMs = Math.ceil((requestsInLine * 1_000) / requestsPerSecondEach);
  return { batchesAtOnceMax, requestsPerSecondEach, startGuardMs: Math.max(startGuardMs, lineMs) };
}
