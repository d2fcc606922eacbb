/** `patchbay schedule ls|run|pause|resume`. */
import type { Home } from '#src/app.ts';
import { downloadHost } from '#src/config/feed-schema.ts';
import { formatDuration } from '#src/config/forms.ts';
import { followRun } from '#src/ledger/follow.ts';
import type { RunState } from '#src/ledger/runs.ts';
import { phoneNumbersSchedule, type ScheduleRecord, type TickRecord } from '#src/ledger/schedules.ts';
import { unlessAway, waitOut } from '#src/ledger/wait-out.ts';
import { besideEngine } from '#src/operations/engine-here.ts';
import { type SettingApart, settingText, workOfTake } from '#src/operations/followed-settings.ts';
import { anyEngineRuns, anyOtherHostWorks } from '#src/operations/hosts.ts';
import { readSnapshotOf, snapshotDocument } from '#src/operations/numbers.ts';
import { notesIn, runDocument } from '#src/operations/run-document.ts';
import { readRunEnd, stateWords } from '#src/operations/runs.ts';
import {
  changeInConfiguration,
  type ExpectedFeed,
  endedTick,
  expectedFeeds,
  howToConfigure,
  listSchedules,
  nextTimes,
  pauseSchedule,
  requestTick,
  resumeSchedule,
  type ScheduleView,
  scheduleDocument,
  tickHint,
  zonesApart,
} from '#src/operations/schedules.ts';
import { exitCodes, worstExitCode } from '#src/runs/exit-code.ts';
import { followTick } from '#src/schedules/carry-out-tick.ts';
import { describeRule } from '#src/schedules/describe-rule.ts';
import { scheduleMoment } from '#src/schedules/schedule-moment.ts';
import { operands } from '#src/shell-words.ts';
import { openHandedOver, withNotesOf } from '../handed-over.ts';
import { finishingText, listenForInterrupt, reportInterrupted } from '../interrupt.ts';
import { patienceOf } from '../one-shot.ts';
import { type GlobalOptions, openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { changeSummary, countedNumbers } from '../present-numbers.ts';
import { presentRun } from '../present-run.ts';
import { createProgress, type Progress } from '../progress.ts';
import { openPatiently } from '../waiting.ts';
import { beginRequest, type WorkSession } from '../work-session.ts';

const runsShown = 3;
/** An engine that runs has begun it by then. */
const overdueFromMs = 60_000;

interface PauseOptions extends GlobalOptions {
  readonly reason?: string;
}

export async function schedules(options: GlobalOptions): Promise<number> {
  const home = await openCliHome(options, 'show');
  try {
    const output = createOutput(options);
    const views = await listSchedules(home);
    if (views.length === 0) output.note(`There is no schedule. ${howToConfigure}`);
    else await print(home, output, views);
    if (!output.json) {
      const nowMs = home.clock.nowMs();
      for (const one of (await expectedFeeds(home)).filter(({ isTaken }) => !isTaken))
        for (const line of expectedLines(output, one, nowMs)) output.line(line);
    }
    return 0;
  } finally {
    await home.close();
  }
}

export async function pause(options: PauseOptions, name: string): Promise<number> {
  return change(options, (home) => pauseSchedule(home, name, options.reason ?? null));
}

export async function resume(options: GlobalOptions, name: string): Promise<number> {
  let missed = false;
  return change(
    options,
    async (home) => {
      const { pausedAtMs = null, dueAtMs = null } = (await home.ledger.schedules.get(name)) ?? {};
      missed = pausedAtMs !== null && dueAtMs !== null && dueAtMs <= home.clock.nowMs();
      return await resumeSchedule(home, name);
    },
    () =>
      missed
        ? `What became due while it was paused is not made up for. To do it now: patchbay schedule run ${operands(name)}`
        : null,
  );
}

/** Changes one schedule and shows what it is now. @param noteOf what to say below it. */
async function change(
  options: GlobalOptions,
  act: (home: Home) => Promise<ScheduleView>,
  noteOf: () => string | null = () => null,
): Promise<number> {
  const home = await openCliHome(options, 'look');
  try {
    const output = createOutput(options);
    await print(home, output, [await act(home)]);
    const note = noteOf();
    if (note !== null) output.note(output.paste(note));
    return 0;
  } finally {
    await home.close();
  }
}

async function print(home: Home, output: Output, views: readonly ScheduleView[]): Promise<void> {
  const nowMs = home.clock.nowMs();
  const engineRuns = await anyEngineRuns(home);
  const working = views.filter(({ record, open }) => record.work === 'take' && open?.state === 'working');
  const isDownload = ({ record }: ScheduleView): boolean => downloadHost(home.config.feeds[record.name]?.take) !== null;
  const apart = await besideEngine(home);
  for (const view of views) {
    const notFollowed = apart(workOfTake(view.record.name)).filter((one) => isOfTake(one, view));
    const atWork = working.filter((one) => isDownload(one) === isDownload(view)).map(({ record }) => record.name);
    const around = { engineRuns, atWork, notFollowed };
    if (output.json) output.document(scheduleDocument(view, nowMs, notFollowed));
    else for (const line of scheduleLines(output, view, nowMs, around)) output.line(line);
  }
  noteEngine(engineRuns, output, views);
  noteZones(engineRuns, output, views);
}

/** When it is taken, the ledger tells; one that the engine has not entered, or that is gone from the configuration, has a line of its own. */
function isOfTake({ setting }: SettingApart, { record: { name }, configured, isEntered }: ScheduleView): boolean {
  if (configured === null || !isEntered) return false;
  return setting === `feeds.${name}.take` || setting === `feeds.${name}.kind`;
}

/** `TZ` may have been another one where the engine was started. */
function noteZones(engineRuns: boolean, output: Output, views: readonly ScheduleView[]): void {
  const zones = zonesApart(views);
  if (zones === null) return;
  const engine = zones.engine.join(' and ');
  output.note(
    engineRuns
      ? `The running engine goes by ${engine}, and "at" is shown in it; this shell, and every other time, by ${zones.process}. A zone that was named since counts from the next start.`
      : `The last engine went by ${engine}, and "at" is shown in it; a start in this shell goes by ${zones.process}.`,
  );
}

/** The times that are shown apply only while an engine runs. */
function noteEngine(engineRuns: boolean, output: Output, views: readonly ScheduleView[]): void {
  const isDueSometime = views.some(({ record }) => record.rule !== null && record.pausedAtMs === null);
  if (!isDueSometime || engineRuns) return;
  output.note(output.paste('No engine is running, so nothing becomes due. Start one with: patchbay start'));
}

/** `patchbay schedule run NAME`: asks for the work of a schedule now, and follows it and the runs it enters to their end. */
interface RunOptions extends GlobalOptions {
  readonly wait?: string;
  readonly detach?: boolean;
}

export async function runSchedule(options: RunOptions, name: string): Promise<number> {
  const patienceMs = patienceOf(options.wait);
  const home = await openPatiently(options, 'act', patienceMs);
  const output = createOutput(options);
  const progress = createProgress(output);
  const interrupt = listenForInterrupt(() => {
    progress.clear();
    output.note(finishingText);
  });
  try {
    if (options.detach === true) {
      const tick = await requestTick(home, name, await anyEngineRuns(home));
      return await detach(home, output, tick, await notesOn(home, output, name));
    }
    const { session, entered } = await beginRequest(home, output, { patienceMs, interrupt }, async (isEngine) =>
      requestTick(home, name, !isEngine || (await anyOtherHostWorks(home))),
    );
    try {
      const notes = session.isEngine() ? [] : await notesOn(home, output, name);
      const end = await session.follow((following) => followTick({ ...following, tickId: entered.id }));
      const tick = endedTick(end, name);
      if (tick.outcome !== 'run') return await printTick(home, output, tick, notes);
      if (!output.json) output.line(`${printable(name)}: ${outcomeText(output, tick)}`);
      return await followRuns(home, output, session, tick, { progress, patienceMs, notes });
    } finally {
      await session.leave();
    }
  } catch (error) {
    progress.clear();
    const code = interrupt.exitCode();
    if (code === null) throw error;
    const who = (await unlessAway(() => anyEngineRuns(home), true))
      ? 'the running engine continues the work'
      : 'the next engine continues the work';
    return reportInterrupted(output, `interrupted: ${who}`, code, error);
  } finally {
    interrupt.dispose();
    await home.close();
  }
}

/** Says which settings of the feed the running engine follows otherwise. */
async function notesOn(home: Home, output: Output, name: string): Promise<readonly string[]> {
  if (name === phoneNumbersSchedule) return [];
  return (await openHandedOver(home, output.note)).work(workOfTake(name));
}

async function detach(home: Home, output: Output, tick: TickRecord, notes: readonly string[]): Promise<number> {
  const isRunning = await anyEngineRuns(home);
  if (output.json) {
    const engine = isRunning ? 'running' : 'not running';
    const { schedule, id, state } = tick;
    output.document({ schedule, tick: id, state, engine, ...notesIn(notes), exitCode: 0 });
  } else {
    const who = isRunning ? 'the running engine does it' : 'no engine is running; the next one does it: patchbay start';
    output.line(output.paste(`${printable(tick.schedule)}: requested; ${who}`));
  }
  return exitCodes.done;
}

async function followRuns(
  home: Home,
  output: Output,
  session: WorkSession,
  tick: TickRecord,
  {
    progress,
    patienceMs,
    notes,
  }: { readonly progress: Progress; readonly patienceMs: number; readonly notes: readonly string[] },
): Promise<number> {
  const codes: (number | null)[] = [];
  for (const runId of tick.runIds) {
    const end = await session.follow((following) => followRun({ ...following, runId, onProgress: progress.update }));
    progress.clear();
    const detail = await waitOut({ clock: home.clock, patienceMs }, () => readRunEnd(home, end));
    if (output.json) output.document(runDocument(detail, output.values, notes));
    else output.line(presentRun(output, withNotesOf(output, detail, notes)));
    codes.push(detail.summary.exitCode);
  }
  return worstExitCode(codes);
}

/** One that entered no run. */
async function printTick(home: Home, output: Output, tick: TickRecord, notes: readonly string[]): Promise<number> {
  if (tick.outcome === 'snapshot') return await printSnapshot(home, output, tick);
  const { schedule, outcome, code, message } = tick;
  const exitCode = outcome === 'skipped' ? exitCodes.guard : exitCodes.done;
  if (output.json) output.document({ schedule, tick: tick.id, outcome, code, message, ...notesIn(notes), exitCode });
  else output.line(`${printable(schedule)}: ${outcomeText(output, tick)}`);
  return exitCode;
}

async function printSnapshot(home: Home, output: Output, tick: TickRecord): Promise<number> {
  const record = await readSnapshotOf(home, tick);
  if (record === null) {
    // Retention has removed it already.
    if (output.json) output.document({ schedule: tick.schedule, tick: tick.id, outcome: tick.outcome, exitCode: 0 });
    else output.line(`${printable(tick.schedule)}: ${outcomeText(output, tick)}`);
    return exitCodes.done;
  }
  const document = snapshotDocument(home, record);
  if (output.json) output.document(document);
  else {
    output.line(`snapshot of ${countedNumbers(record.count)}: ${changeSummary(record)}`);
    output.line(`  ${document.file}`);
  }
  return exitCodes.done;
}

interface AroundSchedule {
  /** On any host: it goes by the configuration that it was started with. */
  readonly engineRuns: boolean;
  /** Names of feeds that are being looked at and have the places of its kind, files or downloads: a few at once, and the others wait for them. */
  readonly atWork: readonly string[];
  /** What the running engine takes otherwise than the configuration says. */
  readonly notFollowed?: readonly SettingApart[];
}

/** A schedule for people. Pure. */
export function scheduleLines(
  output: Output,
  view: ScheduleView,
  nowMs: number,
  { engineRuns, atWork, notFollowed = [] }: AroundSchedule,
): readonly string[] {
  const { style } = output;
  const { record, expectEveryMs, lastFileAtMs, isEntered, last, lastRunStates, skipped, open } = view;
  const lines = [`${style('bold', printable(record.name))}  ${describeRule(record.rule)}`];
  const change = changeText(view, engineRuns);
  if (change !== null) lines.push(`  ${style('yellow', change)}`);
  if (notFollowed.length > 0) lines.push(`  ${style('yellow', takeChangeText(notFollowed))}`);
  if (record.pausedAtMs !== null) {
    const why = record.pauseReason === null ? '' : `: ${printable(record.pauseReason)}`;
    lines.push(`  ${style('yellow', 'paused')} since ${scheduleMoment(record.pausedAtMs, record, nowMs)}${why}`);
  }
  const times = nextTimes(record, nowMs);
  const told = (atMs: number): string => `${scheduleMoment(atMs, record, nowMs)} (${relative(atMs, nowMs)})`;
  const overdueCount = times.filter((atMs) => nowMs - atMs > overdueFromMs).length;
  if (overdueCount > 0)
    lines.push(`  ${style('yellow', 'overdue')}: ${times.slice(0, overdueCount).map(told).join(', ')}`);
  const next = times.slice(overdueCount).map(told);
  if (next.length > 0) lines.push(`  next: ${next.join(', ')}`);
  // No engine starts one that has no times.
  if (record.rule === null)
    lines.push(`  ${output.paste(`starts with: patchbay schedule run ${operands(record.name)}`)}`);
  else if (!isEntered) {
    const starts = engineRuns ? 'starts once the running engine is stopped and started again' : 'starts with';
    lines.push(`  ${output.paste(`${starts}: patchbay start`)}`);
  }
  if (open !== null) lines.push(`  ${open.state === 'working' ? 'running' : waitingText(record, atWork)}`);
  if (last !== null) {
    const how = outcomeText(output, last).replace(/\.$/, '');
    const ended = lastRunStates.length === 0 ? '' : `, ${runStatesText(output, lastRunStates)}`;
    lines.push(`  last: ${how}${ended}, ${relative(last.endedAtMs ?? nowMs, nowMs)}`);
    for (const hint of tickHint(last)?.split('\n') ?? []) lines.push(`    ${output.paste(printable(hint))}`);
  }
  if (skipped !== null) lines.push(`  ${skippedText(output, skipped, nowMs)}`);
  if (expectEveryMs !== null) {
    const unless = record.pausedAtMs === null ? '' : ', and not while it is paused';
    lines.push(
      `  a file is expected every ${formatDuration(expectEveryMs)}${unless}; ${lastFileText(lastFileAtMs, nowMs)}`,
    );
  }
  return lines;
}

function lastFileText(lastAtMs: number | null, nowMs: number): string {
  if (lastAtMs === null) return 'none was accepted yet';
  return `the last one arrived ${lastAtMs > nowMs ? 'while the clock was ahead' : relative(lastAtMs, nowMs)}`;
}

/** What the configuration says meanwhile; null where an engine goes by it. */
function changeText(view: ScheduleView, engineRuns: boolean): string | null {
  switch (changeInConfiguration(view)) {
    case 'dropped':
      return `the configuration has it no longer; ${engineRuns ? 'the running engine goes on with it until a restart' : 'the next start removes it'}`;
    case 'changed': {
      const said = describeRule(view.configured?.rule ?? null);
      return `the configuration says ${said}; ${engineRuns ? 'the running engine follows it after a restart' : 'the next start follows it'}`;
    }
    default:
      return null;
  }
}

/** The same of what is taken, of which no schedule of the ledger tells. */
function takeChangeText(notFollowed: readonly SettingApart[]): string {
  const said = notFollowed.map(({ setting, here }) => `${setting.split('.').at(-1)} ${settingText(here)}`).join(', ');
  return `the configuration says ${printable(said)}; the running engine follows it after a restart`;
}

function waitingText({ work }: ScheduleRecord, atWork: readonly string[]): string {
  return work !== 'take' || atWork.length === 0
    ? 'waiting'
    : `waiting; running now: ${atWork.map(printable).join(', ')}`;
}

/** A feed without a schedule, of which files are expected. Pure. */
export function expectedLines(
  { style }: Pick<Output, 'style'>,
  { feed, everyMs, lastAtMs }: Omit<ExpectedFeed, 'isTaken'>,
  nowMs: number,
): readonly string[] {
  return [
    `${style('bold', printable(feed))}  no schedule: its files are dropped into its folder`,
    `  a file is expected every ${formatDuration(everyMs)}; ${lastFileText(lastAtMs, nowMs)}`,
  ];
}

/** `run 2026…`, `nothing new: …`, `failed [code]: …`; with a word where it makes up for a missed one. */
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

/** `done`, or `2 done, 1 failed`: what became of the runs. */
function runStatesText({ style }: Output, states: readonly RunState[]): string {
  const words = (state: RunState): string =>
    state === 'failed' || state === 'stopped' ? style('red', stateWords[state]) : stateWords[state];
  const [first] = states;
  if (first !== undefined && states.length === 1) return words(first);
  return [...Map.groupBy(states, (state) => state)].map(([state, all]) => `${all.length} ${words(state)}`).join(', ');
}

/** A `delta` feed may take hundreds of files at once. */
function runsText(ids: readonly string[]): string {
  const shown = ids.slice(0, runsShown).join(', ');
  return ids.length > runsShown ? `${shown} and ${ids.length - runsShown} more` : shown;
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
