/** `patchbay schedule run NAME`: asks for the work of a schedule now, and follows it and the runs it enters to their end. */
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import { isEngineRunning } from '#src/engine/find-engine.ts';
import type { ScheduleRecord, TickRecord } from '#src/ledger/schedule-record.ts';
import { workspaceSeries } from '#src/ledger/snapshot-record.ts';
import { exitCodes, worstExitCode } from '#src/runs/exit-code.ts';
import { followRun } from '#src/runs/follow-run.ts';
import { followTick } from '#src/schedules/carry-out-tick.ts';
import { newTickId } from '#src/schedules/tick-due.ts';
import { snapshotFile } from '#src/snapshots/snapshot-files.ts';
import type { GlobalOptions } from '../global-options.ts';
import { listenForInterrupt } from '../interrupt.ts';
import { patienceOf } from '../one-shot.ts';
import { openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { presentRun } from '../present-run.ts';
import { createProgress } from '../progress.ts';
import { presentationOf, runDocument } from '../run-document.ts';
import { type Seat, takeSeatFor } from '../seat.ts';
import { tellInterrupted } from '../tell-interrupted.ts';
import { endedTick } from '../tick-failure.ts';
import { findSchedule } from './schedule-find.ts';
import { outcomeText } from './schedule-lines.ts';

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
