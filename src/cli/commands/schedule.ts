/** `patchbay schedule ls|pause|resume`: all through the ledger, with or without a running engine. */
import type { Home } from '#src/app.ts';
import { isEngineRunning } from '#src/engine/find-engine.ts';
import { type ScheduleRecord, type TickRecord, tellingOutcomes } from '#src/ledger/schedule-record.ts';
import {
  type ConfiguredSchedule,
  configuredSchedules,
  pauseSchedule,
  resumeSchedule,
} from '#src/schedules/reconcile-schedules.ts';
import { firstDue } from '#src/schedules/timetable.ts';
import type { GlobalOptions } from '../global-options.ts';
import { openCliHome } from '../open-home.ts';
import { createOutput, type Output } from '../output.ts';
import { findSchedule, howToConfigure } from './schedule-find.ts';
import { type ScheduleView, scheduleDocument, scheduleLines } from './schedule-lines.ts';

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
