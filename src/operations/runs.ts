/**
 * Runs: list them, look at one, approve or cancel one.
 *
 * `RunView` and `RunDetail` are the read model of a run. The command line, the page and its JSON twin all show these; their
 * JSON is made here too (`docs/contract.md`).
 */

import { stat } from 'node:fs/promises';
import type { Home } from '#src/app.ts';
import { withoutQuotedCells } from '#src/contacts/quoted-cell.ts';
import { PatchbayError } from '#src/errors.ts';
import { fieldWithoutValue } from '#src/journal/changes.ts';
import { eachRun } from '#src/ledger/each-run.ts';
import type { FollowStop } from '#src/ledger/follow.ts';
import type { PlanRecord } from '#src/ledger/plans.ts';
import { approvalOf, type LinkChoice } from '#src/ledger/rules/approval.ts';
import { isFinal, type OlderWrites, type RunReason, type RunRecord, type RunState } from '#src/ledger/runs.ts';
import { eventsPerRunMax, type RunEvent } from '#src/ledger/staging.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { fixFilePath, fixFileThere } from '#src/runs/fix/fix-file.ts';
import type { FollowEnd } from '#src/runs/follow-run.ts';
import { asksForLinks } from '#src/runs/guards.ts';
import {
  type ProblemLine,
  problemLines,
  type RunSummary,
  readReport,
  reportPath,
  summarise,
} from '#src/runs/report.ts';
import { readReportHead } from '#src/runs/report-head.ts';
import { removeStoppedNote } from '#src/runs/stop-run.ts';
import { actOf } from './acts.ts';
import { standstillOfHost } from './hosts.ts';
import { standstillReason } from './standstill.ts';

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
  return runs.map((run) => viewRun(home, run));
}

export function viewRun(home: RunHome, run: RunRecord, stop: FollowStop | null = null): RunView {
  const stopped = stop === null ? {} : { state: 'stopped', exitCode: exitCodeOfStop(stop) };
  // Its files are where its host is: `HOST:PATH`.
  const elsewhere = run.host !== null && home.host != null && run.host !== home.host.id ? `${run.host}:` : '';
  const summary = summarise(run, {
    serviceName: home.serviceName,
    reportPath: elsewhere === '' ? reportPath(home.runFolders.reports, run.id) : `${elsewhere}reports/${run.id}.json`,
    fixFile: mayHaveFixFile(run) ? (elsewhere === '' ? fixFileThere(run) : `${elsewhere}${fixFilePath(run)}`) : null,
    nowMs: home.clock.nowMs(),
    ...stopped,
  });
  return { record: run, summary };
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
  run: RunRecord,
  stop: FollowStop | null = null,
  limits: ReadLimits = generousLimits,
): Promise<RunDetail> {
  const { problems, outcomes, problemsKnown, rejectedRowsUnread, reportBytes } = await readProblems(home, run, limits);
  const view = viewRun(home, run, stop);
  return {
    ...view,
    hasReport: reportBytes > 0 || view.summary.report !== reportPath(home.runFolders.reports, run.id),
    isFixFileGone: mayHaveFixFile(run) && view.summary.fixFile === null && (await hasOpenLetters(home, run)),
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

const againHint = 'Nothing is lost. Run the same command again: it continues where it stopped.';

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

type RunDocument = RunSummary & {
  readonly problems: readonly ProblemLine[];
  readonly error?: NonNullable<RunDetail['reason']>;
};

/** `import --json` (`docs/contract.md`); with `values: false` without cells. */
export function runDocument(
  { summary, problems, reason }: Pick<RunDetail, 'summary' | 'problems' | 'reason'>,
  values: boolean,
): RunDocument {
  const shown = values
    ? problems
    : problems.map((problem) => ({ ...problem, value: null, hint: withoutQuotedCells(problem.hint) }));
  const document = { ...summary, problems: shown };
  if (reason === null) return document;
  const { code, message, hint } = reason;
  return { ...document, ...{ error: { code, message, hint } } };
}

/** A run that `--detach` leaves to the running engine, or the next one (`docs/contract.md`, "--detach --json"). */
export function detachedDocument({ serviceName }: Pick<RunHome, 'serviceName'>, run: RunRecord): object {
  const { id, feed, fileName, state } = run;
  return { run: id, feed, file: fileName, service: serviceName, state, exitCode: exitCodes.done };
}

/** What is left of a run that is cut off. While its file is read, no figure is known. */
export function leftOf({ state, pending }: Pick<RunSummary, 'state' | 'pending'>): string {
  const isRead = state !== 'queued' && state !== 'staging';
  return isRead ? `with ${pending === 1 ? '1 row' : `${pending} rows`} to go` : 'before its file was read to the end';
}

/** `import --json` of a run that a signal cut off. Its state is `stopped`, as of all that ended early; a problem of no line tells it from a guard's stop. */
export function interruptedDocument(summary: RunSummary, exitCode: number): RunDocument {
  const [code, hint] = ['interrupted', againHint];
  const problem = { line: 0, code, field: null, value: null, hint };
  return {
    ...summary,
    state: 'stopped',
    exitCode,
    problems: [problem],
    error: { code, message: `interrupted ${leftOf(summary)}`, hint },
  };
}

/** `import --json` with the outcomes, as the report has it. */
export function wholeRunDocument(
  detail: Pick<RunDetail, 'summary' | 'problems' | 'reason' | 'outcomes'>,
  values: boolean,
): object {
  return {
    ...runDocument(detail, values),
    outcomes: detail.outcomes.map((event) => (values ? event : withoutValues(event))),
  };
}

/** For `--no-values`: no key, no cell, and no address or number that names an item. */
export function withoutValues(event: RunEvent): RunEvent {
  const { fields, file: _file, app: _app, contact, ...rest } = event;
  return {
    ...rest,
    key: null,
    field: event.field === null ? null : fieldWithoutValue(event.field),
    ...(event.value === undefined ? {} : { value: null }),
    ...(fields === undefined ? {} : { fields: fields.map(fieldWithoutValue) }),
    // There it is another key, not the id of a contact.
    ...(contact === undefined || event.code === 'matchKey' || event.code === 'samePhone' ? {} : { contact }),
    // In reports of an older version this message names the field, and with it perhaps an address or a number.
    message:
      event.code === 'replyDiffers' && event.field === null ? 'a field came back in another form' : event.message,
  };
}

/**
 * Whether a run is under way because of that act, the last one of a person on it: the same command, given again, follows it.
 * @param choice what was chosen with it.
 */
export async function isUnderWayBy(
  { ledger }: Pick<Home, 'ledger'>,
  { id, state }: RunRecord,
  kind: 'approve' | 'restage',
  choice: LinkChoice | null = null,
): Promise<boolean> {
  if (state !== 'queued' && state !== 'staging' && state !== 'applying') return false;
  const [last] = await ledger.acts.list({ runId: id, limit: 1 });
  return last?.kind === kind && (last.facts.choice ?? null) === choice;
}

/**
 * Lets a stopped run continue as it was shown: past the guards that stopped it, up to their figures. Its rows are written as
 * they were staged; the file is not read again.
 * @param shown the run as the person saw it.
 * @param choice what becomes of contacts that are there already, without an externalId.
 * @param plan the plan that was shown: contacts whose plan is another one by then are skipped.
 * @throws PatchbayError `usage` `notStopped` | `choiceMissing` | `nothingToLink`; `guard` `notApproved` where the run was cancelled or replaced, or stopped anew,
 *   after it was shown, or where an older file of its feed has written contacts that it found unchanged, or is being written.
 */
export async function approveRun(
  home: Pick<Home, 'ledger' | 'clock' | 'log' | 'actor'>,
  shown: RunRecord,
  why: string | null,
  choice: LinkChoice | null = null,
  plan: Pick<PlanRecord, 'id' | 'checksum'> | null = null,
): Promise<void> {
  const { ledger, clock, log } = home;
  if (shown.state !== 'stopped' || shown.reason === null) {
    const isEnded = shown.state === 'cancelling' || shown.state === 'cancelled';
    const why = isEnded && shown.reason !== null ? `: ${shown.reason.message}` : '';
    const message = `run ${shown.id} cannot be approved: it is not stopped but ${stateWords[shown.state]}${why}`;
    throw new PatchbayError('usage', 'notStopped', message, {
      hint: 'List the stopped runs with: patchbay runs ls --state stopped',
    });
  }
  const asks = asksForLinks(shown.reason);
  if (asks && choice === null) throw choiceMissing(shown, shown.reason);
  if (!asks && choice === 'adopt') throw nothingToLink(shown);
  const chosen = choice === null ? {} : { choice };
  const planned = plan === null ? {} : { plan: { id: plan.id, checksum: plan.checksum } };
  const approval = approvalOf(shown.reason, { reason: why, atMs: clock.nowMs(), ...chosen, ...planned });
  const act = await actOf(home, 'approve', why, {
    stoppedBy: shown.reason.code,
    ...chosen,
    ...(plan === null ? {} : { plan: plan.id }),
  });
  if (!(await ledger.runs.approve(shown.id, approval, act))) {
    const older = await ledger.runs.olderWrites(shown.id);
    throw older === null ? notApproved(shown, await ledger.runs.get(shown.id)) : notAsStaged(shown, older);
  }
  await removeStoppedNote(shown);
  log.info({ run: shown.id, feed: shown.feed, code: shown.reason.code }, 'run approved');
}

function choiceMissing({ id }: RunRecord, { message, hint }: RunReason): PatchbayError {
  const problem = `run ${id} was not approved, since its stop is a choice between two things: ${message}`;
  return new PatchbayError('usage', 'choiceMissing', problem, hint === null ? {} : { hint });
}

function nothingToLink({ id }: RunRecord): PatchbayError {
  const message = `run ${id} was not approved: it was not stopped by contacts without an externalId, so that --adopt has nothing to link`;
  return new PatchbayError('usage', 'nothingToLink', message, { hint: `Look at it: patchbay runs show ${id}` });
}

/** The rows of these contacts are not staged, and would leave them as an older file wrote them. */
function notAsStaged({ id }: RunRecord, older: OlderWrites): PatchbayError {
  if (older.kind === 'underWay') {
    const message = `run ${id} was not approved: run ${older.runId}, of an older file of its feed, is being written`;
    return new PatchbayError('guard', 'notApproved', message, {
      hint: `Approve it again when that one has ended: patchbay runs approve ${id}`,
    });
  }
  const [contacts, were] = older.count === 1 ? ['contact', 'was'] : ['contacts', 'were'];
  const message = `run ${id} was not approved: ${older.count} ${contacts} that it found unchanged ${were} written by an older file of its feed since`;
  return new PatchbayError('guard', 'notApproved', message, {
    hint: `Read its file anew: patchbay runs restage ${id}`,
  });
}

function notApproved(shown: RunRecord, now: RunRecord | null): PatchbayError {
  const why =
    now?.state === 'stopped'
      ? 'it has since been stopped again, for a different reason than the one shown'
      : `it is now ${now === null ? 'gone' : stateWords[now.state]}${now?.reason ? `: ${now.reason.message}` : ''}`;
  return new PatchbayError('guard', 'notApproved', `run ${shown.id} was not approved: ${why}`, {
    hint: `Check it again: patchbay runs show ${shown.id}`,
  });
}

/**
 * Begins to end a run: what was written stays written, the rest is left out. The engine ends it.
 * @throws PatchbayError `usage` `notCancellable` where it has ended already.
 */
export async function cancelRun(
  home: Pick<Home, 'ledger' | 'clock' | 'actor'>,
  run: RunRecord,
  reason: string | null = null,
): Promise<void> {
  const { ledger, clock } = home;
  const moved = await ledger.runs.move(run.id, ['queued', 'staging', 'applying', 'stopped'], 'cancelling', {
    atMs: clock.nowMs(),
    reason: { code: 'cancelled', message: 'cancelled by a person', hint: null, facts: {} },
    act: await actOf(home, 'cancel', reason, { state: run.state }),
  });
  if (moved) return;
  const { state } = (await ledger.runs.get(run.id)) ?? run;
  const why = state === 'cancelling' ? 'it is being cancelled already' : `it has ended (${stateWords[state]})`;
  throw new PatchbayError('usage', 'notCancellable', `run ${run.id} cannot be cancelled: ${why}`, {
    hint: 'List the runs with: patchbay runs ls. A run can be cancelled until it has ended.',
  });
}
