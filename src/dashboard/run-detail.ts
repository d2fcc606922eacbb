/** One run with its problems, gathered from the ledger and the report file, and its JSON twin. */
import { stat } from 'node:fs/promises';
import { isFinal } from '#src/ledger/runs.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import { type ProblemLine, problemLines, readReport, reportPath } from '#src/runs/report.ts';
import type { DashboardParts } from './parts.ts';
import { type RunView, viewRun } from './run-view.ts';

/** A report is read as a whole; a larger one is named, not shown. */
const reportBytesMax = 8 * 1024 * 1024;
const liveProblemsMax = 200;

/**
 * - `all`: these are all problems of the run.
 * - `soFar`: the run has no report yet; the first ones.
 * - `tooMany`: the report is too large to be shown here.
 * - `gone`: the report was there and is no more.
 */
export type ProblemsKnown = 'all' | 'soFar' | 'tooMany' | 'gone';

export interface RunDetail extends RunView {
  readonly problems: readonly ProblemLine[];
  /** What was warned of, held, skipped and changed; as many of these as of the problems are known. */
  readonly outcomes: readonly RunEvent[];
  readonly problemsKnown: ProblemsKnown;
  /** Fields that waited for a person when the run met them; as far known as the problems. */
  readonly held: readonly RunEvent[];
}

/** Null where there is no such run: only an id that the ledger knows becomes part of a path. */
export async function readRunDetail(parts: DashboardParts, runId: string): Promise<RunDetail | null> {
  const run = await parts.ledger.runs.get(runId);
  if (run === null) return null;
  const view = viewRun(parts, run);
  if (!isFinal(run.state) && run.state !== 'stopped') {
    const dead = await parts.ledger.staging.deadRows(run.id, 0, liveProblemsMax);
    const events = await parts.ledger.staging.events(run.id, 0, liveProblemsMax);
    const outcomes = events.map(({ ordinal: _, ...event }) => event);
    return { ...view, problems: dead.flatMap(problemLines), outcomes, problemsKnown: 'soFar', held: heldOf(outcomes) };
  }
  const bytes = await reportBytes(parts.reportsFolder, run.id);
  if (bytes !== null && bytes > reportBytesMax)
    return { ...view, problems: [], outcomes: [], problemsKnown: 'tooMany', held: [] };
  const report = await readReport(parts.reportsFolder, run.id);
  const { problems = [], outcomes = [] } = report ?? {};
  return { ...view, problems, outcomes, problemsKnown: report === null ? 'gone' : 'all', held: heldOf(outcomes) };
}

/** The keys of `runs show --json`; besides, the reason as `error`, the notes, and whether these are all problems. */
export function runDetailJson({ record, summary, problems, outcomes, problemsKnown }: RunDetail): object {
  const document = { ...summary, problems, problemsComplete: problemsKnown === 'all', outcomes, notes: record.notes };
  return record.reason === null ? document : { ...document, error: record.reason };
}

function heldOf(events: readonly RunEvent[]): readonly RunEvent[] {
  return events.filter(({ kind }) => kind === 'held');
}

async function reportBytes(reportsFolder: string, runId: string): Promise<number | null> {
  return await stat(reportPath(reportsFolder, runId)).then(
    (found) => found.size,
    () => null,
  );
}
