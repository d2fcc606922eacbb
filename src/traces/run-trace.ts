/**
 * The ids of a run's trace. They follow from the run's id alone, so that each process gives its spans to the same trace, and no job
 * in the queue has to carry them. Pure.
 */
import { createHash } from 'node:crypto';

export interface RunTrace {
  /** 32 hex digits. */
  readonly traceId: string;
  /** Of the span of the run itself, the root: 16 hex digits. */
  readonly rootSpanId: string;
}

export function runTrace(runId: string): RunTrace {
  const digits = createHash('sha256').update(`patchbay run ${runId}`).digest('hex');
  return { traceId: digits.slice(0, 32), rootSpanId: digits.slice(32, 48) };
}
