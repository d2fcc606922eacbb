/**
 * Schedules: list them, look at one, run one now, pause and resume one.
 *
 * All of it goes through the ledger, whether an engine runs or not. A schedule that only the configuration knows yet is listed
 * too; the first act on it enters it.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import { closest } from '#src/config/closest.ts';
import { formatDuration } from '#src/config/forms.ts';
import { PatchbayError } from '#src/errors.ts';
import type { RunState } from '#src/ledger/runs.ts';
import {
  phoneNumbersSchedule,
  type ScheduleRecord,
  type ScheduleRule,
  type TickRecord,
  tellingOutcomes,
} from '#src/ledger/schedules.ts';
import type { TickFollowEnd } from '#src/schedules/carry-out-tick.ts';
import { describeRule } from '#src/schedules/describe-rule.ts';
import {
  type ConfiguredSchedule,
  configuredSchedules,
  enterSchedule,
  pauseSchedule as pause,
  resumeSchedule as resume,
} from '#src/schedules/reconcile-schedules.ts';
import { newTickId } from '#src/schedules/tick-due.ts';
import { firstDue, nextAnchored, nextDues } from '#src/schedules/timetable.ts';
import { type FolderFlags, operands, withFlags } from '#src/shell-words.ts';
import { actOf } from './acts.ts';
import { adviceFor, errorDocument } from './error-document.ts';
import type { SettingApart } from './followed-settings.ts';
import { standstillReason } from './standstill.ts';

type ScheduleHome = Pick<Home, 'ledger' | 'clock' | 'config'>;
/** Of who acts on schedules. */
type ActingHome = ScheduleHome & Pick<Home, 'actor'>;

/** How many of the last ticks are searched for skipped ones. */
const ticksSearchedMax = 1_000;
const nextTimesShown = 3;

export const howToConfigure =
  'Add one to patchbay.yaml: under feeds, a feed with `take` and with `at` or `every`; or under snapshots.phoneNumbers.';

export interface ScheduleView {
  readonly record: ScheduleRecord;
  readonly expectEveryMs: number | null;
  /** When the newest file of its feed arrived that was accepted; null where none was yet. */
  readonly lastFileAtMs: number | null;
  /** What the configuration says, which an engine follows from its next start on; null: it has no such schedule. */
  readonly configured: Pick<ConfiguredSchedule, 'rule'> | null;
  /** False: it is in the configuration, and no engine has entered it yet. */
  readonly isEntered: boolean;
  /** The last tick that ended and was not skipped. */
  readonly last: TickRecord | null;
  /** The states of the runs that the last tick entered, as they are now; without runs that are forgotten. */
  readonly lastRunStates: readonly RunState[];
  /** Those that were skipped after it. */
  readonly skipped: { readonly count: number; readonly newest: TickRecord } | null;
  /** Waiting, or being carried out. */
  readonly open: TickRecord | null;
}

/** By name. */
export async function listSchedules(home: ScheduleHome): Promise<readonly ScheduleView[]> {
  const { ledger, clock, config } = home;
  const configured = new Map(configuredSchedules(config).map((one) => [one.name, one]));
  const entered = await ledger.schedules.list();
  const views = await Promise.all(entered.map((record) => viewOf(home, record, configured.get(record.name) ?? null)));
  const names = new Set(entered.map(({ name }) => name));
  const missing = [...configured.values()].filter(({ name }) => !names.has(name));
  return [...views, ...missing.map((one) => newView(one, clock.nowMs()))].sort((a, b) =>
    a.record.name < b.record.name ? -1 : 1,
  );
}

/** A feed of which files are expected. */
export interface ExpectedFeed {
  readonly feed: string;
  /** Whether it has a schedule. If not, people or programs drop its files into its folder. */
  readonly isTaken: boolean;
  readonly everyMs: number;
  /** When its newest accepted file arrived; null where none was accepted yet. */
  readonly lastAtMs: number | null;
}

/** By name. */
export async function expectedFeeds({
  ledger,
  config,
}: Pick<ScheduleHome, 'ledger' | 'config'>): Promise<readonly ExpectedFeed[]> {
  const standings = new Map((await ledger.deliveries.standings()).map((one) => [one.feed, one]));
  return Object.entries(config.feeds)
    .flatMap(([feed, { take, expectEveryMs }]) =>
      expectEveryMs === null
        ? []
        : [
            {
              ...{ feed, isTaken: take !== null, everyMs: expectEveryMs },
              lastAtMs: standings.get(feed)?.acceptedAtMs ?? null,
            },
          ],
    )
    .sort((a, b) => (a.feed < b.feed ? -1 : 1));
}

/** @throws PatchbayError `usage` `noSuchSchedule`. */
async function readSchedule(home: ScheduleHome, name: string): Promise<ScheduleView> {
  const record = await findSchedule(home, name);
  const configured = configuredSchedules(home.config).find((one) => one.name === name);
  return viewOf(home, record, configured ?? null);
}

async function viewOf(
  { ledger }: Pick<Home, 'ledger'>,
  record: ScheduleRecord,
  configured: ConfiguredSchedule | null,
): Promise<ScheduleView> {
  const { name } = record;
  const expectEveryMs = configured?.expectEveryMs ?? null;
  const last = await ledger.schedules.lastEnded(name, tellingOutcomes);
  const lastRuns = await Promise.all((last?.runIds ?? []).map((id) => ledger.runs.get(id)));
  const open = (await ledger.schedules.openTicks()).filter(({ schedule }) => schedule === name);
  return {
    record,
    expectEveryMs,
    lastFileAtMs: expectEveryMs === null ? null : await lastFileOf(ledger, name),
    configured,
    isEntered: true,
    last,
    lastRunStates: lastRuns.flatMap((run) => (run === null ? [] : [run.state])),
    skipped: skippedSince(await ledger.schedules.ticks(name, ticksSearchedMax), last),
    open: open.find(({ state }) => state === 'working') ?? open[0] ?? null,
  };
}

async function lastFileOf({ deliveries }: Home['ledger'], feed: string): Promise<number | null> {
  return (await deliveries.standings()).find((one) => one.feed === feed)?.acceptedAtMs ?? null;
}

/** The ticks that were skipped after the last one that was not. */
function skippedSince(newestFirst: readonly TickRecord[], last: TickRecord | null): ScheduleView['skipped'] {
  const end = newestFirst.findIndex(({ id }) => id === last?.id);
  const ticks = (end < 0 ? newestFirst : newestFirst.slice(0, end)).filter(({ outcome }) => outcome === 'skipped');
  const [newest] = ticks;
  return newest === undefined ? null : { count: ticks.length, newest };
}

/** One of `expected` in `status --json`. */
export function expectedDocument({ feed, everyMs, lastAtMs }: ExpectedFeed) {
  return { feed, expectEvery: formatDuration(everyMs), lastFileAt: instant(lastAtMs) };
}

/** A schedule that no engine has entered yet. */
function newView(configured: ConfiguredSchedule, nowMs: number): ScheduleView {
  const { name, work, rule, expectEveryMs } = configured;
  const dueAtMs = rule === null ? null : firstDue(rule, nowMs);
  const record = {
    name,
    work,
    rule,
    dueAtMs,
    pausedAtMs: null,
    pauseReason: null,
    resumedAtMs: null,
    createdAtMs: nowMs,
  };
  const none = { lastFileAtMs: null, last: null, lastRunStates: [], skipped: null, open: null };
  return { record, expectEveryMs, configured, isEntered: false, ...none };
}

/** Enters the schedule first where no engine has done so yet. @throws PatchbayError `usage` `noSuchSchedule`. */
async function findSchedule(home: ScheduleHome, name: string): Promise<ScheduleRecord> {
  const known = await home.ledger.schedules.get(name);
  if (known !== null) return known;
  const configured = configuredSchedules(home.config);
  const byHand: ConfiguredSchedule = { name, work: 'snapshot', rule: null, expectEveryMs: null };
  const wanted = configured.find((one) => one.name === name) ?? (name === phoneNumbersSchedule ? byHand : undefined);
  if (wanted === undefined) throw await noSuchSchedule(home, name, configured);
  await enterSchedule(home, wanted, null);
  return findSchedule(home, name);
}

async function noSuchSchedule(
  { ledger, config }: Pick<Home, 'ledger' | 'config'>,
  name: string,
  configured: readonly ConfiguredSchedule[],
  isDropped = false,
): Promise<PatchbayError> {
  const names = isDropped
    ? configured.map((one) => one.name)
    : [...(await ledger.schedules.list()), ...configured].map((one) => one.name);
  const meant = closest(name, [...names, phoneNumbersSchedule]);
  const isFolderFeed = Object.hasOwn(config.feeds, name);
  const hint = isFolderFeed
    ? `The files of feed ${name} come through the import folder. To give it a schedule, set feeds.${name}.take.`
    : meant !== null
      ? `Did you mean ${meant}? List the schedules with: patchbay schedule ls`
      : names.length === 0
        ? howToConfigure
        : 'List the schedules with: patchbay schedule ls';
  const message = isDropped
    ? `the feed ${name} has no schedule in the configuration any more`
    : `there is no schedule ${name}`;
  return new PatchbayError('usage', 'noSuchSchedule', message, { hint });
}

/** @throws PatchbayError `usage` `noSuchSchedule`. */
export async function pauseSchedule(home: ActingHome, name: string, reason: string | null): Promise<ScheduleView> {
  await pause(home, await findSchedule(home, name), reason, await actOf(home, 'schedulePause', reason));
  return readSchedule(home, name);
}

/** Due from now on: what was missed during the pause is not made up for. @throws PatchbayError `usage` `noSuchSchedule`. */
export async function resumeSchedule(home: ActingHome, name: string): Promise<ScheduleView> {
  await resume(home, await findSchedule(home, name), await actOf(home, 'scheduleResume'));
  return readSchedule(home, name);
}

/**
 * Asks for the work of a schedule now; where a person asked before and it waits still, that tick is returned. The engine
 * carries it out.
 * @param engineRuns whether a running engine carries it out: its configuration counts. Otherwise that of this process does.
 * @throws PatchbayError `usage` `noSuchSchedule`.
 */
export async function requestTick(home: ActingHome, name: string, engineRuns: boolean): Promise<TickRecord> {
  const { ledger, clock } = home;
  const { work } = await findSchedule(home, name);
  const configured = configuredSchedules(home.config);
  const isDropped = work === 'take' && !configured.some((one) => one.name === name);
  if (isDropped && !engineRuns) throw await noSuchSchedule(home, name, configured, true);
  const dueAtMs = clock.nowMs();
  const tick = { id: newTickId(), schedule: name, trigger: 'request', user: null, dueAtMs } as const;
  return ledger.schedules.request(tick, await actOf(home, 'scheduleRun'));
}

const waitsForEngine = 'Nothing is lost: the work waits for the next engine.';

/** The tick that was followed to its end. @throws PatchbayError why it was not carried out; what its work threw, if it failed. */
export function endedTick(end: TickFollowEnd, schedule: string): TickRecord {
  switch (end.kind) {
    case 'done':
      if (end.tick.outcome === 'failed') throw tickFailure(end.tick);
      return end.tick;
    case 'forgotten':
      throw new PatchbayError('usage', 'noSuchSchedule', `the schedule ${schedule} is no longer in the configuration`);
    case 'auth': {
      const code = end.pause.errorCode ?? 'keyRefused';
      throw new PatchbayError('auth', code, end.pause.message, { hint: adviceFor(code) ?? waitsForEngine });
    }
    default: {
      const { code, message, hint } = standstillReason(end, waitsForEngine);
      throw new PatchbayError('unreachable', code, message, { hint });
    }
  }
}

/** The error that the work itself threw. */
function tickFailure({ id, schedule, kind, code, message, hint }: TickRecord): PatchbayError {
  const words = message ?? `the schedule ${schedule} could not be carried out`;
  const facts = { facts: { tick: id } };
  return new PatchbayError(
    kind ?? 'unreachable',
    code ?? 'unexpected',
    words,
    hint === null ? facts : { ...facts, hint },
  );
}

/**
 * What to do next about a tick that failed, as `schedule run` says it, for those who did not type that; null of any other tick.
 * @param flags those of its commands, where nothing adds them later.
 */
export function tickHint(tick: TickRecord, flags: FolderFlags = {}): string | null {
  if (tick.outcome !== 'failed') return null;
  const { hint } = errorDocument(tickFailure(tick)).error;
  const named = hint?.replace(/\b(run) the same command\b/i, `$1 patchbay schedule run ${operands(tick.schedule)}`);
  return named === undefined ? null : withFlags(named, flags);
}

/** `schedule ls --json`: one line. @param notFollowed what the running engine takes otherwise: nothing, where it asks itself. */
export function scheduleDocument(
  view: ScheduleView,
  nowMs: number,
  notFollowed: readonly SettingApart[] = [],
): Readonly<Record<string, unknown>> {
  const { record, expectEveryMs, configured, last, skipped, open } = view;
  return {
    name: record.name,
    work: record.work,
    when: describeRule(record.rule),
    rule: record.rule,
    state: stateOf(view),
    pausedAt: instant(record.pausedAtMs),
    reason: record.pauseReason,
    dueAt: instant(record.dueAtMs),
    next: nextTimes(record, nowMs).map(isoInstant),
    configured: configured === null ? null : { when: describeRule(configured.rule), rule: configured.rule },
    notFollowed,
    expectEvery: expectEveryMs === null ? null : formatDuration(expectEveryMs),
    working: open === null ? null : { tick: open.id, state: open.state, dueAt: isoInstant(open.dueAtMs) },
    last:
      last === null
        ? null
        : {
            tick: last.id,
            trigger: last.trigger,
            outcome: last.outcome,
            at: instant(last.endedAtMs),
            runs: last.runIds,
            takenAt: instant(last.takenAtMs),
            code: last.code,
            message: last.message,
            hint: tickHint(last),
          },
    skipped:
      skipped === null
        ? null
        : { count: skipped.count, at: instant(skipped.newest.endedAtMs), message: skipped.newest.message },
  };
}

/** How the configuration differs from what the engine goes by; null where it does not, and of what a command asked for. */
export function changeInConfiguration({ record, configured, isEntered }: ScheduleView): 'dropped' | 'changed' | null {
  if (!isEntered) return null;
  if (configured === null) return record.rule === null ? null : 'dropped';
  if (isDeepStrictEqual(withOneZoneName(record.rule), withOneZoneName(configured.rule))) return null;
  return isOfThisShellAlone(record.rule, configured.rule) ? null : 'changed';
}

/** Where the configuration names no zone, that of this process may be another than the engine's, and nothing has changed. */
function isOfThisShellAlone(rule: ScheduleRule | null, configured: ScheduleRule | null): boolean {
  if (rule?.kind !== 'at' || configured?.kind !== 'at' || rule.at !== configured.at) return false;
  return zoneName(configured.zone) === zoneName(zoneOfProcess());
}

function zoneOfProcess(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC';
}

/** The zones by which an engine goes where the configuration names none, and that of this process; null where they are one. */
export function zonesApart(
  views: readonly ScheduleView[],
): { readonly engine: readonly string[]; readonly process: string } | null {
  const engine = new Set<string>();
  for (const { record, configured } of views) {
    const rule = configured?.rule ?? null;
    if (record.rule?.kind !== 'at' || !isOfThisShellAlone(record.rule, rule)) continue;
    if (!isDeepStrictEqual(withOneZoneName(record.rule), withOneZoneName(rule))) engine.add(record.rule.zone);
  }
  return engine.size === 0 ? null : { engine: [...engine].sort(), process: zoneOfProcess() };
}

function withOneZoneName(rule: ScheduleRule | null): ScheduleRule | null {
  return rule?.kind === 'at' ? { ...rule, zone: zoneName(rule.zone) } : rule;
}

/** `Asia/Kolkata` and `Asia/Calcutta` are one zone. */
function zoneName(zone: string): string {
  return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
}

type State = 'waiting' | 'working' | 'paused' | 'byHand' | 'new';

function stateOf({ record, isEntered, open }: ScheduleView): State {
  if (record.pausedAtMs !== null) return 'paused';
  if (open !== null) return 'working';
  if (!isEntered) return 'new';
  return record.rule === null ? 'byHand' : 'waiting';
}

/** The next due times, none while it is paused. A first one in the past is made up for once; the others are after now. */
export function nextTimes({ rule, dueAtMs, pausedAtMs }: ScheduleRecord, nowMs: number): readonly number[] {
  if (rule === null || dueAtMs === null || pausedAtMs !== null) return [];
  const second = nextAnchored(rule, dueAtMs, nowMs);
  return second === null ? [dueAtMs] : [dueAtMs, second, ...nextDues(rule, second, nextTimesShown - 2)];
}

function instant(ms: number | null): string | null {
  return ms === null ? null : isoInstant(ms);
}
