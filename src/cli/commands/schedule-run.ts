/** `patchbay schedule run NAME`: asks for the work of a schedule now, and follows it and the runs it enters to their end. */
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import type { ScheduleRecord, TickRecord } from '#src/ledger/schedule-record.ts';
import { workspaceSeries } from '#src/ledger/snapshot-record.ts';
import { exitCodes, worstExitCode } from '#src/runs/exit-code.ts';
import { followRun } from '#src/runs/follow-run.ts';
import { followTick, type TickFollowEnd } from '#src/schedules/follow-tick.ts';
import { newTickId } from '#src/schedules/new-tick-id.ts';
import { snapshotFile } from '#src/snapshots/snapshot-files.ts';
import { adviceFor } from '../advice.ts';
import type { GlobalOptions } from '../global-options.ts';
import { listenForInterrupt } from '../interrupt.ts';
import { patienceOf } from '../one-shot.ts';
import { openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { presentRun } from '../present-run.ts';
import { createProgress } from '../progress.ts';
import { presentationOf, runDocument } from '../run-document.ts';
import { type Seat, takeSeat } from '../seat.ts';
import { tellInterrupted } from '../tell-interrupted.ts';
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
    const { seat, entered } = await takeSeat(
      home,
      {
        sameWorkspace: false,
        patienceMs,
        interrupt,
        onEngine: (engine) => {
          if (engine === null) output.note('an engine is running on this data folder: it does the work');
        },
      },
      // It does no harm where it stays: the next engine that can be started carries it out.
      { enter: () => request(home, schedule), withdraw: async () => undefined },
    );
    try {
      const end = await seat.follow((following) => followTick({ ...following, tickId: entered.id }));
      const tick = requireDone(end, name);
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
    return tellInterrupted(output, 'interrupted: the work goes on with the next engine', code);
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
  if (output.json) output.document({ schedule: schedule.name, tick: tick.id, state: tick.state, exitCode: 0 });
  else output.line(`${printable(schedule.name)}: asked for; the running engine does it, or the next one`);
  return exitCodes.done;
}

/** @throws PatchbayError why nobody does it. */
function requireDone(end: TickFollowEnd, name: string): TickRecord {
  if (end.kind === 'done') return end.tick;
  if (end.kind === 'forgotten') {
    throw new PatchbayError('usage', 'noSuchSchedule', `the schedule ${name} was taken out of the configuration`, {
      hint: 'See the schedules with: patchbay schedule ls',
    });
  }
  const pause = end.kind === 'engineGone' ? null : end.pause;
  const code = pause?.errorCode ?? (end.kind === 'auth' ? 'keyRefused' : 'serviceUnreachable');
  const message = pause?.message ?? 'nothing moved for a long time';
  const hint = adviceFor(code) ?? 'Nothing is lost: the work waits for the next engine.';
  throw new PatchbayError(end.kind === 'auth' ? 'auth' : 'unreachable', code, message, { hint });
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
  const exitCode = exitCodeOfTick(tick);
  const { schedule, outcome, code, message } = tick;
  if (output.json) {
    const hint = code === null ? null : adviceFor(code);
    const error = exitCode === 0 ? {} : { error: { code, message, hint } };
    output.document({ schedule, tick: tick.id, outcome, code, message, ...error, exitCode });
  } else output.line(`${printable(schedule)}: ${outcomeText(output, tick)}`);
  return exitCode;
}

async function printSnapshot(home: Home, output: Output, tick: TickRecord): Promise<number> {
  const record = await home.ledger.snapshots.at(tick.user ?? workspaceSeries, tick.takenAtMs ?? 0);
  if (record === null || record.takenAtMs !== tick.takenAtMs) {
    // Retention has taken it away already.
    output.note(`${tick.schedule}: ${outcomeText(output, tick)}`);
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

const refusedKeyCodes: ReadonlySet<string> = new Set(['keyRefused', 'apiKeyMissing']);

/** What could not be read is like a file that could not; what the service does not give is out of reach. */
function exitCodeOfTick({ outcome, work, code }: TickRecord): number {
  if (outcome === 'nothingNew' || outcome === 'snapshot') return exitCodes.done;
  if (outcome === 'skipped') return exitCodes.guard;
  if (code === 'unexpected') return exitCodes.unexpected;
  if (code !== null && refusedKeyCodes.has(code)) return exitCodes.auth;
  if (work === 'snapshot' || code === 'tickTooLong' || code === 'interrupted') return exitCodes.unreachable;
  return exitCodes.dead;
}
