/**
 * The schedules of a running engine: what is due is entered at every look, whoever asks for one (the queue's wake-up, the
 * sweep, the start), and the queue is given the next wake-ups. Only the engine of `start` has them; a one-shot engine carries
 * out what a person asked for.
 */
import type { ScheduleRecord, TickRecord } from '#src/ledger/schedule-record.ts';
import type { ConfiguredSchedule } from './configured-schedules.ts';
import type { ScheduleParts } from './parts.ts';
import { reconcileSchedules } from './reconcile-schedules.ts';
import { tickDue } from './tick-due.ts';
import { watchSchedules } from './watch-schedules.ts';

/** What was begun so many times and never ended is given up. */
export const attemptsMax = 3;

export interface Schedules {
  /** Enters what is due. One look at a time: who asks meanwhile shares it. Rejects where the ledger does not answer. */
  tickDue(): Promise<void>;
  /** Gives the queue its wake-ups, where it does not hold them. Never rejects. */
  reconcileQueue(): Promise<void>;
  /** Names of schedules that have stopped, as far as the last look tells. */
  stuckSchedules(): readonly string[];
  /** Takes the wake-ups out of the queue and enters nothing any more. */
  stop(): Promise<void>;
}

/** Reconciles ledger and queue, and makes the first look. @throws what the ledger throws. */
export async function startSchedules(
  parts: ScheduleParts,
  configured: readonly ConfiguredSchedule[],
): Promise<Schedules> {
  const { ledger, clock, log, queue, wake } = parts;
  let seen: { readonly schedules: readonly ScheduleRecord[]; readonly open: readonly TickRecord[] } = {
    schedules: [],
    open: [],
  };
  let told: ReadonlySet<string> = new Set();
  let looking: Promise<void> | null = null;
  let stopped = false;

  const look = async (): Promise<void> => {
    const entered = await tickDue(parts);
    seen = { schedules: await ledger.schedules.list(), open: await ledger.schedules.openTicks() };
    told = await tellStuck(parts, seen, told);
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
    stuckSchedules: () => watchSchedules(seen.schedules, seen.open, clock.nowMs()).map((one) => one.name),
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
 * Ticks of an engine that died wait again. To be called once, by whichever engine starts, before it hands out jobs: nobody else
 * works on them then. @returns how many there were.
 */
export async function reopenTicks({
  ledger,
  clock,
  log,
}: Pick<ScheduleParts, 'ledger' | 'clock' | 'log'>): Promise<number> {
  const count = await ledger.schedules.reopen(clock.nowMs(), attemptsMax);
  if (count > 0) log.warn({ ticks: count }, 'schedules were cut off and go on');
  return count;
}

/** Once for each, when it begins and when it ends. A tick that nobody works on any more waits again. */
async function tellStuck(
  { ledger, clock, log }: ScheduleParts,
  { schedules, open }: { readonly schedules: readonly ScheduleRecord[]; readonly open: readonly TickRecord[] },
  told: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const stuck = watchSchedules(schedules, open, clock.nowMs());
  for (const { name, why, tick } of stuck) {
    if (!told.has(name)) log.error({ schedule: name, why, tick }, 'schedule has stopped');
    if (tick !== null) {
      const message = 'it was at work far longer than it may be';
      await ledger.schedules.end(tick, clock.nowMs(), { outcome: 'failed', code: 'tickTooLong', message });
    }
  }
  const now = new Set(stuck.map((one) => one.name));
  for (const name of told) if (!now.has(name)) log.info({ schedule: name }, 'schedule goes on');
  return now;
}
