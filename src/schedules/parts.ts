/** What schedules work with, and what the jobs of schedules call into. */
import type { Clock } from '#src/clock.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { ScheduleRule, TickEnd, TickTrigger } from '#src/ledger/schedule-record.ts';
import type { Logger } from '#src/log.ts';

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
  /** Something was entered: the dispatcher is to look. */
  readonly wake: () => void;
}

/** What the jobs `wake-schedules` and `take-files` call into. */
export interface SchedulesContext {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Logger;
  /** Enters what is due. In an engine that does not make schedules due it does nothing. */
  tickDue(): Promise<void>;
  /** Ids of the ticks that this process works on. */
  readonly underWay: Set<string>;
  /** Takes what the feed's path, glob or URL holds. @throws PatchbayError why it could not. */
  take(feedName: string, trigger: TickTrigger, signal: AbortSignal): Promise<TickEnd>;
  wake(): void;
}
