/**
 * BullMQ's job schedulers: they wake the engine up when a schedule is due.
 *
 * The truth is the due time in the ledger, and every sweep looks there as well; so a lost, late or needless wake-up does no
 * harm. One scheduler for each schedule, named as it; its jobs hold a number alone.
 */
import type { JobSchedulerJson, Queue, RepeatOptions } from 'bullmq';
import type { WakeUp } from '#src/schedules/start-schedules.ts';
import { nextDue } from '#src/schedules/timetable.ts';

export const wakeJobName = 'wake-schedules';

/** A scheduler whose next job is so late has lost it. */
const lostAfterMs = 30_000;
/** Due times are milliseconds, and BullMQ's own beat of an interval may be some off. */
const offMsMax = 1_000;
/** Far more than there may be feeds. */
const schedulersMax = 2_000;

export interface WakeUpOptions {
  readonly nowMs: number;
  /** Puts in again those that are there: their jobs may have been removed. */
  readonly anew: boolean;
}

/**
 * How BullMQ tells when a job of a pattern is due next: as our own timetable does. Its own way misses nights on which clocks
 * change at midnight.
 */
export function nextWakeUp(afterMs: number, { pattern, tz }: RepeatOptions): number | undefined {
  if (pattern === undefined) return undefined;
  return nextDue({ kind: 'at', at: pattern, zone: tz ?? 'UTC' }, afterMs) ?? undefined;
}

/** Makes the queue hold these wake-ups and no others. @throws what the queue throws. */
export async function holdWakeUps(queue: Queue, wakeUps: readonly WakeUp[], options: WakeUpOptions): Promise<void> {
  const held = new Map((await queue.getJobSchedulers(0, schedulersMax - 1)).map((one) => [one.key, one]));
  const wanted = new Set(wakeUps.map((one) => one.name));
  for (const name of held.keys()) if (!wanted.has(name)) await queue.removeJobScheduler(name);
  for (const wakeUp of wakeUps) {
    const known = held.get(wakeUp.name);
    if (known !== undefined && !options.anew && isRight(known, wakeUp, options.nowMs)) continue;
    // One that is there would keep its own beat.
    if (known !== undefined) await queue.removeJobScheduler(wakeUp.name);
    const template = { name: wakeJobName, data: { slot: wakeUp.dueAtMs } };
    await queue.upsertJobScheduler(wakeUp.name, repeatOf(wakeUp), template);
  }
}

function repeatOf({ rule, dueAtMs }: WakeUp): RepeatOptions {
  return rule.kind === 'at' ? { pattern: rule.at, tz: rule.zone } : { every: rule.everyMs, startDate: dueAtMs };
}

function isRight(known: JobSchedulerJson, { rule, dueAtMs }: WakeUp, nowMs: number): boolean {
  const sameRule =
    rule.kind === 'at' ? known.pattern === rule.at && known.tz === rule.zone : known.every === rule.everyMs;
  if (!sameRule || known.next === undefined || known.next < nowMs - lostAfterMs) return false;
  // What is due already, the sweep finds; the scheduler is about to wake up, or has been.
  return dueAtMs <= nowMs || Math.abs(known.next - dueAtMs) <= offMsMax;
}
