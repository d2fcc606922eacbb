/**
 * Makes the schedules of the ledger those of the configuration, at the engine's start (`rules.md`, "Schedules"): new ones are
 * added, changed ones are due anew from now on, dropped ones removed. One that has not changed keeps its due time, also one
 * that has passed: so downtime costs one catch-up. A pause stays whatever happens.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ScheduleRecord } from '#src/ledger/schedule-record.ts';
import type { ConfiguredSchedule } from './configured-schedules.ts';
import type { ScheduleParts } from './parts.ts';
import { firstDue, nextDue } from './timetable.ts';

export interface Reconciled {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export async function reconcileSchedules(
  parts: Pick<ScheduleParts, 'ledger' | 'clock' | 'log'>,
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
  { ledger, clock }: Pick<ScheduleParts, 'ledger' | 'clock'>,
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
  { ledger }: Pick<ScheduleParts, 'ledger'>,
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
