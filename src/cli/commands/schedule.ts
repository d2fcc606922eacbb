/** `patchbay schedule ls|pause|resume`: all through the ledger, with or without a running engine. */
import type { Home } from '#src/app.ts';
import { adviceFor } from '#src/cli/exit.ts';
import { listenForInterrupt, tellInterrupted } from '#src/cli/interrupt.ts';
import { createProgress, patienceOf } from '#src/cli/one-shot.ts';
import { type GlobalOptions, openCliHome } from '#src/cli/open-home.ts';
import { createOutput, type Output, printable } from '#src/cli/output.ts';
import { presentationOf, presentRun, runDocument } from '#src/cli/present-run.ts';
import { type Seat, takeSeatFor } from '#src/cli/seat.ts';
import { isoInstant } from '#src/clock.ts';
import { closest, formatDuration } from '#src/config/forms.ts';
import { isEngineRunning } from '#src/engine/registration.ts';
import { PatchbayError } from '#src/errors.ts';
import { phoneNumbersSchedule, type ScheduleRecord, type TickRecord, tellingOutcomes } from '#src/ledger/schedules.ts';
import { workspaceSeries } from '#src/ledger/snapshots.ts';
import { exitCodes, worstExitCode } from '#src/runs/exit-code.ts';
import { followRun } from '#src/runs/follow-run.ts';
import { followTick, type TickFollowEnd } from '#src/schedules/carry-out-tick.ts';
import { describeRule } from '#src/schedules/describe-rule.ts';
import {
  type ConfiguredSchedule,
  configuredSchedules,
  enterSchedule,
  pauseSchedule,
  resumeSchedule,
} from '#src/schedules/reconcile-schedules.ts';
import { newTickId } from '#src/schedules/tick-due.ts';
import { firstDue, nextDues } from '#src/schedules/timetable.ts';
import { snapshotFile } from '#src/snapshots/snapshot-files.ts';

/** Among which skipped ones are counted. */
const ticksLookedAt = 1_000;

interface PauseOptions extends GlobalOptions {
  readonly reason?: string;
}

export async function listSchedules(options: GlobalOptions): Promise<number> {
  const home = await openCliHome(options, 'look');
  const output = createOutput(options);
  try {
    const views = await viewsOf(home);
    for (const view of views) {
      if (output.json) output.document(scheduleDocument(view));
      else for (const line of scheduleLines(output, view, home.clock.nowMs())) output.line(line);
    }
    if (views.length === 0) output.note(`There is no schedule. ${howToConfigure}`);
    else noteEngine(home, output, views);
    return 0;
  } finally {
    await home.close();
  }
}

export async function pause(options: PauseOptions, name: string): Promise<number> {
  return change(options, name, async (home, schedule) => {
    await pauseSchedule(home, schedule, options.reason ?? null);
  });
}

export async function resume(options: GlobalOptions, name: string): Promise<number> {
  return change(options, name, resumeSchedule);
}

/** Changes one schedule and shows what it is now. */
async function change(
  options: GlobalOptions,
  name: string,
  act: (home: Home, schedule: ScheduleRecord) => Promise<void>,
): Promise<number> {
  const home = await openCliHome(options, 'look');
  const output = createOutput(options);
  try {
    await act(home, await findSchedule(home, name));
    const view = (await viewsOf(home)).find((one) => one.record.name === name);
    if (view === undefined) return 0;
    if (output.json) output.document(scheduleDocument(view));
    else for (const line of scheduleLines(output, view, home.clock.nowMs())) output.line(line);
    noteEngine(home, output, [view]);
    return 0;
  } finally {
    await home.close();
  }
}

/** The times that are shown hold only while an engine runs. */
function noteEngine(home: Home, output: Output, views: readonly ScheduleView[]): void {
  const isDueSometime = views.some(({ record }) => record.rule !== null && record.pausedAtMs === null);
  if (!isDueSometime || isEngineRunning(home)) return;
  output.note('No engine runs: nothing becomes due until: patchbay start');
}

/** Those of the ledger, and those of the configuration that no engine has met yet; by name. */
async function viewsOf(home: Home): Promise<readonly ScheduleView[]> {
  const configured = new Map(configuredSchedules(home.config).map((one) => [one.name, one]));
  const entered = await home.ledger.schedules.list();
  const names = new Set(entered.map((one) => one.name));
  const open = await home.ledger.schedules.openTicks();
  const views = await Promise.all(
    entered.map(async (record): Promise<ScheduleView> => {
      const { name } = record;
      const last = await home.ledger.schedules.lastEnded(name, tellingOutcomes);
      const skipped = skippedSince(await home.ledger.schedules.ticks(name, ticksLookedAt), last);
      const ofIt = open.filter((tick) => tick.schedule === name);
      const shown = ofIt.find((tick) => tick.state === 'working') ?? ofIt[0] ?? null;
      const expectEveryMs = configured.get(name)?.expectEveryMs ?? null;
      return { record, expectEveryMs, isEntered: true, last, skipped, open: shown };
    }),
  );
  const missing = [...configured.values()].filter((one) => !names.has(one.name));
  return [...views, ...missing.map((one) => newView(one, home.clock.nowMs()))].sort((a, b) =>
    a.record.name < b.record.name ? -1 : 1,
  );
}

/** What was skipped after the last one that was not. */
function skippedSince(newestFirst: readonly TickRecord[], last: TickRecord | null): ScheduleView['skipped'] {
  const end = newestFirst.findIndex(({ id }) => id === last?.id);
  const ticks = (end < 0 ? newestFirst : newestFirst.slice(0, end)).filter(({ outcome }) => outcome === 'skipped');
  const [newest] = ticks;
  return newest === undefined ? null : { count: ticks.length, newest };
}

function newView({ name, work, rule, expectEveryMs }: ConfiguredSchedule, nowMs: number): ScheduleView {
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
  return { record, expectEveryMs, isEntered: false, last: null, skipped: null, open: null };
}

/** `patchbay schedule run NAME`: asks for the work of a schedule now, and follows it and the runs it enters to their end. */
interface RunOptions extends GlobalOptions {
  readonly wait?: string;
  readonly detach?: boolean;
}

export async function runSchedule(options: RunOptions, name: string): Promise<number> {
  const patienceMs = patienceOf(options.wait);
  const home = await openCliHome(options, 'work');
  const output = createOutput(options);
  const progress = createProgress(output);
  const interrupt = listenForInterrupt(() => {
    progress.clear();
    output.note('patchbay: finishing the requests on their way; press Ctrl-C again to leave at once');
  });
  try {
    const schedule = await findSchedule(home, name);
    if (options.detach === true) return await detach(home, output, schedule);
    const { seat, entered } = await takeSeatFor(home, output, { patienceMs, interrupt }, () => request(home, schedule));
    try {
      const end = await seat.follow((following) => followTick({ ...following, tickId: entered.id }));
      const tick = endedTick(end, name);
      if (tick.outcome !== 'run') return await printTick(home, output, tick);
      if (!output.json) output.line(`${printable(name)}: ${outcomeText(output, tick)}`);
      return await followRuns(home, output, seat, tick, progress);
    } finally {
      await seat.leave();
    }
  } catch (error) {
    progress.clear();
    const code = interrupt.exitCode();
    if (code === null) throw error;
    const who = isEngineRunning(home) ? 'the running engine goes on with it' : 'the work goes on with the next engine';
    return tellInterrupted(output, `interrupted: ${who}`, code);
  } finally {
    interrupt.dispose();
    await home.close();
  }
}

function request({ ledger, clock }: Home, { name }: ScheduleRecord): Promise<TickRecord> {
  const dueAtMs = clock.nowMs();
  return ledger.schedules.request({ id: newTickId(), schedule: name, trigger: 'request', user: null, dueAtMs });
}

async function detach(home: Home, output: Output, schedule: ScheduleRecord): Promise<number> {
  const tick = await request(home, schedule);
  const { name } = schedule;
  const isRunning = isEngineRunning(home);
  const who = isRunning ? 'the running engine does it' : 'no engine runs, the next one does it: patchbay start';
  if (output.json) {
    const engine = isRunning ? 'running' : 'not running';
    output.document({ schedule: name, tick: tick.id, state: tick.state, engine, exitCode: 0 });
  } else output.line(`${printable(name)}: asked for; ${who}`);
  return exitCodes.done;
}

async function followRuns(
  home: Home,
  output: Output,
  seat: Seat,
  tick: TickRecord,
  progress: ReturnType<typeof createProgress>,
): Promise<number> {
  const codes: number[] = [];
  for (const runId of tick.runIds) {
    const end = await seat.follow((following) => followRun({ ...following, runId, onProgress: progress.update }));
    progress.clear();
    const run = (await home.ledger.runs.get(runId)) ?? end.run;
    const presentation = await presentationOf(home, run, end);
    if (output.json) output.document(runDocument(presentation, output.values));
    else output.line(presentRun(output, presentation));
    codes.push(presentation.summary.exitCode);
  }
  return worstExitCode(codes);
}

/** One that entered no run. */
async function printTick(home: Home, output: Output, tick: TickRecord): Promise<number> {
  if (tick.outcome === 'snapshot') return await printSnapshot(home, output, tick);
  const { schedule, outcome, code, message } = tick;
  const exitCode = outcome === 'skipped' ? exitCodes.guard : exitCodes.done;
  if (output.json) output.document({ schedule, tick: tick.id, outcome, code, message, exitCode });
  else output.line(`${printable(schedule)}: ${outcomeText(output, tick)}`);
  return exitCode;
}

async function printSnapshot(home: Home, output: Output, tick: TickRecord): Promise<number> {
  const record = await home.ledger.snapshots.at(tick.user ?? workspaceSeries, tick.takenAtMs ?? 0);
  if (record === null || record.takenAtMs !== tick.takenAtMs) {
    // Retention has taken it away already.
    if (output.json) output.document({ schedule: tick.schedule, tick: tick.id, outcome: tick.outcome, exitCode: 0 });
    else output.line(`${printable(tick.schedule)}: ${outcomeText(output, tick)}`);
    return exitCodes.done;
  }
  const { count, pages, changed, added, removed, changedNumbers } = record;
  const file = snapshotFile(home.folders.phoneNumberSnapshots, record);
  const takenAt = isoInstant(record.takenAtMs);
  if (output.json) output.document({ takenAt, count, pages, changed, added, removed, changedNumbers, file });
  else {
    const news = changed ? `${added} added, ${removed} removed, ${changedNumbers} changed` : 'nothing changed';
    output.line(`snapshot of ${count} phone number${count === 1 ? '' : 's'}: ${news}`);
    output.line(`  ${file}`);
  }
  return exitCodes.done;
}

/** Schedules of the ledger and of the configuration, by what a person typed. */
export const howToConfigure =
  'Name one in patchbay.yaml, under feeds: a feed with take and with at or every; or under snapshots.phoneNumbers.';

/** The one of that name; one that no engine has met yet is entered. @throws PatchbayError `usage` `noSuchSchedule`. */
export async function findSchedule(
  home: Pick<Home, 'ledger' | 'clock' | 'config'>,
  name: string,
): Promise<ScheduleRecord> {
  const { ledger } = home;
  const known = await ledger.schedules.get(name);
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
): Promise<PatchbayError> {
  const names = [...(await ledger.schedules.list()), ...configured].map((one) => one.name);
  const meant = closest(name, [...names, phoneNumbersSchedule]);
  const isFolderFeed = Object.hasOwn(config.feeds, name);
  const hint = isFolderFeed
    ? 'Its files come by the import folder. Give it something to take: a path, a glob or an https URL.'
    : meant !== null
      ? `Perhaps you meant ${meant}. See them with: patchbay schedule ls`
      : names.length === 0
        ? howToConfigure
        : 'See them with: patchbay schedule ls';
  return new PatchbayError('usage', 'noSuchSchedule', `there is no schedule ${name}`, { hint });
}

/** A schedule for people and for scripts. Pure. */
const nextShown = 3;
const runsShown = 3;
const minuteMs = 60_000;

export interface ScheduleView {
  readonly record: ScheduleRecord;
  readonly expectEveryMs: number | null;
  /** False: it stands in the configuration, and no engine has met it yet. */
  readonly isEntered: boolean;
  /** The last tick that ended and was not skipped. */
  readonly last: TickRecord | null;
  /** Those that were skipped after it. */
  readonly skipped: { readonly count: number; readonly newest: TickRecord } | null;
  /** Waiting or at work. */
  readonly open: TickRecord | null;
}

/** `schedule ls --json`: one line. */
export function scheduleDocument(view: ScheduleView): Readonly<Record<string, unknown>> {
  const { record, expectEveryMs, last, skipped, open } = view;
  return {
    name: record.name,
    work: record.work,
    when: describeRule(record.rule),
    rule: record.rule,
    state: stateOf(view),
    pausedAt: instant(record.pausedAtMs),
    reason: record.pauseReason,
    dueAt: instant(record.dueAtMs),
    next: nextTimes(record).map(isoInstant),
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
          },
    skipped:
      skipped === null
        ? null
        : { count: skipped.count, at: instant(skipped.newest.endedAtMs), message: skipped.newest.message },
  };
}

export function scheduleLines(output: Output, view: ScheduleView, nowMs: number): readonly string[] {
  const { style } = output;
  const { record, expectEveryMs, isEntered, last, skipped, open } = view;
  const lines = [`${style('bold', printable(record.name))}  ${describeRule(record.rule)}`];
  if (record.pausedAtMs !== null) {
    const why = record.pauseReason === null ? '' : `: ${printable(record.pauseReason)}`;
    lines.push(`  ${style('yellow', 'paused')} since ${moment(record.pausedAtMs, record)}${why}`);
  }
  const next = nextTimes(record).map((atMs) => `${moment(atMs, record)} (${relative(atMs, nowMs)})`);
  if (next.length > 0) lines.push(`  next: ${next.join(', ')}`);
  if (!isEntered) lines.push('  begins with: patchbay start');
  if (open !== null) lines.push(`  ${open.state === 'working' ? 'running' : 'waiting'}`);
  if (last !== null) {
    const how = outcomeText(output, last).replace(/\.$/, '');
    lines.push(`  last: ${how}, ${relative(last.endedAtMs ?? nowMs, nowMs)}`);
  }
  if (skipped !== null) lines.push(`  ${skippedText(output, skipped, nowMs)}`);
  if (expectEveryMs !== null) lines.push(`  a file is expected every ${formatDuration(expectEveryMs)}`);
  return lines;
}

/** `run 2026…`, `nothing new: …`, `failed [code]: …`; with a word where it made up for what was missed. */
export function outcomeText({ style }: Output, tick: TickRecord): string {
  const message = tick.message === null ? '' : `: ${printable(tick.message)}`;
  const said = `${tick.trigger === 'catchUp' ? ' (catching up)' : ''}${message}`;
  switch (tick.outcome) {
    case 'run':
      return `run ${runsText(tick.runIds)}${said}`;
    case 'snapshot':
      return `snapshot${said}`;
    case 'nothingNew':
      return `nothing new${said}`;
    case 'failed':
      return `${style('red', 'failed')} [${tick.code}]${said}`;
    default:
      return `skipped${said}`;
  }
}

/** `skipped 3 times, the last 4 s ago: the one before, t…, is still running`. */
function skippedText(
  { style }: Output,
  { count, newest }: NonNullable<ScheduleView['skipped']>,
  nowMs: number,
): string {
  const atMs = newest.endedAtMs ?? nowMs;
  const times = count === 1 ? relative(atMs, nowMs) : `${count} times, the last ${relative(atMs, nowMs)}`;
  const why = newest.message === null ? '' : `: ${printable(newest.message)}`;
  return `${style('yellow', 'skipped')} ${times}${why}`;
}

/** A `delta` feed may take hundreds of files at once. */
function runsText(ids: readonly string[]): string {
  const shown = ids.slice(0, runsShown).join(', ');
  return ids.length > runsShown ? `${shown} and ${ids.length - runsShown} more` : shown;
}

type State = 'waiting' | 'working' | 'paused' | 'byHand' | 'new';

function stateOf({ record, isEntered, open }: ScheduleView): State {
  if (record.pausedAtMs !== null) return 'paused';
  if (open !== null) return 'working';
  if (!isEntered) return 'new';
  return record.rule === null ? 'byHand' : 'waiting';
}

/** None while it is paused. */
function nextTimes({ rule, dueAtMs, pausedAtMs }: ScheduleRecord): readonly number[] {
  if (rule === null || dueAtMs === null || pausedAtMs !== null) return [];
  return [dueAtMs, ...nextDues(rule, dueAtMs, nextShown - 1)];
}

function instant(ms: number | null): string | null {
  return ms === null ? null : isoInstant(ms);
}

/** `Mon 23 Nov 02:30 +01:00`, in the zone of the schedule, or the machine's; with seconds where it comes more often than they tell. */
function moment(atMs: number, { rule }: ScheduleRecord): string {
  const zone = rule?.kind === 'at' ? { timeZone: rule.zone } : {};
  const withSeconds = rule?.kind === 'every' && rule.everyMs % minuteMs !== 0;
  const format = new Intl.DateTimeFormat('en-GB', {
    ...zone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...(withSeconds ? { second: '2-digit' as const } : {}),
    timeZoneName: 'longOffset',
  });
  const parts = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
  const offset = (parts.timeZoneName ?? '').replace('GMT', '') || '+00:00';
  const seconds = withSeconds ? `:${parts.second}` : '';
  return `${parts.weekday} ${parts.day} ${parts.month} ${parts.hour}:${parts.minute}${seconds} ${offset}`;
}

/** `in 14 h`, `3 min ago`, `now`. */
function relative(atMs: number, nowMs: number): string {
  const seconds = Math.abs(atMs - nowMs) / 1_000;
  if (seconds < 1) return 'now';
  const [count, unit] =
    seconds < 90
      ? [seconds, 's']
      : seconds < 90 * 60
        ? [seconds / 60, 'min']
        : seconds < 48 * 3_600
          ? [seconds / 3_600, 'h']
          : [seconds / 86_400, 'days'];
  const text = `${Math.round(Number(count))} ${unit}`;
  return atMs > nowMs ? `in ${text}` : `${text} ago`;
}

// The tick that was followed, or why there is none: the same error for every command (`exit.ts`).

/** @throws PatchbayError why nobody carries it out; what its work threw, where it failed. */
export function endedTick(end: TickFollowEnd, schedule: string): TickRecord {
  switch (end.kind) {
    case 'done':
      if (end.tick.outcome === 'failed') throw tickFailure(end.tick);
      return end.tick;
    case 'forgotten':
      throw new PatchbayError('usage', 'noSuchSchedule', `the schedule ${schedule} was taken out meanwhile`);
    default: {
      const pause = end.kind === 'engineGone' ? null : end.pause;
      const code = pause?.errorCode ?? (end.kind === 'auth' ? 'keyRefused' : 'serviceUnreachable');
      const message = pause?.message ?? 'nothing moved for a long time';
      const hint = adviceFor(code) ?? 'Nothing is lost: the work waits for the next engine.';
      throw new PatchbayError(end.kind === 'auth' ? 'auth' : 'unreachable', code, message, { hint });
    }
  }
}

/** As the error that the work itself threw. */
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
