/**
 * Runs: list them, look at one. `RunView` and `RunDetail` are the read model of a run, which the command line, the page and its JSON twin
 * (`run-document.ts`) all show. What people decide about a run is in `run-acts.ts`.
 */
import { access, stat } from 'node:fs/promises';
import type { Home } from '#src/app.ts';
import { PatchbayError } from '#src/errors.ts';
import type { FollowEnd, FollowStop } from '#src/ledger/follow.ts';
import { eachRun } from '#src/ledger/paged-lists.ts';
import { isFinal, type RunRecord, type RunState } from '#src/ledger/runs.ts';
import { eventsPerRunMax, type RunEvent } from '#src/ledger/staging.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { fixFilePath, fixFileThere } from '#src/runs/fix/fix-file.ts';
import {
  type ProblemLine,
  problemLines,
  type RunSummary,
  readReport,
  reportPath,
  summarise,
} from '#src/runs/report.ts';
import { readReportHead } from '#src/runs/report-head.ts';
import { type FailedFile, failedFileOf } from '#src/runs/run-files.ts';
import { standstillOfHost } from './hosts.ts';
import { standstillReason } from './standstill.ts';
import { withoutVainRestage } from './stopped-file.ts';

/** What reading a run needs of a data folder. */
export type RunHome = Pick<Home, 'ledger' | 'clock' | 'serviceName'> & {
  readonly runFolders: Pick<Home['runFolders'], 'reports'>;
  /** Absent where the ledger has no hosts. */
  readonly host?: Home['host'];
};

/** One run of a list. */
export interface RunView {
  readonly record: RunRecord;
  readonly summary: RunSummary;
}

/** The states as people read them; JSON has the names. */
export const stateWords: Readonly<Record<RunState, string>> = {
  queued: 'queued',
  staging: 'staging',
  applying: 'applying',
  cancelling: 'cancelling',
  stopped: 'stopped',
  done: 'done',
  doneWithDead: 'done, with rejected rows',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** Why a file failed, in a few words, where it was read well; or where it is no export at all. By code. */
const failedWords: ReadonlyMap<string, string> = new Map([
  ['keyColumnMissing', 'no id column found'],
  ['columnMissing', 'a column of the mapping is missing'],
  ['layoutAmbiguous', 'it could be one of several known exports'],
  ['nothingMapped', 'it would give empty contacts'],
  ['duplicateHeader', 'two columns have the same name'],
  ['columnTwice', 'two columns mean the same'],
  ['morePages', 'it is one page of several'],
  ['exportBrokeOff', 'the export broke off with an error'],
  ['notAJsonArray', 'no list of contacts found'],
  ...['webPage', 'richText', 'xmlDocument', 'errorDocument'].map((code) => [code, 'it is not an export'] as const),
]);

/** The headline of a run whose file failed. */
export function failedHeadline(reason: { readonly code: string } | null): string {
  const words = failedWords.get(reason?.code ?? '');
  return words === undefined ? 'the file could not be imported' : `not imported: ${words}`;
}

export interface RunQuery {
  readonly states?: readonly RunState[];
  readonly feed?: string;
  /** The id, or the end of the id, of the last run of the page before. */
  readonly after?: string;
  readonly limit: number;
  readonly oldestFirst?: boolean;
}

/**
 * Newest first, unless the oldest are asked for.
 * @throws PatchbayError `usage` `noSuchRun` where `after` names none.
 */
export async function listRuns(home: RunHome, { after, ...filter }: RunQuery): Promise<readonly RunView[]> {
  const before = after === undefined ? {} : { beforeSequence: (await findRun(home, after)).sequence };
  const runs = await home.ledger.runs.list({ ...filter, ...before });
  return Promise.all(runs.map(async (run) => viewRun(home, await asSeenHere(home, run))));
}

function asSeenHere({ host }: RunHome, run: RunRecord): Promise<RunRecord> {
  return withoutVainRestage(run, host?.id ?? null);
}

/** The files of a run are where its host is: `HOST:PATH`. Empty: they are here. */
function hostPrefix({ host }: RunHome, run: RunRecord): string {
  return run.host !== null && host != null && run.host !== host.id ? `${run.host}:` : '';
}

export function viewRun(home: RunHome, run: RunRecord, stop: FollowStop | null = null): RunView {
  const stopped = stop === null ? {} : { state: 'stopped', exitCode: exitCodeOfStop(stop) };
  const elsewhere = hostPrefix(home, run);
  const summary = summarise(run, {
    serviceName: home.serviceName,
    reportPath: elsewhere === '' ? reportPath(home.runFolders.reports, run.id) : `${elsewhere}reports/${run.id}.json`,
    fixFile: mayHaveFixFile(run) ? (elsewhere === '' ? fixFileThere(run) : `${elsewhere}${fixFilePath(run)}`) : null,
    nowMs: home.clock.nowMs(),
    ...stopped,
  });
  return { record: run, summary };
}

/** A file that a command named is where it was. */
async function failedFileThere(home: RunHome, run: RunRecord): Promise<FailedFile | null> {
  if (run.state !== 'failed' || run.claimedPath === '' || run.options.path !== null) return null;
  const file = failedFileOf(run);
  const elsewhere = hostPrefix(home, run);
  if (elsewhere !== '') return { path: `${elsewhere}${file.path}`, note: `${elsewhere}${file.note}` };
  return access(file.path).then(
    () => file,
    () => null,
  );
}

/** A stopped run has no fix-file yet, even if rows were rejected. */
function mayHaveFixFile({ counts, state }: RunRecord): boolean {
  return counts.dead > 0 && isFinal(state);
}

/** Ends of ids shorter than this could be any run's. */
const idEndCharsMin = 4;

/** A run by its id, or by the end of its id. @throws PatchbayError `usage` `noSuchRun`. */
export async function findRun({ ledger }: Pick<Home, 'ledger'>, id: string): Promise<RunRecord> {
  const exact = await ledger.runs.get(id);
  if (exact !== null) return exact;
  const fitting = id.length < idEndCharsMin ? [] : await runsEndingIn({ ledger }, id);
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return only;
  const message = fitting.length > 1 ? `the ids of ${fitting.length} runs end in ${id}` : `there is no run ${id}`;
  throw new PatchbayError('usage', 'noSuchRun', message, { hint: 'List the runs with: patchbay runs ls' });
}

async function runsEndingIn({ ledger }: Pick<Home, 'ledger'>, end: string): Promise<readonly RunRecord[]> {
  const fitting: RunRecord[] = [];
  for await (const run of eachRun(ledger.runs)) if (run.id.endsWith(end)) fitting.push(run);
  return fitting;
}

/** The same choice with the whole id of its run, of which a person may type the end. @throws PatchbayError `usage` `noSuchRun`. */
export async function withWholeRunId<Choice extends { readonly run?: string }>(
  home: Pick<Home, 'ledger'>,
  choice: Choice,
): Promise<Choice> {
  return choice.run === undefined ? choice : { ...choice, run: (await findRun(home, choice.run)).id };
}

/**
 * How much of a run's problems and outcomes is known:
 * - `all`: from its report;
 * - `soFar`: it has no report yet, these are the first ones;
 * - `first`: the report is larger than the caller wants to read, and these are the first ones;
 * - `gone`: the report has been removed.
 */
export type ProblemsKnown = 'all' | 'soFar' | 'first' | 'gone';

export interface RunDetail extends RunView {
  readonly problems: readonly ProblemLine[];
  /** Warnings, held fields, skipped rows and changes, as in the report. */
  readonly outcomes: readonly RunEvent[];
  /** The held fields among the outcomes. */
  readonly held: readonly RunEvent[];
  /** Contacts to be made that may be there already, among the outcomes. */
  readonly matches: readonly RunEvent[];
  /** All that were read: `problems` may hold the first of them alone. */
  readonly problemCount: number;
  readonly problemsKnown: ProblemsKnown;
  /** Rejected rows beyond those whose problems were read, of a run without a report or with a large one. */
  readonly rejectedRowsUnread: number;
  /** What was noted while the file was read. */
  readonly notes: readonly string[];
  /** Its report is larger than the caller wants to read: of its lists the head alone was read. */
  readonly isReportCut: boolean;
  /** Whether its report is there: a run that was interrupted has none yet. Of another host that cannot be seen. */
  readonly hasReport: boolean;
  /** Its fix-file is not there any more, and rows of it are open: `dead export` writes them anew. */
  readonly isFixFileGone: boolean;
  /** Where the file is that a scan found and that could not be imported, and the note beside it that says why; null where it is not there. */
  readonly failedFile: FailedFile | null;
  /** Following it ended before it did: the same command continues it. Its state is shown as `stopped`, which no guard has done. */
  readonly isInterrupted: boolean;
  /** Why the run stopped, failed or waits, and what to do. */
  readonly reason: Pick<NonNullable<RunRecord['reason']>, 'code' | 'message' | 'hint'> | null;
}

export interface ReadLimits {
  /** Problems that are returned. */
  readonly problemsMax: number;
  /** Rejected rows, and outcomes, that are read from the ledger while there is no report. */
  readonly liveRowsMax: number;
  readonly liveOutcomesMax: number;
  /** A report is read whole; of a larger one its head, up to this length. */
  readonly reportBytesMax: number;
}

const generousLimits: ReadLimits = {
  problemsMax: 1_000,
  liveRowsMax: 1_000,
  liveOutcomesMax: eventsPerRunMax,
  reportBytesMax: Number.POSITIVE_INFINITY,
};

/**
 * One run with its problems: from the report if there is one, otherwise from the ledger.
 * @param stop why following the run ended before the run did; null for a run that was not followed, or that came to rest.
 */
export async function readRun(
  home: RunHome,
  found: RunRecord,
  stop: FollowStop | null = null,
  limits: ReadLimits = generousLimits,
): Promise<RunDetail> {
  const run = await asSeenHere(home, found);
  const { problems, outcomes, problemsKnown, rejectedRowsUnread, reportBytes } = await readProblems(home, run, limits);
  const view = viewRun(home, run, stop);
  return {
    ...view,
    hasReport: reportBytes > 0 || view.summary.report !== reportPath(home.runFolders.reports, run.id),
    isFixFileGone: mayHaveFixFile(run) && view.summary.fixFile === null && (await hasOpenLetters(home, run)),
    failedFile: await failedFileThere(home, run),
    isReportCut: reportBytes > limits.reportBytesMax,
    isInterrupted: stop !== null,
    problems: problems.slice(0, limits.problemsMax),
    problemCount: problems.length,
    outcomes,
    held: outcomes.filter(({ kind }) => kind === 'held'),
    matches: outcomes.filter(({ kind }) => kind === 'match'),
    problemsKnown,
    rejectedRowsUnread,
    notes: run.notes,
    reason: stop === null ? run.reason : await reasonOfStop(home, run, stop),
  };
}

async function hasOpenLetters({ ledger }: Pick<Home, 'ledger'>, { id }: RunRecord): Promise<boolean> {
  return (await ledger.deadLetters.summaries({ states: ['open'], runId: id, limit: 1 })).length > 0;
}

/** The run that was followed, as it is now. */
export async function readRunEnd(home: RunHome, end: FollowEnd): Promise<RunDetail> {
  const run = (await home.ledger.runs.get(end.run.id)) ?? end.run;
  return readRun(home, run, end.kind === 'rest' ? null : end);
}

type ReadProblems = Pick<RunDetail, 'problems' | 'outcomes' | 'problemsKnown' | 'rejectedRowsUnread'> & {
  readonly reportBytes: number;
};

async function readProblems(
  { ledger, runFolders: { reports } }: RunHome,
  run: RunRecord,
  { liveRowsMax, liveOutcomesMax, reportBytesMax }: ReadLimits,
): Promise<ReadProblems> {
  const reportBytes = await stat(reportPath(reports, run.id)).then(
    ({ size }) => size,
    () => 0,
  );
  const none = { problems: [], outcomes: [], rejectedRowsUnread: 0, reportBytes };
  const mayHaveReport = isFinal(run.state) || run.state === 'stopped';
  if (mayHaveReport && reportBytes > reportBytesMax) {
    const { problems, outcomes, hasAllProblems, hasAll } = await readReportHead(reports, run.id, reportBytesMax);
    const rows = new Set(problems.map(({ line, record }) => `${line} ${record}`)).size;
    const rejectedRowsUnread = hasAllProblems ? 0 : Math.max(0, run.counts.dead - rows);
    return { ...none, problems, outcomes, rejectedRowsUnread, problemsKnown: hasAll ? 'all' : 'first' };
  }
  const report = mayHaveReport ? await readReport(reports, run.id) : null;
  if (report !== null) {
    // Older reports have no outcomes.
    const { problems = [], outcomes = [] } = report;
    return { ...none, problems, outcomes, problemsKnown: 'all' };
  }
  if (isFinal(run.state)) return { ...none, problemsKnown: 'gone' };
  const dead = await ledger.runs.deadRows(run.id, 0, liveRowsMax);
  const events = await ledger.runs.events(run.id, 0, liveOutcomesMax);
  return {
    ...none,
    problems: dead.flatMap(problemLines),
    outcomes: events.map(({ ordinal: _, ...event }) => event),
    problemsKnown: 'soFar',
    rejectedRowsUnread: dead.length < liveRowsMax ? 0 : Math.max(0, run.counts.dead - dead.length),
  };
}

function exitCodeOfStop(stop: FollowStop): number {
  if (stop.kind === 'auth') return exitCodes.auth;
  const { code } = standstillReason(stop, againHint);
  return code === 'unexpected' ? exitCodes.unexpected : exitCodes.unreachable;
}

export const againHint = 'Nothing is lost. Run the same command again: it continues where it stopped.';

async function reasonOfStop(
  home: RunHome,
  run: RunRecord,
  stop: FollowStop,
): Promise<NonNullable<RunDetail['reason']>> {
  if (stop.kind === 'auth') {
    const hint = 'Nothing is lost. Set a working key and run the same command again: it continues where it stopped.';
    return { code: stop.pause.errorCode ?? 'keyRefused', message: stop.pause.message, hint };
  }
  return (await standstillOfHost(home, run)) ?? standstillReason(stop, againHint);
}
