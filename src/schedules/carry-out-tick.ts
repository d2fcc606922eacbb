/**
 * Does the work of one tick and records its end.
 *
 * Cut off on purpose (the process stops, the queue lost the job), it waits again and is begun anew. Anything else ends it: what
 * it throws is its outcome, and the next tick tries again.
 */
import type { Clock } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { TickEnd, TickRecord } from '#src/ledger/schedule-record.ts';
import type { Logger } from '#src/log.ts';

export interface TickParts {
  readonly ledger: Pick<Ledger, 'schedules'>;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface TickLimits {
  /** Fires when the job is cut off. */
  readonly signal: AbortSignal;
  /** Work that takes longer is stopped, and has failed. */
  readonly limitMs: number;
}

/** Where the ledger cannot be written, the end is tried again after this, until the process stops. */
const endAgainMs = 5_000;
const messageMax = 500;

/**
 * Does nothing where the tick does not wait, or another one of its schedule is at work.
 * @throws what is no `PatchbayError`, once the tick has ended as failed; what the ledger throws at the beginning.
 */
export async function carryOutTick(
  parts: TickParts,
  id: string,
  { signal, limitMs }: TickLimits,
  work: (tick: TickRecord, signal: AbortSignal) => Promise<TickEnd>,
): Promise<void> {
  const { ledger, clock, log } = parts;
  if (signal.aborted || !(await ledger.schedules.begin(id, clock.nowMs()))) return;
  const tick = await ledger.schedules.tick(id);
  if (tick === null) return;
  const limit = startLimit(clock, limitMs);
  const startedAtMs = clock.monotonicMs();
  let thrown: unknown = null;
  const failed = (error: unknown): TickEnd => {
    thrown = error instanceof PatchbayError ? null : error;
    return failedEnd(error);
  };
  try {
    const end = await work(tick, AbortSignal.any([signal, limit.signal])).catch((error: unknown) => {
      if (signal.aborted) return null;
      return failed(limit.signal.aborted ? limit.signal.reason : error);
    });
    if (end === null) {
      await ledger.schedules.release(id);
      return;
    }
    if (await endTick(parts, id, end, signal)) {
      tell(log, tick, end, Math.round(clock.monotonicMs() - startedAtMs));
    }
  } finally {
    await limit.stop();
  }
  if (thrown !== null) throw thrown;
}

function startLimit(
  clock: Clock,
  limitMs: number,
): { readonly signal: AbortSignal; readonly stop: () => Promise<void> } {
  const over = new AbortController();
  const done = new AbortController();
  const minutes = Math.round(limitMs / 60_000);
  const waiting = clock.sleep(limitMs, done.signal).then(
    () => over.abort(new PatchbayError('unreachable', 'tickTooLong', `it took longer than ${minutes} minutes`)),
    () => undefined,
  );
  return {
    signal: over.signal,
    stop: () => {
      done.abort();
      return waiting;
    },
  };
}

/** Ends when the end is written, or with the signal; until then the schedule would stand still. */
async function endTick(parts: TickParts, id: string, end: TickEnd, signal: AbortSignal): Promise<boolean> {
  const { ledger, clock } = parts;
  for (;;) {
    try {
      return await ledger.schedules.end(id, clock.nowMs(), end);
    } catch (error) {
      if (!(error instanceof PatchbayError) || error.kind !== 'transient') throw error;
      await clock.sleep(endAgainMs, signal);
    }
  }
}

function failedEnd(error: unknown): TickEnd {
  if (error instanceof PatchbayError) {
    return { outcome: 'failed', code: error.code, message: error.message.slice(0, messageMax) };
  }
  // What it says is not known to be free of personal data: it goes to the log of the job alone.
  return { outcome: 'failed', code: 'unexpected', message: 'something unexpected went wrong; the log tells more' };
}

function tell(log: Logger, tick: TickRecord, end: TickEnd, ms: number): void {
  const code = 'code' in end ? { code: end.code } : {};
  const runs = end.outcome === 'run' ? { runs: end.runIds } : {};
  const facts = { schedule: tick.schedule, tick: tick.id, outcome: end.outcome, ...code, ...runs, ms };
  log[end.outcome === 'failed' ? 'warn' : 'info'](facts, 'schedule done');
}
