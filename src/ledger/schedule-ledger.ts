/** The part of the ledger that holds schedules and their ticks. */
import type {
  ScheduleRecord,
  ScheduleRule,
  ScheduleWork,
  TickEnd,
  TickOutcome,
  TickRecord,
  TickTrigger,
} from './schedule-record.ts';

export interface NewSchedule {
  readonly name: string;
  readonly work: ScheduleWork;
  readonly rule: ScheduleRule | null;
  readonly dueAtMs: number | null;
  readonly createdAtMs: number;
}

export interface NewTick {
  readonly id: string;
  readonly schedule: string;
  readonly trigger: TickTrigger;
  readonly user: string | null;
  readonly dueAtMs: number;
}

export interface ScheduleLedger {
  /** By name. */
  list(): Promise<readonly ScheduleRecord[]>;
  get(name: string): Promise<ScheduleRecord | null>;
  /** Enters it, or gives one that is there this rule and due time; a pause stays. Durable. */
  put(schedule: NewSchedule): Promise<void>;
  /** With its ticks. */
  remove(name: string): Promise<void>;
  /**
   * Its time has come: enters the tick and moves the due time on, durable, only where the due time is still `fromMs` and it
   * is not paused. With `skipped` the tick is entered as ended then. @returns whether it was entered.
   */
  advance(
    name: string,
    fromMs: number,
    toMs: number | null,
    tick: NewTick,
    skipped: { readonly atMs: number; readonly end: TickEnd } | null,
  ): Promise<boolean>;
  /**
   * A person asks for it. Where one waits for the same user already, it is that one. Durable.
   * @throws PatchbayError `usage` `noSuchSchedule`.
   */
  request(tick: NewTick): Promise<TickRecord>;
  /** Durable. @returns whether there is such a schedule. */
  setPaused(name: string, pausedAtMs: number, dueAtMs: number | null, reason?: string | null): Promise<boolean>;
  /** The pause ends. Durable. @returns whether there is such a schedule. */
  resume(name: string, atMs: number, dueAtMs: number | null): Promise<boolean>;
  /** Moves the due time without a tick, where it is still `fromMs`. @returns whether it was. */
  setDue(name: string, fromMs: number, toMs: number | null): Promise<boolean>;

  tick(id: string): Promise<TickRecord | null>;
  /** Newest first. */
  ticks(schedule: string, limit: number): Promise<readonly TickRecord[]>;
  /**
   * The newest one of the schedule's own work, not of one user's numbers, that ended in one of these ways; the newest `run` is
   * never forgotten.
   */
  lastEnded(schedule: string, outcomes: readonly TickOutcome[]): Promise<TickRecord | null>;
  /** Those that wait and whose schedule has none at work: one each, oldest first. */
  nextTicks(limit: number): Promise<readonly TickRecord[]>;
  /** Waiting or at work. */
  openTicks(): Promise<readonly TickRecord[]>;
  /** waiting → working, only while no other tick of its schedule works. */
  begin(id: string, atMs: number): Promise<boolean>;
  /** working → ended; older ended ticks beyond `ticksKeptMax` are forgotten. Durable. @returns whether it was working. */
  end(id: string, atMs: number, end: TickEnd): Promise<boolean>;
  /** working → waiting: it was cut off on purpose, which counts as no attempt. @returns whether it was working. */
  release(id: string): Promise<boolean>;
  /**
   * Ticks at work, other than those `underWay`, that nobody works on: they wait again; those begun `attemptsMax` times end as
   * failed, `interrupted`. Durable. @returns how many there were.
   */
  reopen(atMs: number, attemptsMax: number, underWay: ReadonlySet<string>): Promise<number>;
}
