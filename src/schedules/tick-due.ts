/**
 * Enters a tick for each schedule that is due, in the transaction that advances its due time: two concurrent checks enter one
 * tick, and a killed process enters it entirely or not at all.
 *
 * However many times have passed, it is one tick: after downtime, and after the clock was set forward. If the clock was set back,
 * a due time that is far ahead, or that followed from a time that is yet to come, is computed again. A tick is skipped and recorded while its predecessor, or a run of its
 * predecessor, is active; not where that waits for a host that is away.
 */
import { randomBytes } from 'node:crypto';
import { messageOf, PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { waitsForHost } from '#src/ledger/rules/hosts.ts';
import { activeRunStates } from '#src/ledger/runs.ts';
import type { ScheduleRecord, ScheduleRule, TickEnd, TickRecord } from '#src/ledger/schedules.ts';
import type { Logger } from '#src/log.ts';
import type { ScheduleHome } from './reconcile-schedules.ts';
import { nextAnchored, nextDue } from './timetable.ts';

/** A tick that is later than this, or than its interval if that is shorter, was due while nothing ran. */
const catchUpAfterMs = 60_000;

type DueParts = ScheduleHome & {
  readonly ledger: Pick<Ledger, 'schedules' | 'runs' | 'pause'>;
  readonly log: Logger;
  /** Ids of hosts that are away: what waits for them holds up no tick. */
  readonly hostsAway: () => Promise<readonly string[]>;
};

/** Why a schedule could not be checked. */
export interface CheckFailure {
  readonly code: string;
  readonly reason: string;
  /** The reason without what an error inside Patchbay says, and without words of the service: for readers without a token. */
  readonly plainReason: string;
}

export interface DueCheck {
  /** How many ticks were entered to be carried out. */
  readonly entered: number;
  /** By the names of their schedules. */
  readonly failures: ReadonlyMap<string, CheckFailure>;
}

/**
 * A schedule that cannot be checked does not block the others: it stops, which the watchdog reports.
 * @param clockMayBeBack whether the clock may have been set back since the last check; finding out computes two due times per schedule.
 * Rejects if the ledger does not answer.
 */
export async function tickDue(parts: DueParts, clockMayBeBack = true): Promise<DueCheck> {
  const nowMs = parts.clock.nowMs();
  let entered = 0;
  const failures = new Map<string, CheckFailure>();
  for (const schedule of await parts.ledger.schedules.list()) {
    try {
      if (await checkOne(parts, schedule, nowMs, clockMayBeBack)) entered += 1;
    } catch (error) {
      if (error instanceof PatchbayError && error.kind === 'transient') throw error;
      failures.set(schedule.name, checkFailure(error));
    }
  }
  return { entered, failures };
}

function checkFailure(error: unknown): CheckFailure {
  return error instanceof PatchbayError
    ? { code: error.code, reason: error.message, plainReason: error.plainMessage }
    : { code: 'unexpected', reason: messageOf(error), plainReason: 'an error inside Patchbay' };
}

/** @returns whether a tick was entered to be carried out. */
async function checkOne(
  parts: DueParts,
  schedule: ScheduleRecord,
  nowMs: number,
  clockMayBeBack: boolean,
): Promise<boolean> {
  const { rule, dueAtMs, pausedAtMs } = schedule;
  if (rule === null || dueAtMs === null || pausedAtMs !== null) return false;
  if (dueAtMs <= nowMs) return await enterTick(parts, schedule, rule, dueAtMs, nowMs);
  if (clockMayBeBack) await correctFarDue(parts, schedule, rule, dueAtMs, nowMs);
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
  // Only the first of several in a row is a warning.
  else log[last?.outcome === 'skipped' ? 'debug' : 'warn']({ ...facts, code: overlap.code }, 'schedule skipped');
  return overlap === null;
}

function catchUpAfter(rule: ScheduleRule): number {
  return rule.kind === 'every' ? Math.min(rule.everyMs, catchUpAfterMs) : catchUpAfterMs;
}

type Skipped = Extract<TickEnd, { readonly code: string }>;

/** Why the tick is skipped; null if it is not. */
async function overlapOf(parts: DueParts, name: string, work: ScheduleRecord['work']): Promise<Skipped | null> {
  const { ledger } = parts;
  const skipped = (message: string): Skipped => ({ outcome: 'skipped', code: 'overlap', message });
  // A snapshot of one user's numbers is other work.
  const open = (await ledger.schedules.openTicks()).find((tick) => tick.schedule === name && tick.user === null);
  if (open !== undefined) {
    if (open.state === 'working') return skipped(`the previous tick, ${open.id}, is still running`);
    const pause = work === 'snapshot' ? await ledger.pause() : null;
    const why = pause === null || pause.scope === 'writes' ? '' : ': all work is paused';
    return skipped(`the previous tick, ${open.id}, is still waiting${why}`);
  }
  const run = await activeRun(parts, await ledger.schedules.lastEnded(name, ['run']));
  return run === null ? null : skipped(`run ${run} of the previous tick is still active`);
}

async function activeRun({ ledger, hostsAway }: DueParts, tick: TickRecord | null): Promise<string | null> {
  const active: readonly string[] = activeRunStates;
  for (const id of tick?.runIds ?? []) {
    const run = await ledger.runs.get(id);
    if (run !== null && active.includes(run.state) && !waitsForHost(run, await hostsAway())) return id;
  }
  return null;
}

/** A step back by less may be that of a clock that is set right after a tick that really was due: it makes nothing due again. */
const smallStepMs = 3_600_000;

/**
 * Corrects a due time after the clock was set back: one beyond two periods, and one that followed from a time that has not been yet, since the
 * clock was ahead: of a monthly schedule that would be the next month's, and this month would be lost.
 */
async function correctFarDue(
  { ledger, log }: DueParts,
  schedule: ScheduleRecord,
  rule: ScheduleRule,
  dueAtMs: number,
  nowMs: number,
): Promise<void> {
  const { name } = schedule;
  const next = dueAnew(rule, dueAtMs, nowMs);
  if (next === null || next === dueAtMs) return;
  const second = nextDue(rule, nextDue(rule, nowMs) ?? nowMs);
  const isFar = second !== null && dueAtMs > second;
  if (!isFar && (await followsFromMs(ledger, schedule)) - nowMs <= smallStepMs) return;
  if (await ledger.schedules.setDue(name, dueAtMs, next)) {
    const message = isFar
      ? 'schedule was due too far ahead: the clock was set back'
      : 'schedule is due anew from now: the clock was ahead at its last time, and was set back';
    log.warn({ feed: name, aheadMs: dueAtMs - nowMs, dueInMs: next - nowMs }, message);
  }
}

/** An interval keeps its beat: it would never be due where each start counted it anew. */
function dueAnew(rule: ScheduleRule, dueAtMs: number, nowMs: number): number | null {
  if (rule.kind === 'at') return nextDue(rule, nowMs);
  const restMs = (dueAtMs - nowMs) % rule.everyMs;
  return nowMs + (restMs === 0 ? rule.everyMs : restMs);
}

/** Among how many of its last ticks one is looked for that no person asked for. */
const ticksSearchedMax = 100;

/** When the due time was computed, at the earliest: at its last tick, or where its pause ended. */
async function followsFromMs(
  { schedules }: DueParts['ledger'],
  { name, resumedAtMs }: ScheduleRecord,
): Promise<number> {
  const ticks = await schedules.ticks(name, ticksSearchedMax);
  const last = ticks.find(({ trigger }) => trigger !== 'request');
  // One that caught up was due long before the time from which the next one was computed.
  return Math.max(last?.dueAtMs ?? 0, last?.startedAtMs ?? 0, last?.endedAtMs ?? 0, resumedAtMs ?? 0);
}

/** Names of ticks. */
export function newTickId(): string {
  return `t${randomBytes(6).toString('hex')}`;
}
