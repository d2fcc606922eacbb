/** A run for people: what became of it, what is wrong, and what to do next. */

import type { Home } from '#src/app.ts';
import { isFinal, pendingCount, type RunRecord } from '#src/ledger/runs.ts';
import { eventsPerRunMax, type RunEvent } from '#src/ledger/staging.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { fixFilePath } from '#src/runs/fix-file.ts';
import type { FollowEnd } from '#src/runs/follow-run.ts';
import { type ProblemLine, type RunSummary, readReport, reportPath, summarise } from '#src/runs/report.ts';
import { adviceFor } from './exit.ts';
import { type Output, printable } from './output.ts';
import { type HeldLine, heldSentence } from './present-held.ts';

const problemsShown = 10;
const heldShown = 5;
const warningsShown = 50;

export interface RunPresentation {
  readonly summary: RunSummary;
  readonly problems: readonly ProblemLine[];
  /** Fields that file and people changed differently. */
  readonly held?: readonly HeldLine[];
  /** What was warned of, held, skipped and changed; the same as in the report. */
  readonly outcomes?: readonly RunEvent[];
  readonly notes: readonly string[];
  /** Why it stopped, failed or waits; and what to do. */
  readonly reason: { readonly message: string; readonly hint: string | null; readonly code: string } | null;
}

/** @param detail `whole` lists the warnings; else they are counted, with what to type to see them. */
export function presentRun(
  output: Output,
  { summary, problems, held = [], outcomes = [], notes, reason }: RunPresentation,
  detail: 'summary' | 'whole' = 'summary',
): string {
  const { style } = output;
  const warnings = detail === 'whole' ? outcomes.filter(({ kind }) => kind === 'warning') : [];
  const lines = [`${style('bold', printable(summary.file))} → ${summary.service}: ${headline(output, summary)}`];
  lines.push(`  ${tally(summary)}`);
  if (reason !== null) {
    lines.push(`  ${style('red', printable(reason.message))} [${reason.code}]`);
    if (reason.hint !== null) lines.push(`  ${printable(reason.hint)}`);
  }
  if (summary.heldFields > 0) {
    const one = counted(summary.heldFields, 'field');
    lines.push(`  ${one} held: the file and the app differ; kept the app's value`);
    for (const field of held.slice(0, heldShown)) lines.push(`    ${heldSentence(output, field)}`);
    if (summary.heldFields > heldShown) lines.push(`    … and ${summary.heldFields - heldShown} more in the report`);
    lines.push('    see what waits, and decide: patchbay held ls');
  }
  // A warning about the whole file is a note, too: it is told once.
  const listed = new Set(warnings.slice(0, warningsShown).map(({ message }) => message));
  for (const note of notes) if (!listed.has(note)) lines.push(`  note: ${printable(note)}`);
  if (problems.length > 0) lines.push(indent(problemTable(output, problems)));
  if (problems.length > problemsShown) lines.push(`  … and ${problems.length - problemsShown} more in the report`);
  if (summary.warnings > 0) lines.push(...warningLines(output, summary, warnings));
  if (summary.fixFile !== null) lines.push(`  fix these rows and drop the file in again: ${summary.fixFile}`);
  const { get, post, patch } = summary.requests;
  const sent = [counted(get, 'read'), counted(post, 'create'), counted(patch, 'update')].join(', ');
  lines.push(`  ${summary.seconds.toFixed(1)} s, ${sent} sent`);
  lines.push(`  report: ${summary.report}`);
  return lines.join('\n');
}

function headline({ style }: Output, { state }: RunSummary): string {
  switch (state) {
    case 'done':
      return style('green', 'done');
    case 'doneWithDead':
      return style('yellow', 'done, with rejected rows');
    case 'stopped':
      return style('red', 'stopped');
    case 'failed':
      return style('red', 'the file could not be imported');
    default:
      return state;
  }
}

/** `12 rows: 10 created, 2 unchanged`. A row that is `dead` in JSON is a rejected one to people. */
export function tally(summary: RunSummary): string {
  const parts = (['created', 'updated', 'unchanged', 'skipped', 'dead', 'pending'] as const)
    .filter((name) => summary[name] > 0)
    .map(
      (name) =>
        `${summary[name]} ${name === 'dead' ? 'rejected' : name}${name === 'updated' && summary.adopted > 0 ? ` (${summary.adopted} adopted)` : ''}`,
    );
  const rows = counted(summary.rows, 'row');
  return parts.length === 0 ? rows : `${rows}: ${parts.join(', ')}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function problemTable(output: Output, problems: readonly ProblemLine[]): string {
  const rows = problems
    .slice(0, problemsShown)
    .map(({ line, field, value, code, hint }) => [
      `${line}`,
      field ?? '',
      ...(output.values ? [shorten(value ?? '')] : []),
      code,
      hint,
    ]);
  return output.table(['line', 'column', ...(output.values ? ['value'] : []), 'code', 'what to do'], rows);
}

function warningLines(output: Output, summary: RunSummary, warnings: readonly RunEvent[]): readonly string[] {
  const count = counted(summary.warnings, 'warning');
  if (warnings.length === 0) return [`  ${count}: see patchbay runs show ${summary.run}`];
  const rows = warnings
    .slice(0, warningsShown)
    .map((warning) => withoutValues(warning, output.values))
    .map(({ line, field, value, code, message }) => [
      `${line}`,
      field ?? '',
      ...(output.values ? [shorten(value ?? '')] : []),
      code,
      message,
    ]);
  const head = ['line', 'column', ...(output.values ? ['value'] : []), 'code', 'what was done'];
  const more = summary.warnings - rows.length;
  return [`  ${count}:`, indent(output.table(head, rows)), ...(more > 0 ? [`  … and ${more} more in the report`] : [])];
}

/** With `--no-values`: no key, no cell, and no address or number that names an item. */
function withoutValues(event: RunEvent, values: boolean): RunEvent {
  if (values) return event;
  const { fields, ...rest } = event;
  return {
    ...rest,
    key: null,
    field: event.field === null ? null : itemKindOf(event.field),
    ...(event.value === undefined ? {} : { value: null }),
    ...(fields === undefined ? {} : { fields: fields.map(itemKindOf) }),
    message: event.code === 'replyDiffers' ? 'a field came back in another form' : event.message,
  };
}

/** `phone.+14155550100` names a number, `phone` none. A column of a file is no such name. */
function itemKindOf(field: string): string {
  return /^(email|phone)\./.exec(field)?.[1] ?? field;
}

function shorten(text: string): string {
  const one = printable(text);
  return one.length > 40 ? `${one.slice(0, 39)}…` : one;
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line.trimEnd()}`)
    .join('\n');
}

/** One line while a run is at work. */
export function progressLine(run: RunRecord): string {
  const { counts, state } = run;
  const name = printable(run.fileName);
  const settled = counts.rows - pendingCount(counts);
  return state === 'applying'
    ? `${name}: ${settled} of ${counts.rows} rows`
    : `${name}: ${state}, ${counts.rows} rows read`;
}

// The document of a run for stdout, from the report where there is one, else from the ledger.

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
