/**
 * The schedules that the configuration names, and how those of the ledger follow them at the engine's start (`docs/rules.md`,
 * "Schedules"): new ones are added, changed ones get a new due time, dropped ones are removed. A due time that has passed stays,
 * whether the schedule is changed or not, so downtime costs one catch-up. A pause survives all of this.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#src/clock.ts';
import type { Config, FeedConfig } from '#src/config/schema.ts';
import type { NewAct } from '#src/ledger/acts.ts';
import type { Ledger } from '#src/ledger/port.ts';
import {
  phoneNumbersSchedule,
  type ScheduleRecord,
  type ScheduleRule,
  type ScheduleWork,
} from '#src/ledger/schedules.ts';
import type { Logger } from '#src/log.ts';
import { firstDue, nextDue } from './timetable.ts';

/** Where schedules are kept, and by which clock they are due. */
export interface ScheduleHome {
  readonly ledger: Pick<Ledger, 'schedules'>;
  readonly clock: Clock;
}

interface Reconciled {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export async function reconcileSchedules(
  parts: ScheduleHome & { readonly log: Logger },
  configured: readonly ConfiguredSchedule[],
): Promise<Reconciled> {
  const known = new Map((await parts.ledger.schedules.list()).map((schedule) => [schedule.name, schedule]));
  const added: string[] = [];
  const changed: string[] = [];
  for (const one of configured) {
    const record = known.get(one.name);
    if (record === undefined) added.push(one.name);
    else if (!isSame(record, one)) changed.push(one.name);
    else continue;
    await enterSchedule(parts, one, record ?? null);
  }
  const removed = await removeDropped(parts, [...known.values()], new Set(configured.map((one) => one.name)));
  const reconciled = { added, changed, removed };
  if (added.length + changed.length + removed.length > 0) parts.log.info(reconciled, 'schedules reconciled');
  return reconciled;
}

/** Enters a new schedule, or gives a known one its current rule. */
export async function enterSchedule(
  { ledger, clock }: ScheduleHome,
  { name, work, rule }: ConfiguredSchedule,
  known: ScheduleRecord | null,
): Promise<void> {
  const nowMs = clock.nowMs();
  const dueAtMs = rule === null ? null : dueByNewRule(rule, known, nowMs);
  await ledger.schedules.put({ name, work, rule, dueAtMs, createdAtMs: nowMs });
}

/** One without a rule so far counts as new. A changed rule does not make it due at once, and takes nothing away that was due while no engine ran. */
function dueByNewRule(rule: ScheduleRule, known: ScheduleRecord | null, nowMs: number): number | null {
  if (known?.rule === undefined || known.rule === null) return firstDue(rule, nowMs);
  const { dueAtMs, pausedAtMs } = known;
  const isMissed = dueAtMs !== null && dueAtMs <= nowMs && pausedAtMs === null;
  return isMissed ? dueAtMs : nextDue(rule, nowMs);
}

function isSame(record: ScheduleRecord, { work, rule }: ConfiguredSchedule): boolean {
  const hasDue = record.dueAtMs !== null || record.rule === null;
  return record.work === work && hasDue && isDeepStrictEqual(record.rule, rule);
}

/** A snapshot schedule without a rule was requested by a command and stays. One with an open tick stays, but is no longer due. */
async function removeDropped(
  { ledger }: ScheduleHome,
  known: readonly ScheduleRecord[],
  configured: ReadonlySet<string>,
): Promise<readonly string[]> {
  const open = new Set((await ledger.schedules.openTicks()).map((tick) => tick.schedule));
  const removed: string[] = [];
  for (const { name, work, rule, createdAtMs } of known) {
    const byHand = rule === null && work === 'snapshot';
    if (configured.has(name) || byHand) continue;
    if (open.has(name)) await ledger.schedules.put({ name, work, rule: null, dueAtMs: null, createdAtMs });
    else await ledger.schedules.remove(name);
    removed.push(name);
  }
  return removed;
}

/** The schedules that the configuration names (`docs/contract.md`, "Feeds and schedules, in the config"). Pure. */
export interface ConfiguredSchedule {
  readonly name: string;
  readonly work: ScheduleWork;
  /** Null: it runs on request only. */
  readonly rule: ScheduleRule | null;
  readonly expectEveryMs: number | null;
}

export function configuredSchedules(config: Pick<Config, 'feeds' | 'snapshots'>): readonly ConfiguredSchedule[] {
  const takes = Object.entries(config.feeds).flatMap(([name, feed]): ConfiguredSchedule[] =>
    feed.take === null ? [] : [{ name, work: 'take', rule: ruleOf(feed), expectEveryMs: feed.expectEveryMs }],
  );
  const snapshots = ruleOf(config.snapshots.phoneNumbers);
  if (snapshots === null) return takes;
  return [...takes, { name: phoneNumbersSchedule, work: 'snapshot', rule: snapshots, expectEveryMs: null }];
}

/** The zone is filled in when the configuration is loaded. */
function ruleOf({ at, everyMs, zone }: Pick<FeedConfig, 'at' | 'everyMs' | 'zone'>): ScheduleRule | null {
  if (at !== null) return { kind: 'at', at, zone: zone ?? 'UTC' };
  return everyMs === null ? null : { kind: 'every', everyMs };
}

/** Pausing a paused schedule keeps the time of the first pause and replaces the reason. */
export async function pauseSchedule(
  { ledger, clock }: ScheduleHome,
  { name, pausedAtMs, dueAtMs, pauseReason }: ScheduleRecord,
  reason: string | null,
  act?: NewAct,
): Promise<void> {
  await ledger.schedules.setPaused(name, pausedAtMs ?? clock.nowMs(), dueAtMs, reason ?? pauseReason, act);
}

/** Due from now on: missed times are not caught up. */
export async function resumeSchedule(
  { ledger, clock }: ScheduleHome,
  { name, rule, pausedAtMs, dueAtMs }: ScheduleRecord,
  act?: NewAct,
): Promise<void> {
  if (pausedAtMs === null) return;
  const nowMs = clock.nowMs();
  await ledger.schedules.resume(name, nowMs, rule === null ? dueAtMs : nextDue(rule, nowMs), act);
}
