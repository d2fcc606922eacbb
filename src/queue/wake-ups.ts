/**
 * BullMQ's job schedulers: they wake the engine up when a schedule is due.
 *
 * The due time in the ledger decides, and every sweep looks there as well, so a lost, late or needless wake-up does no
 * harm. There is one scheduler for each schedule, with its name; its jobs hold a number only.
 */
import type { JobSchedulerJson, Queue, RepeatOptions } from 'bullmq';
import type { WakeUp } from '#src/schedules/start-schedules.ts';
import { nextDue } from '#src/schedules/timetable.ts';

export const wakeJobName = 'wake-schedules';

/** A scheduler whose next job is later than this has lost it. */
const lostAfterMs = 30_000;
/** BullMQ's own rhythm of an interval may deviate by some milliseconds. */
const offMsMax = 1_000;
/** Far above the number of feeds. */
const schedulersMax = 2_000;

export interface WakeUpOptions {
  readonly nowMs: number;
  /** Replaces the existing ones: their jobs may have been removed. */
  readonly anew: boolean;
}

/** When a job of a pattern is due next, for BullMQ: by our timetable, so that both always agree. */
export function nextWakeUp(afterMs: number, { pattern, tz }: RepeatOptions): number | undefined {
  if (pattern === undefined) return undefined;
  return nextDue({ kind: 'at', at: pattern, zone: tz ?? 'UTC' }, afterMs) ?? undefined;
}

/** Makes the queue hold exactly these wake-ups. @throws what the queue throws. */
export async function holdWakeUps(queue: Queue, wakeUps: readonly WakeUp[], options: WakeUpOptions): Promise<void> {
  const held = new Map((await queue.getJobSchedulers(0, schedulersMax - 1)).map((one) => [one.key, one]));
  const wanted = new Set(wakeUps.map((one) => one.name));
  for (const name of held.keys()) if (!wanted.has(name)) await queue.removeJobScheduler(name);
  for (const wakeUp of wakeUps) {
    const known = held.get(wakeUp.name);
    if (known !== undefined && !options.anew && isRight(known, wakeUp, options.nowMs)) continue;
    // An existing one would keep its own rhythm.
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
  // The sweep finds what is due already.
  return dueAtMs <= nowMs || Math.abs(known.next - dueAtMs) <= offMsMax;
}
