/**
 * Enters a tick for each schedule whose time has come, in the transaction that moves its due time on: so two who look at once
 * enter one, and a killed process enters it or not at all.
 *
 * One tick, however many times have passed: after downtime, and where the clock was put forward. Where it was put back, the
 * due time would lie far ahead: it is computed anew. A tick whose predecessor is at work, or whose predecessor's run is, is
 * skipped and recorded.
 */

import { randomBytes } from 'node:crypto';
import { messageOf, PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { activeRunStates } from '#src/ledger/runs.ts';
import type { ScheduleRecord, ScheduleRule, TickEnd, TickRecord } from '#src/ledger/schedules.ts';
import type { Logger } from '#src/log.ts';
import type { ScheduleHome } from './reconcile-schedules.ts';
import { nextAnchored, nextDue } from './timetable.ts';

/** Later than this, or than its interval where that is shorter, it was due while nothing ran. */
const catchUpAfterMs = 60_000;

type DueParts = ScheduleHome & {
  readonly ledger: Pick<Ledger, 'schedules' | 'runs' | 'pause'>;
  readonly log: Logger;
};

/**
 * One that cannot be looked at keeps none of the others from being due: it stands still, which the watchdog tells.
 * @param clockMayBeBack whether the clock may have been put back since the last look: to find out costs two reckonings a schedule.
 * @returns how many ticks were entered to be done. Rejects where the ledger does not answer.
 */
export async function tickDue(parts: DueParts, clockMayBeBack = true): Promise<number> {
  const nowMs = parts.clock.nowMs();
  let entered = 0;
  for (const schedule of await parts.ledger.schedules.list()) {
    try {
      if (await lookAt(parts, schedule, nowMs, clockMayBeBack)) entered += 1;
    } catch (error) {
      if (error instanceof PatchbayError && error.kind === 'transient') throw error;
      parts.log.debug({ feed: schedule.name, reason: messageOf(error) }, 'schedule not looked at');
    }
  }
  return entered;
}

/** @returns whether a tick was entered to be done. */
async function lookAt(
  parts: DueParts,
  schedule: ScheduleRecord,
  nowMs: number,
  clockMayBeBack: boolean,
): Promise<boolean> {
  const { rule, dueAtMs, pausedAtMs } = schedule;
  if (rule === null || dueAtMs === null || pausedAtMs !== null) return false;
  if (dueAtMs <= nowMs) return await enterTick(parts, schedule, rule, dueAtMs, nowMs);
  if (clockMayBeBack) await mendFarDue(parts, schedule, rule, dueAtMs, nowMs);
  return false;
}

async function enterTick(
  parts: DueParts,
  { name, work }: ScheduleRecord,
  rule: ScheduleRule,
  dueAtMs: number,
  nowMs: number,
): Promise<boolean> {
  const { ledger, log } = parts;
  const catchUp = nowMs - dueAtMs > catchUpAfter(rule);
  const id = newTickId();
  const last = (await ledger.schedules.ticks(name, 1))[0];
  const overlap = await overlapOf(parts, name, work);
  const moved = await ledger.schedules.advance(
    name,
    dueAtMs,
    nextAnchored(rule, dueAtMs, nowMs),
    { id, schedule: name, trigger: catchUp ? 'catchUp' : 'due', user: null, dueAtMs },
    overlap === null ? null : { atMs: nowMs, end: overlap },
  );
  if (!moved) return false;
  const facts = { feed: name, tick: id, lateMs: nowMs - dueAtMs };
  if (overlap === null) log.info({ ...facts, catchUp }, 'schedule is due');
  // The first of a row of them is news.
  else log[last?.outcome === 'skipped' ? 'debug' : 'warn']({ ...facts, code: overlap.code }, 'schedule skipped');
  return overlap === null;
}

function catchUpAfter(rule: ScheduleRule): number {
  return rule.kind === 'every' ? Math.min(rule.everyMs, catchUpAfterMs) : catchUpAfterMs;
}

type Skipped = Extract<TickEnd, { readonly code: string }>;

/** Why its turn is skipped; null where nothing stands in its way. */
async function overlapOf({ ledger }: DueParts, name: string, work: ScheduleRecord['work']): Promise<Skipped | null> {
  const skipped = (message: string): Skipped => ({ outcome: 'skipped', code: 'overlap', message });
  // Somebody's own numbers that were asked for are another work.
  const open = (await ledger.schedules.openTicks()).find((tick) => tick.schedule === name && tick.user === null);
  if (open !== undefined) {
    if (open.state === 'working') return skipped(`the one before, ${open.id}, is still running`);
    const pause = work === 'snapshot' ? await ledger.pause() : null;
    const why = pause === null || pause.scope === 'writes' ? '' : ': all work is paused';
    return skipped(`the one before, ${open.id}, still waits${why}`);
  }
  const run = await activeRun(ledger, await ledger.schedules.lastEnded(name, ['run']));
  return run === null ? null : skipped(`the run ${run} of the one before is still running`);
}

async function activeRun(ledger: DueParts['ledger'], tick: TickRecord | null): Promise<string | null> {
  const active: readonly string[] = activeRunStates;
  for (const id of tick?.runIds ?? []) {
    const run = await ledger.runs.get(id);
    if (run !== null && active.includes(run.state)) return id;
  }
  return null;
}

/**
 * The clock was put back by more than a period. A small step is left alone: it would make a schedule due twice that has just
 * been.
 */
async function mendFarDue(
  { ledger, log }: DueParts,
  { name }: ScheduleRecord,
  rule: ScheduleRule,
  dueAtMs: number,
  nowMs: number,
): Promise<void> {
  const next = nextDue(rule, nowMs);
  const second = next === null ? null : nextDue(rule, next);
  if (next === null || second === null || dueAtMs <= second) return;
  if (await ledger.schedules.setDue(name, dueAtMs, next)) {
    log.warn({ feed: name, aheadMs: dueAtMs - nowMs }, 'schedule was due too far ahead: the clock was put back');
  }
}

/** Names of ticks. */
export function newTickId(): string {
  return `t${randomBytes(6).toString('hex')}`;
}
