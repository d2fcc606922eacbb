/**
 * Schedules: work that comes again, and its ticks (`docs/rules.md`, "Schedules").
 *
 * Terms: a *schedule* is named as its feed; `phone-numbers` is the one of the snapshots. A *tick* is one time that its
 * work was due or asked for:
 *
 *     waiting ──claimed──▶ working ──▶ ended (with an outcome)
 *        └──predecessor at work──▶ ended, `skipped`
 *
 * The due time stands here; whatever wakes the engine up may be lost.
 */

import type { ErrorKind } from '#src/errors.ts';
import type { NewAct } from './acts.ts';

/** The schedule of the phone-number snapshots; no feed may be called so. */
export const phoneNumbersSchedule = 'phone-numbers';

/** When it is due. */
export type ScheduleRule =
  | { readonly kind: 'every'; readonly everyMs: number }
  /** A cron expression of five fields, in an IANA time zone. */
  | { readonly kind: 'at'; readonly at: string; readonly zone: string };

export type ScheduleWork = 'take' | 'snapshot';

export interface ScheduleRecord {
  readonly name: string;
  readonly work: ScheduleWork;
  /** Null: only when a person asks for it. */
  readonly rule: ScheduleRule | null;
  /** Null without a rule. Stands still while paused. */
  readonly dueAtMs: number | null;
  /** Since when a person has paused it; survives everything. */
  readonly pausedAtMs: number | null;
  /** Why, in that person's words. */
  readonly pauseReason: string | null;
  /** When the last pause ended: what is expected of it is expected from then on. */
  readonly resumedAtMs: number | null;
  readonly createdAtMs: number;
}

/** `due`: on time. `catchUp`: due while nothing ran. `request`: a person asked for it. */
export type TickTrigger = 'due' | 'catchUp' | 'request';

/**
 * - `run`: files were taken, the runs go their way;
 * - `snapshot`: a snapshot was published;
 * - `nothingNew`: there was nothing to take;
 * - `skipped`: its predecessor was at work;
 * - `failed`: it could not be done, the code says why.
 */
export type TickOutcome = 'run' | 'snapshot' | 'nothingNew' | 'skipped' | 'failed';

export interface TickRecord {
  readonly id: string;
  readonly schedule: string;
  readonly work: ScheduleWork;
  readonly trigger: TickTrigger;
  readonly state: 'waiting' | 'working' | 'ended';
  /** Of a snapshot: the user whose numbers are asked for; null is the whole workspace. */
  readonly user: string | null;
  /** When it was due, or asked for. */
  readonly dueAtMs: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  /** How often it was begun: a killed process makes it begin again. */
  readonly attempts: number;
  readonly outcome: TickOutcome | null;
  /** Of what was taken. */
  readonly runIds: readonly string[];
  /** Of the snapshot: the instant it is known by. */
  readonly takenAtMs: number | null;
  readonly code: string | null;
  /** Of the error that made it fail: what has to happen next. */
  readonly kind: ErrorKind | null;
  /** One sentence without personal data. */
  readonly message: string | null;
  /** What to do next. */
  readonly hint: string | null;
  /** Where it failed: the message without words of the service, which may be about a person. Absent in what older versions wrote. */
  readonly plainMessage?: string;
}

/** Those that say how a schedule fares: a tick that was skipped says nothing. */
export const tellingOutcomes: readonly TickOutcome[] = ['run', 'snapshot', 'nothingNew', 'failed'];

/** How a tick's work ended. What it throws ends the tick as `failed`. */
export type TickEnd =
  | { readonly outcome: 'run'; readonly runIds: readonly string[]; readonly message: string | null }
  | { readonly outcome: 'snapshot'; readonly takenAtMs: number; readonly message: string | null }
  | {
      readonly outcome: 'nothingNew' | 'skipped' | 'failed';
      readonly code: string;
      readonly kind?: ErrorKind;
      readonly message: string;
      readonly hint?: string | null;
      readonly plainMessage?: string;
    };

/** Ended ticks that are kept for each schedule. */
export const ticksKeptMax = 1_000;

/** The part of the ledger that holds schedules and their ticks. */
interface NewSchedule {
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
  request(tick: NewTick, act?: NewAct): Promise<TickRecord>;
  /** Durable. @returns whether there is such a schedule. */
  setPaused(
    name: string,
    pausedAtMs: number,
    dueAtMs: number | null,
    reason?: string | null,
    act?: NewAct,
  ): Promise<boolean>;
  /** The pause ends. Durable. @returns whether there is such a schedule. */
  resume(name: string, atMs: number, dueAtMs: number | null, act?: NewAct): Promise<boolean>;
  /** Moves the due time without a tick, if it is still `fromMs`. @returns whether it was. */
  setDue(name: string, fromMs: number, toMs: number | null): Promise<boolean>;

  tick(id: string): Promise<TickRecord | null>;
  /** Newest first. */
  ticks(schedule: string, limit: number): Promise<readonly TickRecord[]>;
  /**
   * The newest one of the schedule's own work, not of one user's numbers, that ended in one of these ways; the newest `run` is
   * never forgotten.
   */
  lastEnded(schedule: string, outcomes: readonly TickOutcome[]): Promise<TickRecord | null>;
  /** Waiting or at work. */
  openTicks(): Promise<readonly TickRecord[]>;
  /** waiting → working, only while no other tick of its schedule works. @returns the tick, or null where it was not begun. */
  begin(id: string, atMs: number): Promise<TickRecord | null>;
  /**
   * working → ended; older ended ticks beyond `ticksKeptMax` are forgotten. Durable.
   * @param attempts of the tick that was begun: a process that was taken for dead meanwhile does not end the work of another.
   * @returns whether it was working, and of that attempt.
   */
  end(id: string, atMs: number, end: TickEnd, attempts?: number): Promise<boolean>;
  /** working → waiting: it was cut off on purpose, which counts as no attempt. @returns as `end`. */
  release(id: string, attempts?: number): Promise<boolean>;
  /**
   * Ticks at work, other than those `underWay`, that no process works on: they wait again; those begun `attemptsMax` times end as
   * failed, `interrupted`. Durable. @returns how many there were.
   */
  reopen(atMs: number, attemptsMax: number, underWay: ReadonlySet<string>): Promise<number>;
}
