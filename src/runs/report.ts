/**
 * What a run came to: as a summary (`import --json`, `docs/contract.md`), as a report, and as the note beside its archived file.
 *
 * The report adds to the summary what was rejected, warned of, held, skipped and changed, from what to what, the mapping, the guards
 * and the reasons. It is written page by page, so that a million rejected rows need no memory.
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { distinctProblems } from '#src/contacts/outcome.ts';
import type { Feeds } from '#src/feeds/feeds.ts';
import { type ContactChange, changePages } from '#src/journal/changes.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import { type DriftCounts, originOf, pendingCount, type RunRecord } from '#src/ledger/runs.ts';
import type { RunDeadRow, RunEvent, StagingLedger } from '#src/ledger/staging.ts';
import { type FolderFlags, withFlags } from '#src/shell-words.ts';
import { lineText, recordOf } from '#src/sources/row.ts';
import { writeWholeFile } from '#src/whole-file.ts';
import { exitCodeOfRun } from './exit-code.ts';
import type { GuardLimits } from './guards.ts';

/** What reports are written with. */
export interface ReportParts {
  readonly ledger: Ledger;
  /** The guards of each feed. */
  readonly feeds: Feeds;
  /** The folder of the reports; an absolute path. */
  readonly reports: string;
  /** The service's name for people: `sandbox`, or its origin. */
  readonly serviceName: string;
  /** Of the commands in notes. */
  readonly folderFlags: FolderFlags;
}

export interface ProblemLine {
  readonly line: number;
  /** Only where several records share the line, as in JSON without line breaks. */
  readonly record?: number;
  readonly code: string;
  readonly field: string | null;
  readonly value: string | null;
  readonly hint: string;
}

export interface RunSummary {
  readonly run: string;
  readonly feed: string;
  readonly file: string;
  readonly service: string;
  readonly state: string;
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly skipped: number;
  /** Of those: contacts that changed since the plan that was carried out. */
  readonly moved: number;
  readonly dead: number;
  readonly pending: number;
  readonly adopted: number;
  readonly linked: number;
  /** Of the updated ones: contacts that an undo deleted. */
  readonly deleted: number;
  readonly heldFields: number;
  readonly removedValues: number;
  readonly deadNew: number;
  readonly warnings: number;
  /** People whom the feed knows and its full file lacks; null for a file that need not have all. */
  readonly missing: { readonly count: number; readonly new: number } | null;
  /** Null for a run that did not look for it. */
  readonly drift: DriftCounts | null;
  readonly requests: RunRecord['requests'];
  readonly seconds: number;
  readonly fixFile: string | null;
  readonly report: string;
  /** Null while the run has not ended. */
  readonly exitCode: number | null;
}

interface SummaryFacts {
  readonly serviceName: string;
  readonly reportPath: string;
  /** Null where no row was rejected. */
  readonly fixFile: string | null;
  /** The end of a run that has not ended. */
  readonly nowMs: number;
  /** Where something other than the run's state decides, such as an outage. */
  readonly exitCode?: number;
  readonly state?: string;
}

export function summarise(run: RunRecord, facts: SummaryFacts): RunSummary {
  const { counts, requests } = run;
  return {
    run: run.id,
    feed: run.feed,
    file: run.fileName,
    service: facts.serviceName,
    state: facts.state ?? run.state,
    rows: counts.rows,
    created: counts.created,
    updated: counts.updated,
    unchanged: counts.unchanged,
    skipped: counts.skipped,
    moved: counts.moved,
    dead: counts.dead,
    pending: pendingCount(counts),
    adopted: counts.adopted,
    linked: counts.linked,
    deleted: counts.deleted,
    heldFields: counts.heldFields,
    removedValues: counts.removedValues,
    deadNew: counts.deadNew,
    warnings: counts.warnings,
    missing: run.shape?.missing ?? null,
    drift: run.shape?.drift ?? null,
    requests,
    seconds: Math.max(0, Math.round(workMs(run, facts.nowMs)) / 1_000),
    fixFile: facts.fixFile,
    report: facts.reportPath,
    exitCode: facts.exitCode ?? exitCodeOfRun(run),
  };
}

/** From its start to its end or to now, without the time in which it was stopped, or no engine ran; 0 before its start. */
function workMs({ startedAtMs, finishedAtMs, stoppedAtMs, stoppedMs }: RunRecord, nowMs: number): number {
  if (startedAtMs === null) return 0;
  return (finishedAtMs ?? stoppedAtMs ?? nowMs) - startedAtMs - stoppedMs;
}

/** The problems of a rejected row, one line for each that differs; a row without any still has its code. */
export function problemLines(dead: Pick<RunDeadRow, 'line' | 'code' | 'row' | 'problems'>): readonly ProblemLine[] {
  const shared = recordOf(dead.row);
  if (dead.problems.length === 0)
    return [{ line: dead.line, ...shared, code: dead.code, field: null, value: null, hint: '' }];
  return distinctProblems(
    dead.problems.map(({ line, code, field, value, hint }) => ({ line, ...shared, code, field, value, hint })),
  );
}

const rowsPerPage = 250;

export function reportPath(reports: string, runId: string): string {
  return join(reports, `${runId}.json`);
}

/** What a run wrote beside its report; null where there was nothing to write. Absolute paths. */
export interface RunFiles {
  readonly fixFile: string | null;
  /** What it changed in contacts (`src/journal/changes-file.ts`). */
  readonly changesFile: string | null;
}

/** A report is read whole: it has the changes of the first contacts, and the file of changes all of them. */
const changesInReportMax = 10_000;

/**
 * Writes the report of a run as it is; it appears complete or not at all.
 * @param nowMs the end of a run that has ended, else the time.
 * @throws the system's errors.
 */
export async function writeReport(
  { ledger, feeds, reports, serviceName }: ReportParts,
  run: RunRecord,
  { fixFile, changesFile }: RunFiles,
  nowMs: number,
): Promise<RunSummary> {
  const path = reportPath(reports, run.id);
  const summary = summarise(run, { serviceName, reportPath: path, fixFile, nowMs });
  await writeWholeFile(path, reportText(ledger, run, summary, { guards: feeds.rulesOf(run.feed).guards, changesFile }));
  return summary;
}

async function* reportText(
  { runs, contacts }: Ledger,
  run: RunRecord,
  summary: RunSummary,
  { guards, changesFile }: { readonly guards: GuardLimits; readonly changesFile: string | null },
): AsyncGenerator<string> {
  yield JSON.stringify(summary, null, 1).replace(/\n\}$/, '');
  yield* listText('problems', problemPages(runs, run.id, keyedProblems));
  yield* listText('outcomes', eventPages(runs, run.id));
  yield* listText('changes', changePages(contacts, { runId: run.id }, changesInReportMax));
  const rest = {
    changesFile,
    origin: originOf(run),
    reason: run.reason,
    look: run.look,
    notes: run.notes,
    mapping: run.mapping ?? 'generic',
    guards,
    options: run.options,
    approvals: run.approvals,
    sha256: run.sha256,
    bytes: run.bytes,
    startedAt: instant(run.startedAtMs),
    finishedAt: instant(run.finishedAtMs),
  };
  yield `,\n${JSON.stringify(rest, null, 1).slice(2)}\n`;
}

function instant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

async function* listText(name: string, pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  yield `,\n "${name}": [`;
  let isEmpty = true;
  for await (const page of pages) {
    if (page.length === 0) continue;
    yield `${isEmpty ? '' : ','}${page.map((one) => `\n  ${JSON.stringify(one)}`).join(',')}`;
    isEmpty = false;
  }
  yield isEmpty ? ']' : '\n ]';
}

/** A report tells whose row was rejected: by that a person who is forgotten leaves it, also where no file of the run is there. */
interface KeyedProblem extends ProblemLine {
  readonly key: string | null;
}

function keyedProblems(dead: RunDeadRow): readonly KeyedProblem[] {
  return problemLines(dead).map((problem) => ({ ...problem, key: dead.key }));
}

/** Rejected rows of a run, one line for each problem. */
export async function* problemPages(
  staging: Pick<StagingLedger, 'deadRows'>,
  runId: string,
  linesOf: (dead: RunDeadRow) => readonly ProblemLine[] = problemLines,
): AsyncGenerator<readonly ProblemLine[]> {
  let after = 0;
  // Ends with the first short page: ordinals only grow.
  for (;;) {
    const page = await staging.deadRows(runId, after, rowsPerPage);
    yield page.flatMap(linesOf);
    if (page.length < rowsPerPage) return;
    after = page.at(-1)?.ordinal ?? after;
    await nextTurn();
  }
}

/** The first warnings of a run whose events are still in the ledger. */
async function firstWarnings(staging: StagingLedger, runId: string, limit: number): Promise<readonly RunEvent[]> {
  const warnings: RunEvent[] = [];
  for await (const page of eventPages(staging, runId)) {
    warnings.push(...page.filter(({ kind }) => kind === 'warning'));
    if (warnings.length >= limit) break;
  }
  return warnings.slice(0, limit);
}

/** What happened to the rows of a run whose events are still in the ledger, in that order. */
export async function* eventPages(
  staging: Pick<StagingLedger, 'events'>,
  runId: string,
): AsyncGenerator<readonly RunEvent[]> {
  let after = 0;
  // Ends with the first short page: ordinals only grow.
  for (;;) {
    const page = await staging.events(runId, after, rowsPerPage);
    yield page.map(({ ordinal: _, ...event }) => event);
    if (page.length < rowsPerPage) return;
    after = page.at(-1)?.ordinal ?? after;
    await nextTurn();
  }
}

type RunReport = RunSummary & {
  readonly problems: readonly ProblemLine[];
  readonly outcomes: readonly RunEvent[];
  /** Absent in what older versions wrote. */
  readonly changes?: readonly ContactChange[];
};

/** The stored report; null where there is none (kept 30 days). */
export async function readReport(reports: string, runId: string): Promise<RunReport | null> {
  try {
    // Written by `writeReport`; our own files are trusted.
    const report = JSON.parse(await readFile(reportPath(reports, runId), 'utf8')) as RunReport;
    const { problems = [] } = report;
    return { ...report, problems: problems.map(withoutKey) };
  } catch {
    return null;
  }
}

/** As summaries have it. */
export function withoutKey({ key: _, ...problem }: ProblemLine & Partial<KeyedProblem>): ProblemLine {
  return problem;
}

/** The report has all of them. */
const warningsNotedMax = 50;

/** The text beside the archived file of a run: what became of it, and what was warned of. */
export async function noteOn(
  { ledger, folderFlags }: Pick<ReportParts, 'ledger' | 'folderFlags'>,
  run: RunRecord,
  summary: RunSummary,
): Promise<string> {
  const warnings = await firstWarnings(ledger.runs, run.id, warningsNotedMax);
  // It lies in a folder: who reads it may have another service configured.
  const flags = { ...folderFlags, sandbox: summary.service === 'sandbox' };
  const { rows, created, updated, unchanged, skipped, dead, pending } = summary;
  const lines = [
    `file      ${run.fileName}`,
    `run       ${run.id} (feed ${run.feed}), into ${summary.service}`,
    `state     ${run.state}${run.reason === null ? '' : `: ${run.reason.message}`}`,
    `rows      ${rows}${pending > 0 ? `, ${pending} not written` : ''}`,
    `created   ${created}`,
    `updated   ${updated} (${counted(summary.removedValues, 'value')} removed, ${counted(summary.heldFields, 'field')} held)`,
    `unchanged ${unchanged}, skipped ${skipped}`,
    `rejected  ${dead}${summary.fixFile === null ? '' : `: fix ${summary.fixFile} and drop it in again`}`,
    `notes     ${run.notes.length === 0 ? 'none' : withFlags(run.notes.join('; '), flags)}`,
    `report    ${summary.report}`,
  ];
  const next = withFlags(run.reason?.hint ?? '', flags);
  if (next !== '') lines.push(`next      ${next}`);
  if (summary.warnings > 0) lines.push(`warnings  ${summary.warnings}`, ...warnings.map(warningLine));
  const more = summary.warnings - warnings.length;
  if (more > 0) lines.push(`          … and ${more} more in the report`);
  return `${lines.map(oneLine).join('\n')}\n`;
}

function warningLine({ field, value, message, ...place }: RunEvent): string {
  const cell = value === null || value === undefined ? '' : ` ${JSON.stringify(value)}`;
  const where = [...lineText(place), ...(field === null ? [] : [field])].join(', ');
  return `          ${where === '' ? `${message}${cell}` : `${where}${cell}: ${message}`}`;
}

/** Names of files and folders may contain line breaks and worse; a message with several problems has one on each line. */
function oneLine(text: string): string {
  return text.replaceAll('\n', '; ').replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, ' ');
}
