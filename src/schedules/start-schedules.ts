/**
 * The schedules of a running engine: what is due is entered at every look, whoever asks for one (the queue's wake-up, the
 * sweep, the start), and the queue is given the next wake-ups. Only the engine of `start` has them; a one-shot engine carries
 * out what a person asked for.
 */

import type { Clock } from '#src/clock.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { ScheduleRecord, ScheduleRule } from '#src/ledger/schedules.ts';
import type { Logger } from '#src/log.ts';
import { type ConfiguredSchedule, reconcileSchedules } from './reconcile-schedules.ts';
import { tickDue } from './tick-due.ts';

/** One wake-up that the queue is to hold: when the schedule is due next, and how it goes on from there. */
export interface WakeUp {
  readonly name: string;
  readonly rule: ScheduleRule;
  readonly dueAtMs: number;
}

/** The queue's side of schedules: it only wakes the engine up, and may lose everything at any instant. */
export interface WakeQueue {
  /**
   * Makes the queue hold these wake-ups and no others. With `anew` those that are there are put in again.
   * @returns whether the queue did; it never rejects.
   */
  schedule(wakeUps: readonly WakeUp[], options: { readonly nowMs: number; readonly anew: boolean }): Promise<boolean>;
}

export interface ScheduleParts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Logger;
  readonly queue: WakeQueue;
  /** Tells the dispatcher that something was entered. */
  readonly wake: () => void;
}

/** What was begun so many times and never ended is given up. */
const attemptsMax = 3;

export interface Schedules {
  /** Enters what is due. One look at a time: who asks meanwhile shares it. Rejects where the ledger does not answer. */
  tickDue(): Promise<void>;
  /** Gives the queue its wake-ups, where it does not hold them. Never rejects. */
  reconcileQueue(): Promise<void>;
  /** Names of schedules that have stopped, as far as the last look tells. */
  stoppedSchedules(): readonly string[];
  /** Takes the wake-ups out of the queue and enters nothing any more. */
  stop(): Promise<void>;
}

/** Reconciles ledger and queue, and makes the first look. @throws what the ledger throws. */
export async function startSchedules(
  parts: ScheduleParts,
  configured: readonly ConfiguredSchedule[],
): Promise<Schedules> {
  const { ledger, clock, log, queue, wake } = parts;
  let lookedAtMs = Number.POSITIVE_INFINITY;
  let seen: readonly ScheduleRecord[] = [];
  let told: ReadonlySet<string> = new Set();
  let looking: Promise<void> | null = null;
  let stopped = false;

  const look = async (): Promise<void> => {
    const nowMs = clock.nowMs();
    // At the first look nobody knows.
    const entered = await tickDue(parts, nowMs < lookedAtMs);
    lookedAtMs = nowMs;
    seen = await ledger.schedules.list();
    told = tellStopped(parts, seen, told);
    if (entered > 0) wake();
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
      looking ??= look().finally(() => {
        looking = null;
      });
      return looking;
    },
    reconcileQueue: async () => {
      if (stopped) return;
      try {
        await giveQueue(false);
      } catch (error) {
        // Whoever reads the ledger tells that it does not answer. The sweep looks for itself.
        log.debug({ reason: error instanceof Error ? error.name : 'unknown' }, 'wake-ups not reconciled');
      }
    },
    stoppedSchedules: () => stoppedSchedules(seen, clock.nowMs()),
    stop: async () => {
      stopped = true;
      // Whoever asked for the look has its error.
      await looking?.catch(() => undefined);
      await queue.schedule([], { nowMs: clock.nowMs(), anew: false });
    },
  };
  await reconcileSchedules(parts, configured);
  await schedules.tickDue();
  await giveQueue(true);
  return schedules;
}

/**
 * Ticks that nobody works on any more wait again: those of an engine that died, and those whose end could not be written. For
 * every engine, before it hands out jobs and at each sweep. @returns how many there were.
 */
export async function reopenTicks({
  ledger,
  clock,
  log,
  underWay,
}: Pick<ScheduleParts, 'ledger' | 'clock' | 'log'> & { readonly underWay: ReadonlySet<string> }): Promise<number> {
  const count = await ledger.schedules.reopen(clock.nowMs(), attemptsMax, underWay);
  if (count > 0) log.warn({ ticks: count }, 'schedules were cut off and go on');
  return count;
}

/** Once for each, when it begins and when it ends. */
function tellStopped(
  { clock, log }: ScheduleParts,
  schedules: readonly ScheduleRecord[],
  told: ReadonlySet<string>,
): ReadonlySet<string> {
  const stopped = new Set(stoppedSchedules(schedules, clock.nowMs()));
  for (const feed of stopped) if (!told.has(feed)) log.error({ feed }, 'schedule has stopped');
  for (const feed of told) if (!stopped.has(feed)) log.info({ feed }, 'schedule goes on');
  return stopped;
}

/** A schedule whose due time passed this long ago without a tick has stopped: the sweep looks every few seconds. */
export const overdueAfterMs = 300_000;

/** The watchdog: names of schedules that have stopped, in the order of the schedules. Pure. */
function stoppedSchedules(schedules: readonly ScheduleRecord[], nowMs: number): readonly string[] {
  return schedules.flatMap(({ name, rule, dueAtMs, pausedAtMs }) => {
    const isDue = rule !== null && dueAtMs !== null && pausedAtMs === null;
    return isDue && nowMs - dueAtMs > overdueAfterMs ? [name] : [];
  });
}
