/**
 * Makes the schedules of the ledger those of the configuration, at the engine's start (`rules.md`, "Schedules"): new ones are
 * added, changed ones are due anew from now on, dropped ones removed. One that has not changed keeps its due time, also one
 * that has passed: so downtime costs one catch-up. A pause stays whatever happens.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#src/clock.ts';
import type { Config, FeedConfig } from '#src/config/schema.ts';
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

/** Enters one that is new, or gives the known one its rule of today. */
export async function enterSchedule(
  { ledger, clock }: ScheduleHome,
  { name, work, rule }: ConfiguredSchedule,
  known: ScheduleRecord | null,
): Promise<void> {
  const nowMs = clock.nowMs();
  // By hand so far counts as new; a rule that was changed does not make it due at once.
  const isNew = known?.rule === undefined || known.rule === null;
  const dueAtMs = rule === null ? null : isNew ? firstDue(rule, nowMs) : nextDue(rule, nowMs);
  await ledger.schedules.put({ name, work, rule, dueAtMs, createdAtMs: nowMs });
}

function isSame(record: ScheduleRecord, { work, rule }: ConfiguredSchedule): boolean {
  const hasDue = record.dueAtMs !== null || record.rule === null;
  return record.work === work && hasDue && isDeepStrictEqual(record.rule, rule);
}

/** What a person entered by hand stays; so does one whose work somebody still waits for, but it is not due any more. */
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

/** The schedules that the configuration names (`contract.md`, "Feeds and schedules, in the config"). Pure. */
export interface ConfiguredSchedule {
  readonly name: string;
  readonly work: ScheduleWork;
  /** Null: there is something to take, and only a person says when. */
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

/** Paused twice, it is paused since the first time; the new reason counts. */
export async function pauseSchedule(
  { ledger, clock }: ScheduleHome,
  { name, pausedAtMs, dueAtMs, pauseReason }: ScheduleRecord,
  reason: string | null,
): Promise<void> {
  await ledger.schedules.setPaused(name, pausedAtMs ?? clock.nowMs(), dueAtMs, reason ?? pauseReason);
}

/** Due from now on: what was missed meanwhile is not made up for. */
export async function resumeSchedule(
  { ledger, clock }: ScheduleHome,
  { name, rule, pausedAtMs, dueAtMs }: ScheduleRecord,
): Promise<void> {
  if (pausedAtMs === null) return;
  const nowMs = clock.nowMs();
  await ledger.schedules.resume(name, nowMs, rule === null ? dueAtMs : nextDue(rule, nowMs));
}
