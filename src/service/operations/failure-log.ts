/**
 * The log of requests that failed by no fault of their sender, as on a full disk.
 *
 * Invariant: one cause has at most one line in a second. The first failure is logged at once, those that follow with their
 * count and their traces when the second is over, or when the service closes.
 */
import type { Clock } from '#src/clock.ts';
import { messageOf } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';

export interface Failure {
  readonly operation: string;
  readonly error: unknown;
  readonly trace: string;
}

export type TellFailure = (failure: Failure) => void;

interface Held {
  count: number;
  traces: string[];
}

const secondMs = 1_000;
const tracesPerLineMax = 100;
/** Beyond this many in a second, causes are logged without being held back. */
const causesMax = 100;

/** `closing` aborts when the service closes. */
export function createFailureLog(log: Logger, clock: Clock, closing: AbortSignal): TellFailure {
  const held = new Map<string, Held>();
  const holdForSecond = async (cause: string): Promise<void> => {
    const failures: Held = { count: 0, traces: [] };
    held.set(cause, failures);
    // Its one rejection is the abort: the service closes, and what is held back is logged at once, below.
    await clock.sleep(secondMs, closing).catch(() => undefined);
    held.delete(cause);
    if (failures.count === 0) return;
    log.error({ error: cause, ...failures }, 'requests failed');
    if (!closing.aborted) void holdForSecond(cause);
  };
  return ({ operation, error, trace }) => {
    const cause = messageOf(error);
    const failures = held.get(cause);
    if (failures === undefined) {
      log.error({ operation, error: cause, trace }, 'request failed');
      if (held.size < causesMax && !closing.aborted) void holdForSecond(cause);
      return;
    }
    failures.count += 1;
    if (failures.traces.length < tracesPerLineMax) failures.traces.push(trace);
  };
}
