/**
 * The engine's periodic work: a *sweep* every five seconds, and a look every 250 ms whether another process wrote to the
 * ledger.
 *
 * A sweep puts back what the queue should hold, probes a paused service and does the slower tasks when they are due. The
 * trigger goes through the queue, as a job with the time slot in its id, so that people see it there.
 * If the queue refuses that job, or accepts it and does not deliver it, the engine sweeps by itself; so does each of several engines on
 * a ledger, since each has tasks of its own.
 */
import { type Clock, within } from '#src/clock.ts';
import { messageOf } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { isLedgerTrouble } from '#src/ledger/trouble.ts';
import type { Logger } from '#src/log.ts';
import type { Producer } from '#src/queue/producer.ts';
import { every } from '#src/repeat.ts';

export interface PeriodicTask {
  /** 1: at every sweep. The first sweep runs all tasks. */
  readonly everySweeps: number;
  /** The signal ends the sweep. */
  run(signal: AbortSignal): Promise<unknown>;
}

/** @returns one sweep over the tasks, in order. It rejects with the first failure, after all due tasks were tried. */
export function sweepOver(tasks: readonly PeriodicTask[]): (signal: AbortSignal) => Promise<void> {
  let sweepCount = 0;
  return async (signal) => {
    const due = tasks.filter(({ everySweeps }) => sweepCount % everySweeps === 0);
    sweepCount += 1;
    const failures: unknown[] = [];
    for (const task of due) {
      if (signal.aborted) break;
      await task.run(signal).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  };
}

export interface Sweeper {
  /** Starts a sweep, or joins the one in progress. Rejects as the sweep does. */
  sweep(): Promise<void>;
  /** How long ago the last sweep began. */
  sinceLastMs(): number;
  /** Cuts the current sweep short and waits for its end, at most two seconds. Later calls of `sweep` do nothing. */
  stop(): Promise<void>;
}

/** An aborted sweep ends at its next step, unless it waits for a frozen queue. */
const stopGraceMs = 2_000;

/** One sweep at a time, whether the queue's job or the engine's timer asks for it. */
export function createSweeper(
  clock: Pick<Clock, 'monotonicMs'>,
  sweepOnce: (signal: AbortSignal) => Promise<void>,
): Sweeper {
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  let lastAtMs = clock.monotonicMs();
  return {
    sweep: () => {
      if (stopping.signal.aborted) return running ?? Promise.resolve();
      if (running !== null) return running;
      lastAtMs = clock.monotonicMs();
      running = sweepOnce(stopping.signal).finally(() => {
        running = null;
      });
      return running;
    },
    sinceLastMs: () => clock.monotonicMs() - lastAtMs,
    stop: async () => {
      stopping.abort();
      // The caller of `sweep` gets its error and reports it; only the end counts here.
      await within(stopGraceMs, running?.catch(() => undefined) ?? Promise.resolve());
    },
  };
}

export const sweepEveryMs = 5_000;
const wakeEveryMs = 250;
/** A sweep that the queue accepted should have begun long before. */
const sweepLateMs = 20_000;

export interface Timers {
  readonly clock: Clock;
  readonly log: Logger;
  readonly ledger: Ledger;
  /** Null: each sweep is this engine's own. */
  readonly producer: Pick<Producer, 'add' | 'giveUp'> | null;
  readonly sweeper: Sweeper;
  /** Called when another process wrote to the ledger. */
  readonly wake: () => void;
}

/**
 * @returns a function that stops the timers, and waits for what they began, but not for a queue that does not answer: from then on the producer
 * takes no jobs. A sweep is ended by the sweeper's own stop.
 */
export function startEngineTimers({ clock, log, ledger, producer, sweeper, wake }: Timers): () => Promise<void> {
  let changeCount = -1;
  let isStopped = false;
  let reportedFailure: string | null = null;
  const report = (error: unknown, message: string): void => {
    log[isLedgerTrouble(error) ? 'debug' : 'warn']({ reason: messageOf(error) }, message);
  };
  const lookForChanges = async (): Promise<void> => {
    await ledger.requireSound();
    const count = await ledger.changeCount();
    if (count !== changeCount) wake();
    changeCount = count;
    reportedFailure = null;
  };
  const endedEarly = (error: unknown): void => report(error, 'sweep ended early');
  const askForSweep = async (): Promise<void> => {
    const slot = Math.floor(clock.monotonicMs() / sweepEveryMs);
    const isAccepted =
      producer !== null && (await producer.add([{ name: 'sweep', id: `sweep-${slot}`, payload: { slot } }]));
    if (isStopped) return;
    if (!isAccepted || sweeper.sinceLastMs() > sweepLateMs) void sweeper.sweep().catch(endedEarly);
  };
  const sweeps = every(sweepEveryMs, askForSweep, endedEarly);
  const looks = every(wakeEveryMs, lookForChanges, (error) => {
    if (reportedFailure !== messageOf(error)) report(error, 'ledger not readable');
    reportedFailure = messageOf(error);
  });
  return async () => {
    isStopped = true;
    producer?.giveUp();
    await Promise.all([sweeps.stop(), looks.stop()]);
  };
}
