/**
 * The schedules of a running engine. Each check (at a wake-up of the queue, at a sweep, at the start) enters what is due and
 * gives the queue its next wake-ups. Only the engine of `start` runs schedules; a one-shot engine only carries out requests.
 *
 * The watchdog reports schedules that have stopped. Work that does not end is stopped by its own limit (`carry-out-tick.ts`).
 */

import type { Clock } from '#src/clock.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { ScheduleRecord, ScheduleRule } from '#src/ledger/schedules.ts';
import type { Logger } from '#src/log.ts';
import { type ConfiguredSchedule, reconcileSchedules } from './reconcile-schedules.ts';
import { type CheckFailure, type DueCheck, tickDue } from './tick-due.ts';

/** A wake-up that the queue holds: when the schedule is due next, and the rule that follows. */
export interface WakeUp {
  readonly name: string;
  readonly rule: ScheduleRule;
  readonly dueAtMs: number;
}

/** The queue's part: it only wakes the engine, and may lose everything at any time. */
export interface WakeQueue {
  /**
   * Makes the queue hold exactly these wake-ups. With `anew` existing ones are replaced too.
   * @returns whether it succeeded. Never rejects.
   */
  schedule(wakeUps: readonly WakeUp[], options: { readonly nowMs: number; readonly anew: boolean }): Promise<boolean>;
}

export interface ScheduleParts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Logger;
  readonly queue: WakeQueue;
  /** Ids of hosts that are away. */
  readonly hostsAway: () => Promise<readonly string[]>;
  /** Tells the dispatcher that something was entered. */
  readonly wake: () => void;
}

/** A tick that was started this often and never ended is given up. */
const attemptsMax = 3;

export interface Schedules {
  /** Enters what is due. Concurrent calls share one check. Rejects if the ledger does not answer. */
  tickDue(): Promise<void>;
  /** Restores wake-ups that the queue has lost. Never rejects. */
  reconcileQueue(): Promise<void>;
  /** Those that have stopped, as of the last check. */
  stoppedSchedules(): readonly StoppedSchedule[];
  /** Removes the wake-ups from the queue and enters nothing more. */
  stop(): Promise<void>;
}

export interface StoppedSchedule {
  readonly name: string;
  /** Why it could not be checked; null where it was not even tried. */
  readonly failure: CheckFailure | null;
}

/** Reconciles ledger and queue, and runs the first check. @throws what the ledger throws. */
export async function startSchedules(
  parts: ScheduleParts,
  configured: readonly ConfiguredSchedule[],
): Promise<Schedules> {
  const { ledger, clock, log, queue, wake } = parts;
  let checkedAtMs = Number.POSITIVE_INFINITY;
  let seen: readonly ScheduleRecord[] = [];
  let reported: readonly StoppedSchedule[] = [];
  let failures: DueCheck['failures'] = new Map();
  let checking: Promise<void> | null = null;
  let stopped = false;

  const check = async (): Promise<void> => {
    const nowMs = clock.nowMs();
    // At the first check the clock may have been set back.
    const due = await tickDue(parts, nowMs < checkedAtMs);
    checkedAtMs = nowMs;
    reportFailures(log, due.failures, failures);
    failures = due.failures;
    seen = await ledger.schedules.list();
    const stoppedNow = stoppedSchedules(seen, failures, clock.nowMs());
    reportStopped(log, stoppedNow, reported);
    reported = stoppedNow;
    if (due.entered > 0) wake();
  };
  const giveQueue = async (anew: boolean): Promise<void> => {
    const due = stopped ? [] : await ledger.schedules.list();
    const wakeUps = due.flatMap(({ name, rule, dueAtMs, pausedAtMs }) =>
      rule === null || dueAtMs === null || pausedAtMs !== null ? [] : [{ name, rule, dueAtMs }],
    );
    await queue.schedule(wakeUps, { nowMs: clock.nowMs(), anew });
  };
  const schedules: Schedules = {
    tickDue: () => {
      if (stopped) return Promise.resolve();
      checking ??= check().finally(() => {
        checking = null;
      });
      return checking;
    },
    reconcileQueue: async () => {
      if (stopped) return;
      try {
        await giveQueue(false);
      } catch (error) {
        // Other readers of the ledger report its failure, and the sweep checks without wake-ups.
        log.debug({ reason: error instanceof Error ? error.name : 'unknown' }, 'wake-ups not reconciled');
      }
    },
    stoppedSchedules: () => stoppedSchedules(seen, failures, clock.nowMs()),
    stop: async () => {
      stopped = true;
      // The caller of that check gets its error.
      await checking?.catch(() => undefined);
      await queue.schedule([], { nowMs: clock.nowMs(), anew: false });
    },
  };
  await reconcileSchedules(parts, configured);
  await schedules.tickDue();
  await giveQueue(true);
  return schedules;
}

/**
 * Makes ticks without a worker wait again: those of an engine that died, and those whose end could not be written. Every engine
 * calls it before it hands out jobs, and at each sweep. @returns their number.
 */
export async function reopenTicks({
  ledger,
  clock,
  log,
  underWay,
}: Pick<ScheduleParts, 'ledger' | 'clock' | 'log'> & { readonly underWay: ReadonlySet<string> }): Promise<number> {
  const count = await ledger.schedules.reopen(clock.nowMs(), attemptsMax, underWay);
  if (count > 0) log.warn({ ticks: count }, 'interrupted schedules are resumed');
  return count;
}

/** Logs once why a schedule cannot be checked, and again for another cause. */
function reportFailures(log: Logger, failures: DueCheck['failures'], before: DueCheck['failures']): void {
  for (const [feed, failure] of failures)
    if (before.get(feed)?.code !== failure.code)
      log.warn({ feed, code: failure.code, reason: failure.reason }, 'schedule cannot be checked');
}

/** Logs once when a schedule stops and once when it runs again. */
function reportStopped(log: Logger, stopped: readonly StoppedSchedule[], before: readonly StoppedSchedule[]): void {
  const isNamed = (some: readonly StoppedSchedule[], feed: string): boolean => some.some(({ name }) => name === feed);
  for (const { name: feed, failure } of stopped)
    if (!isNamed(before, feed)) log.error({ feed, reason: failure?.reason ?? null }, 'schedule has stopped');
  for (const { name: feed } of before) if (!isNamed(stopped, feed)) log.info({ feed }, 'schedule runs again');
}

/** A schedule has stopped if its due time passed this long ago without a tick: the sweep checks every few seconds. */
export const overdueAfterMs = 300_000;

/** In the order of the schedules. */
function stoppedSchedules(
  schedules: readonly ScheduleRecord[],
  failures: DueCheck['failures'],
  nowMs: number,
): readonly StoppedSchedule[] {
  return schedules.flatMap(({ name, rule, dueAtMs, pausedAtMs }) => {
    const isDue = rule !== null && dueAtMs !== null && pausedAtMs === null;
    return isDue && nowMs - dueAtMs > overdueAfterMs ? [{ name, failure: failures.get(name) ?? null }] : [];
  });
}
