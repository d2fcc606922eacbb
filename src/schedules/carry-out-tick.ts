/**
 * Does the work of one tick and records its end.
 *
 * If it is interrupted on purpose (the process stops, the queue lost the job), the tick waits again and is started over. A
 * temporary ledger failure leaves it marked as working without a worker: the next sweep makes it wait again
 * (`ScheduleLedger.reopen`). Any other error ends the tick as failed, and the next tick tries again.
 */
import { type Clock, sleepUnlessCut } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import { type Following, type FollowStop, follow } from '#src/ledger/follow.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { ScheduleWork, TickEnd, TickRecord, TickTrigger } from '#src/ledger/schedules.ts';
import type { Logger } from '#src/log.ts';

export interface TickParts {
  readonly ledger: Pick<Ledger, 'schedules'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ids of the ticks that this process works on. */
  readonly underWay: Set<string>;
}

/** What the jobs of schedules call into. */
export interface SchedulesContext extends TickParts {
  /** Enters what is due; does nothing in an engine that runs no schedules. */
  tickDue(): Promise<void>;
  /** Takes what the feed's path, glob or URL holds. @throws PatchbayError why it could not. */
  take(feedName: string, trigger: TickTrigger, signal: AbortSignal): Promise<TickEnd>;
  /** Tells the dispatcher that runs were entered. */
  wake(): void;
}

interface TickLimits {
  /** Fires when the job is cut off. */
  readonly signal: AbortSignal;
  /** Work that takes longer is stopped, and has failed. */
  readonly limitMs: number;
}

/** How long the work of one tick may take: a download with its retries; a walk over all pages and what follows. */
export const tickLimitMs: Readonly<Record<ScheduleWork, number>> = { take: 1_800_000, snapshot: 900_000 };

/** How long to wait for work that was asked to stop and hangs, for example in a file system that does not answer. */
const graceMs = 10_000;
/** While the ledger cannot be written, the end is retried at this interval, until the process stops. */
const endAgainMs = 5_000;
const messageMax = 500;
/** A tick of a `delta` feed takes hundreds of files. */
const runsToldMax = 5;

type TickWork = (tick: TickRecord, signal: AbortSignal) => Promise<TickEnd>;

/**
 * Does nothing if the tick is not waiting, or if another tick of its schedule is running.
 * @throws any error that is no `PatchbayError`, after the tick has ended as failed; what the ledger throws.
 */
export async function carryOutTick(parts: TickParts, id: string, limits: TickLimits, work: TickWork): Promise<void> {
  const { ledger, clock, underWay } = parts;
  // A flushed queue brings the job back while the first one is still at work.
  if (limits.signal.aborted || underWay.has(id)) return;
  underWay.add(id);
  try {
    const tick = await ledger.schedules.begin(id, clock.nowMs());
    if (tick !== null) await carryOut(parts, tick, limits, work);
  } finally {
    underWay.delete(id);
  }
}

async function carryOut(
  parts: TickParts,
  tick: TickRecord,
  { signal, limitMs }: TickLimits,
  work: TickWork,
): Promise<void> {
  const { ledger, clock, log } = parts;
  const startedAtMs = clock.monotonicMs();
  const limit = startLimit(clock, limitMs);
  const { end, failure } = await Promise.race([work(tick, AbortSignal.any([signal, limit.signal])), limit.over])
    .then(
      (ended) => ({ end: ended, failure: null }),
      (error: unknown) => {
        const cause: unknown = limit.signal.aborted ? limit.signal.reason : error;
        return { end: failedEnd(cause), failure: { cause } };
      },
    )
    .finally(limit.stop);
  // What it throws where it is cut off is not its end.
  const isCut = failure !== null && signal.aborted;
  if (!isCut && isTransient(failure?.cause)) throw failure?.cause;
  if (!isCut && (await endTick(parts, tick, end, signal)))
    tell(log, tick, end, Math.round(clock.monotonicMs() - startedAtMs));
  else if (signal.aborted) return void (await ledger.schedules.release(tick.id, tick.attempts));
  if (failure !== null && !(failure.cause instanceof PatchbayError)) throw failure.cause;
}

function isTransient(error: unknown): boolean {
  return error instanceof PatchbayError && error.kind === 'transient';
}

interface Limit {
  /** Fires when the time is over. */
  readonly signal: AbortSignal;
  /** Rejects a while later, for work that does not heed the signal. */
  readonly over: Promise<never>;
  stop(): void;
}

function startLimit(clock: Clock, limitMs: number): Limit {
  const timeIsUp = new AbortController();
  const done = new AbortController();
  const reason = new PatchbayError('unreachable', 'tickTooLong', `it took longer than ${inMinutes(limitMs)}`);
  const run = async (): Promise<never> => {
    await clock.sleep(limitMs, done.signal);
    timeIsUp.abort(reason);
    await clock.sleep(graceMs, done.signal);
    throw reason;
  };
  const over = run();
  // The race throws it. If the work ends first, or never begins, this rejection has no other handler.
  over.catch(() => undefined);
  return { signal: timeIsUp.signal, over, stop: () => done.abort() };
}

function inMinutes(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes === 1 ? 'a minute' : `${minutes} minutes`;
}

/**
 * Tries until the end is written, since a schedule without it would be blocked, or until the signal fires.
 * @returns whether it is written: not where it was cut off, nor where the tick is no longer this attempt's.
 */
async function endTick(
  parts: TickParts,
  { id, attempts }: TickRecord,
  end: TickEnd,
  signal: AbortSignal,
): Promise<boolean> {
  const { ledger, clock } = parts;
  // Ends when it is written, with the signal, or with an error that waiting does not help.
  for (;;) {
    try {
      return await ledger.schedules.end(id, clock.nowMs(), end, attempts);
    } catch (error) {
      if (!isTransient(error)) throw error;
      await sleepUnlessCut(clock, endAgainMs, signal);
      if (signal.aborted) return false;
    }
  }
}

/** What it says is not known to be free of personal data: it goes to the log of the job alone. */
const unexpectedMessage = 'unexpected error; see the log for details';

function failedEnd(error: unknown): TickEnd {
  if (error instanceof PatchbayError) {
    const { code, kind, message, hint } = error;
    const plainMessage = (kind === 'bug' ? unexpectedMessage : error.plainMessage).slice(0, messageMax);
    return { outcome: 'failed', code, kind, message: message.slice(0, messageMax), hint, plainMessage };
  }
  return {
    outcome: 'failed',
    code: 'unexpected',
    kind: 'bug',
    message: unexpectedMessage,
    plainMessage: unexpectedMessage,
  };
}

function tell(log: Logger, tick: TickRecord, end: TickEnd, ms: number): void {
  const code = 'code' in end ? { code: end.code } : {};
  const runs = end.outcome === 'run' ? { runs: end.runIds.slice(0, runsToldMax), runCount: end.runIds.length } : {};
  const facts = { feed: tick.schedule, tick: tick.id, outcome: end.outcome, ...code, ...runs, ms };
  log[end.outcome === 'failed' ? 'warn' : 'info'](facts, 'schedule done');
}

/** Why following ended. */
export type TickFollowEnd =
  | { readonly kind: 'done'; readonly tick: TickRecord }
  /** Its schedule was dropped from the configuration. */
  | { readonly kind: 'forgotten' }
  | FollowStop;

interface FollowTickOptions extends Following {
  readonly tickId: string;
}

/** Ends with the tick, or as `follow` does. Work at hand has a limit of its own, and no patience ends it. */
export async function followTick(options: FollowTickOptions): Promise<TickFollowEnd> {
  const { ledger, tickId } = options;
  return follow<TickFollowEnd>(options, async () => {
    const tick = await ledger.schedules.tick(tickId);
    if (tick === null) return { end: { kind: 'forgotten' } };
    if (tick.state === 'ended') return { end: { kind: 'done', tick } };
    // What is taken is entered and waits for the key as a run.
    return {
      progress: (await isMoving(ledger, tick.schedule)) ? null : tick.state,
      needsKey: tick.work === 'snapshot',
    };
  });
}

/** It, or one of its schedule that it waits for. */
async function isMoving({ schedules }: Ledger, name: string): Promise<boolean> {
  return (await schedules.openTicks()).some((tick) => tick.schedule === name && tick.state === 'working');
}
