/** The document of a run for stdout, from the report where there is one, else from the ledger. */
import type { Home } from '#src/app.ts';
import { isFinal, type RunRecord } from '#src/ledger/run-record.ts';
import { eventsPerRunMax, type RunEvent } from '#src/ledger/staging-ledger.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { fixFilePath } from '#src/runs/fix-file.ts';
import type { FollowEnd } from '#src/runs/follow-run.ts';
import { readReport, reportPath } from '#src/runs/report.ts';
import { type ProblemLine, type RunSummary, summarise } from '#src/runs/summary.ts';
import { adviceFor } from './advice.ts';
import { type RunPresentation, withoutValues } from './present-run.ts';

/** At most so many problems are printed; the report has all. */
const problemsMax = 1_000;

export async function presentationOf(home: Home, run: RunRecord, end: FollowEnd | null): Promise<RunPresentation> {
  const { reports } = home.runFolders;
  const report = await readReport(reports, run.id);
  const outcomes = report?.outcomes ?? (isFinal(run.state) ? [] : await outcomesSoFar(home, run));
  const facts = {
    serviceName: home.serviceName,
    reportPath: reportPath(reports, run.id),
    // A stopped run has none yet, also where none of its rows waits.
    fixFile: run.counts.dead > 0 && isFinal(run.state) ? fixFilePath(run) : null,
    nowMs: home.clock.nowMs(),
  };
  const waiting = end === null || end.kind === 'rest' ? {} : { state: 'stopped', exitCode: waitingCode(end) };
  const summary = summarise(run, { ...facts, ...waiting });
  return {
    summary,
    problems: (report?.problems ?? []).slice(0, problemsMax),
    held: outcomes.filter((event) => event.kind === 'held'),
    outcomes,
    notes: run.notes,
    reason: end === null || end.kind === 'rest' ? run.reason : waitingReason(end),
  };
}

/** Of a run without a report yet. */
async function outcomesSoFar({ ledger }: Home, run: RunRecord): Promise<readonly RunEvent[]> {
  const events = await ledger.staging.events(run.id, 0, eventsPerRunMax);
  return events.map(({ ordinal: _, ...event }) => event);
}

/** `runs show --json`: besides, what was warned of, held, skipped and changed. */
export function shownDocument(presentation: RunPresentation, values: boolean): object {
  const outcomes = (presentation.outcomes ?? []).map((event) => withoutValues(event, values));
  return { ...runDocument(presentation, values), outcomes };
}

/** `import --json` (`contract.md`). */
export function runDocument(
  { summary, problems, reason }: RunPresentation,
  values: boolean,
): RunSummary & {
  readonly problems: readonly ProblemLine[];
} {
  const shown = values ? problems : problems.map((problem) => ({ ...problem, value: null }));
  const document = { ...summary, problems: shown };
  if (reason === null) return document;
  const { code, message, hint } = reason;
  return { ...document, ...{ error: { code, message, hint } } };
}

function waitingCode(end: FollowEnd): number {
  return end.kind === 'auth' ? exitCodes.auth : exitCodes.unreachable;
}

function waitingReason(end: FollowEnd): RunPresentation['reason'] {
  if (end.kind === 'auth') {
    const hint = 'No row was given up. Set a working key and run the same command again: it goes on where it stopped.';
    return { code: end.pause.errorCode ?? 'keyRefused', message: end.pause.message, hint };
  }
  const pause = end.kind === 'unreachable' ? end.pause : null;
  const code = pause?.errorCode ?? 'serviceUnreachable';
  const goOn = 'Nothing is lost. Run the same command again: it goes on where it stopped.';
  return {
    code,
    message: pause?.message ?? 'nothing moved for a long time',
    hint: code === 'serviceUnreachable' ? goOn : (adviceFor(code) ?? goOn),
  };
}
