/** A run for people: what became of it, what is wrong, and what to do next. */

import { fieldWithoutValue } from '#src/journal/changes.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import { skipSentences } from '#src/ledger/rules/events.ts';
import { pendingCount, type RunRecord, type RunState } from '#src/ledger/runs.ts';
import { changesPerRunMax, eventsPerRunMax, type RunEvent } from '#src/ledger/staging.ts';
import { withoutValues } from '#src/operations/run-document.ts';
import { failedHeadline, type RunDetail, stateWords } from '#src/operations/runs.ts';
import { missingText } from '#src/plans/show/plan-view.ts';
import { hintsOfNotes, notedIn } from '#src/runs/column-warnings.ts';
import type { ProblemLine, RunSummary } from '#src/runs/report.ts';
import { shellWord } from '#src/shell-words.ts';
import { lineText, placeText } from '#src/sources/row.ts';
import { type Output, printable } from './output.ts';
import { hintText, indent, moreLine, moreText, type Shown, type ShownMax } from './present-lists.ts';
import { shorten, valueText } from './present-values.ts';
import { isNoteOnly, valuesByMessage, warningLines } from './present-warnings.ts';

/** What an import prints. */
const shortList: ShownMax = { problems: 10, held: 5, warnings: 50, matches: 10, rest: ' in the report' };

type PresentedRun = Pick<
  RunDetail,
  | ('summary' | 'problems' | 'problemCount' | 'rejectedRowsUnread' | 'outcomes' | 'notes' | 'reason')
  | ('hasReport' | 'isFixFileGone' | 'failedFile' | 'isInterrupted')
>;

export type RunPresentation = PresentedRun & {
  readonly held: readonly RunEvent[];
  readonly matches?: readonly RunEvent[];
  /** Absent: of a file. */
  readonly record?: Pick<RunRecord, 'kind'>;
};

/** What `import` prints: of warnings one line for each kind, with the command that lists them all. */
export function presentRun(output: Output, run: RunPresentation): string {
  return present(output, run, [], run.hasReport ? shortList : { ...shortList, rest: '' });
}

/** The same with the warnings one by one, and with as many of each kind as `max` says. */
export function presentAtLength(output: Output, run: RunPresentation, max: ShownMax): string {
  const isNote = isNoteOnly(run);
  const warnings = run.outcomes.filter((event) => event.kind === 'warning' && !isNote(event));
  return present(output, run, warnings, max);
}

function present(output: Output, run: RunPresentation, warnings: readonly RunEvent[], shownMax: ShownMax): string {
  const { style } = output;
  const { summary, record, held, matches = [], notes, reason, outcomes } = run;
  const { hasReport, isFixFileGone, failedFile, isInterrupted } = run;
  const max: Shown = { ...shownMax, isCut: outcomes.length >= eventsPerRunMax };
  const lines = [
    `${style('bold', printable(summary.file))} → ${summary.service}: ${isInterrupted ? style('red', 'interrupted') : headline(output, summary, reason)}`,
  ];
  lines.push(`  ${tally(summary)}`);
  if (reason !== null) {
    lines.push(`  ${style('red', printable(reason.message))} [${reason.code}]`);
    for (const line of reason.hint?.split('\n') ?? []) lines.push(`  ${output.paste(printable(line))}`);
  }
  if (failedFile !== null)
    lines.push(
      `  the file is now here: ${shellWord(failedFile.path)}`,
      `  why it failed, as a note: ${shellWord(failedFile.note)}`,
    );
  // A plan can be made of what a guard has stopped; an interrupted run goes on with the same command.
  if (summary.state === 'stopped' && !isInterrupted)
    lines.push(`  ${output.paste(`to see what it would write: patchbay plan --run ${summary.run}`)}`);
  if (summary.moved > 0) lines.push(...movedLines(output, summary, outcomes, max));
  lines.push(...skippedLines(output, summary, outcomes, max));
  const taken = matches.filter(isTaken);
  const there = matches.filter((match) => !isTaken(match));
  if (there.length > 0) lines.push(...matchLines(output, summary, { matches: there, outcomes }, max));
  if (taken.length > 0) lines.push(...takenLines(output, taken, max));
  const showHeld = record?.kind === 'undo' ? stayingLines : heldLines;
  if (summary.heldFields > 0) lines.push(...showHeld(output, summary.heldFields, held, max));
  if (summary.missing !== null && summary.missing.count > 0)
    lines.push(...missingLines(output, summary, outcomes, max));
  lines.push(...driftLines(output, outcomes, max));
  // A warning about the whole file is a note, too: it is printed once.
  const listed = new Set(warnings.slice(0, max.warnings).map(({ message }) => message));
  const values = output.values ? valuesByMessage(outcomes) : new Map<string, string>();
  const printed = notes.filter((note) => !listed.has(note));
  const hints = hintsOfNotes(printed, outcomes);
  for (const note of printed) {
    const value = values.get(note);
    lines.push(`  note: ${output.paste(printable(note))}${value === undefined ? '' : `: ${shorten(value)}`}`);
    const hint = hints.get(note);
    if (hint !== undefined) lines.push(`    ${hintText(output, hint)}`);
  }
  lines.push(...problemLines(output, run, max));
  // Where they are not listed one by one, those that are notes are printed already.
  const isPrinted = warnings.length === 0 ? notedIn(notes) : isNoteOnly({ notes });
  const count = summary.warnings - outcomes.filter(isPrinted).length;
  if (count > 0) lines.push(...warningLines(output, { ...summary, warnings: count }, warnings, run, max));
  if (summary.fixFile !== null)
    lines.push(`  fix these rows and drop the file in again: ${shellWord(summary.fixFile)}`);
  if (isFixFileGone)
    lines.push(
      `  ${output.paste(`the fix-file is not there any more; to write the open rows anew: patchbay dead export --run ${summary.run}`)}`,
    );
  const { get, post, patch, delete: deleted, rateLimited } = summary.requests;
  const sent = [
    counted(get, 'read'),
    counted(post, 'create'),
    counted(patch, 'update'),
    ...(deleted > 0 ? [counted(deleted, 'deletion')] : []),
  ].join(', ');
  const limited = rateLimited > 0 ? `, ${rateLimited} of them answered with 429 (too many requests)` : '';
  lines.push(`  ${summary.seconds.toFixed(1)} s, ${sent} sent${limited}`);
  if (hasReport) lines.push(`  report: ${summary.report}`);
  return lines.join('\n');
}

/** A row may have several problems, so that those of rows that were not read are not known. */
function problemLines(
  output: Output,
  { problems, problemCount, rejectedRowsUnread }: RunPresentation,
  max: Shown,
): readonly string[] {
  if (problems.length === 0) return [];
  const shown = problems.slice(0, max.problems);
  const more = problemCount + rejectedRowsUnread - shown.length;
  const number = `${rejectedRowsUnread > 0 ? 'at least ' : ''}${more}`;
  return [indent(problemTable(output, shown)), ...(more > 0 ? [`  … and ${number} more${max.rest}`] : [])];
}

/** Contacts that the plan no longer fits. */
function movedLines(
  output: Output,
  { moved }: RunSummary,
  outcomes: readonly RunEvent[],
  max: Shown,
): readonly string[] {
  const events = outcomes.filter(({ kind, code }) => kind === 'skipped' && code === 'moved');
  const places = events
    .slice(0, max.problems)
    .map(({ line, key }) =>
      [...lineText({ line }), ...(output.values && key !== null ? [printable(key)] : [])].join(', '),
    );
  return [
    `  ${counted(moved, 'contact')} changed or deleted since the plan was made, and skipped; make a new plan:`,
    ...places.map((place) => `    ${place}`),
    ...moreLine('    ', { count: moved, listed: events.length, shown: places.length }, max),
  ];
}

/** Lines of their own tell of those that have moved, and the reason of the run of those that were left out when it was cancelled. */
const skipsToldElsewhere: ReadonlySet<string> = new Set(['moved', 'cancelled']);

/** Why rows were skipped, and which: `2 rows skipped: deleted in the workspace, … (line 3, crm-4; line 7, crm-9)`. */
function skippedLines(
  output: Output,
  summary: RunSummary,
  outcomes: readonly RunEvent[],
  max: Shown,
): readonly string[] {
  const all = outcomes.filter(({ kind }) => kind === 'skipped');
  const skipped = all.filter(({ code }) => !skipsToldElsewhere.has(code));
  const least = max.isCut && all.length < summary.skipped ? 'at least ' : '';
  // That of a duplicate names the other line.
  const why = ({ code, message }: RunEvent): string => (code === 'duplicate' ? skipSentences.duplicate : message);
  return [...Map.groupBy(skipped, why)].map(([reason, same]) => {
    const places = same.slice(0, max.held).flatMap(({ line, key }) => {
      const place = [...lineText({ line }), ...(output.values && key !== null ? [shorten(key)] : [])].join(', ');
      return place === '' ? [] : [place];
    });
    const more = same.length - max.held;
    const listed = [...places, ...(more > 0 ? [`and ${more} more${max.rest}`] : [])].join('; ');
    return `  ${least}${counted(same.length, 'row')} skipped: ${printable(reason)}${places.length === 0 ? '' : ` (${listed})`}`;
  });
}

/** Those whom the file lacks, the first ones by key: `5 people are no longer in the file (2 for the first time): crm-4 (since …)`. */
function missingLines(
  { values }: Output,
  { missing }: RunSummary,
  outcomes: readonly RunEvent[],
  max: Shown,
): readonly string[] {
  const { count, new: first } = missing ?? { count: 0, new: 0 };
  const listed = outcomes.filter(({ kind }) => kind === 'missing');
  const keys = listed
    .slice(0, max.held)
    .map(({ key, since = '' }) => `${printable(key ?? '')} (since ${since.slice(0, 10)})`);
  const more = moreText({ count, listed: listed.length, shown: keys.length }, max);
  const list = values && keys.length > 0 ? `: ${keys.join(', ')}${more === null ? '' : `, and ${more}`}` : '';
  return [`  ${missingText({ count, new: first })}${list}`];
}

/** What people changed, the first of it: `drift: crm-4 role "Buyer" → "Chief"`. A note says how much there is of it. */
function driftLines({ values }: Output, outcomes: readonly RunEvent[], max: Shown): readonly string[] {
  const drift = outcomes.filter(({ kind }) => kind === 'drift');
  if (!values || drift.length === 0) return [];
  const shown = drift.slice(0, max.problems).map(({ key, code, field, message, contact, file = null, app = null }) => {
    const other = contact === undefined ? '' : `: ${contact}`;
    const what =
      code === 'driftChanged' ? `${field} ${JSON.stringify(file)} → ${JSON.stringify(app)}` : `${message}${other}`;
    return `  drift: ${printable(`${key} ${what}`)}`;
  });
  const more = drift.length - shown.length;
  if (max.isCut)
    return [...shown, `  … and more${more > 0 ? `, ${more} of it${max.rest}` : ''}; the report does not list all`];
  return more > 0 ? [...shown, `  … and ${more} more${max.rest}`] : shown;
}

function headline({ style }: Output, { state }: RunSummary, reason: RunDetail['reason']): string {
  switch (state) {
    case 'done':
      return style('green', stateWords.done);
    case 'doneWithDead':
      return style('yellow', stateWords.doneWithDead);
    case 'stopped':
      return style('red', stateWords.stopped);
    case 'failed':
      return style('red', failedHeadline(reason));
    default:
      return stateText(state);
  }
}

/** The state of a summary in words. */
export function stateText(state: string): string {
  return stateWords[state as RunState] ?? state;
}

const outcomeWords = [
  ['created', 'created'],
  ['updated', 'updated'],
  ['unchanged', 'unchanged'],
  ['skipped', 'skipped'],
  ['dead', 'rejected'],
  ['pending', 'pending'],
] as const;

/** `12 rows: 10 created, 2 unchanged`. */
export function tally(summary: RunSummary): string {
  const parts = outcomeWords
    .filter(([name]) => summary[name] > 0)
    .map(([name, word]) => {
      return `${summary[name]} ${word}${name === 'updated' ? takenOver(summary) : ''}`;
    });
  const rows = counted(summary.rows, 'row');
  return parts.length === 0 ? rows : `${rows}: ${parts.join(', ')}`;
}

function takenOver({ adopted, linked, deleted }: RunSummary): string {
  const parts = [
    ...(deleted > 0 ? [`${deleted} deleted`] : []),
    ...(adopted - linked > 0 ? [`${adopted - linked} adopted`] : []),
    ...(linked > 0 ? [`${linked} linked`] : []),
  ];
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

function problemTable(output: Output, problems: readonly ProblemLine[]): string {
  const rows = problems.map(({ field, value, code, hint, ...place }) => [
    placeText(place),
    field ?? '',
    ...(output.values ? [shorten(value ?? '')] : []),
    code,
    hintText(output, hint),
  ]);
  return output.table(['line', 'column', ...(output.values ? ['value'] : []), 'code', 'what to do'], rows);
}

/** Contacts to be made that may be there already: which row is which contact, and by what. */
function matchLines(
  output: Output,
  summary: RunSummary,
  { matches, outcomes }: Pick<Required<RunPresentation>, 'matches' | 'outcomes'>,
  max: Shown,
): readonly string[] {
  const least = outcomes.length >= changesPerRunMax ? 'at least ' : '';
  const rows = matches
    .slice(0, max.matches)
    .map((match) => (output.values ? match : withoutValues(match)))
    .map(({ line, key, code, field, file, app, contact }) => [
      `${line}`,
      ...(output.values ? [shorten(key ?? ''), shorten(valueText(file ?? null))] : []),
      shorten(field ?? 'key'),
      contact ?? '',
      ...(output.values ? [shorten(valueText(app ?? null))] : []),
      matchWords[code] ?? code,
    ]);
  const head = output.values
    ? ['line', 'key', 'name in the file', 'same', 'contact', 'name in the app', 'which']
    : ['line', 'same', 'contact', 'which'];
  const more = matches.length - rows.length;
  return [
    `  ${matchHeading(summary, matches, least)}:`,
    indent(output.table(head, rows)),
    ...(more > 0 ? [`  … and ${more} more${max.rest}`] : []),
  ];
}

function isTaken({ code }: RunEvent): boolean {
  return code === 'matchOther';
}

/** Contacts that would become another person's: whose they were, and whose they would be. */
function takenLines(output: Output, taken: readonly RunEvent[], max: Shown): readonly string[] {
  const rows = taken
    .slice(0, max.matches)
    .map(({ line, key, file, app }) => [
      `${line}`,
      ...(output.values ? [shorten(key ?? ''), shorten(valueText(app ?? null)), shorten(valueText(file ?? null))] : []),
    ]);
  const more = taken.length - rows.length;
  return [
    `  ${counted(taken.length, 'contact')} that would become another person's:`,
    indent(output.table(output.values ? ['line', 'key', 'name before', 'name in the file'] : ['line'], rows)),
    ...(more > 0 ? [`  … and ${more} more${max.rest}`] : []),
  ];
}

function matchHeading({ linked }: RunSummary, matches: readonly RunEvent[], least: string): string {
  if (linked === 0) return `${least}${counted(matches.length, 'contact')} that may be there already`;
  const unclear = matches.filter(({ code }) => code === 'matchUnclear').length;
  const rest = unclear === 0 ? '' : `; ${least}${counted(unclear, 'row')} unclear, and not linked`;
  return `${counted(linked, 'contact')} linked to what was there${rest}`;
}

const matchWords: Readonly<Record<string, string>> = {
  matchFound: 'one contact',
  matchUnclear: 'unclear: one of several',
  matchKey: 'known under this key',
};

/** One line while a run is under way. */
export function progressLine(run: RunRecord): string {
  const { counts, state } = run;
  const name = printable(run.fileName);
  const settled = counts.rows - pendingCount(counts);
  if (state === 'staging' && run.look?.end === 'underWay')
    return `${name}: comparing with the workspace, ${counted(run.look.contacts, 'contact')} read`;
  return state === 'applying'
    ? `${name}: ${settled} of ${counted(counts.rows, 'row')}`
    : `${name}: ${state}, ${counted(counts.rows, 'row')} read`;
}

/** A held field as a run knows it. Older reports hold no values. */
export type HeldLine = Pick<RunEvent, 'line' | 'key' | 'field' | 'file' | 'app'>;

function heldLines(output: Output, count: number, held: readonly HeldLine[], max: Shown): readonly string[] {
  const lines = held.slice(0, max.held).map((field) => `    ${heldSentence(output, field)}`);
  return [
    `  ${counted(count, 'field')} held: the file and the app differ; kept the app's value`,
    ...lines,
    ...moreLine('    ', { count, listed: held.length, shown: lines.length }, max),
    output.paste('    list and decide: patchbay held ls'),
  ];
}

/** Of an undo: values that are not as the run left them, or that another feed's file names. */
function stayingLines(output: Output, count: number, held: readonly RunEvent[], max: Shown): readonly string[] {
  const lines = held.slice(0, max.held).map(({ key, field, file = null, app = null, message }) => {
    const why = printable(message);
    if (!output.values || key === null) return `    ${printable(fieldWithoutValue(field ?? ''))} (${why})`;
    const values = `${printable(valueText(app))} now, ${printable(valueText(file))} before the run`;
    return `    ${printable(field ?? '')} of ${printable(key)}: ${values} (${why})`;
  });
  return [
    `  ${counted(count, 'value')} ${count === 1 ? 'stays as it is' : 'stay as they are'}:`,
    ...lines,
    ...moreLine('    ', { count, listed: held.length, shown: lines.length }, max),
  ];
}

/** `line 2: role of demo-1: the file says Lead, the app Buyer`. */
function heldSentence({ values }: Output, { line, key, field, file, app }: HeldLine): string {
  const where = [...lineText({ line }), printable(field ?? '')].join(': ');
  if (!values) return where;
  const ofKey = key === null ? where : `${where} of ${printable(key)}`;
  if (file === undefined || app === undefined) return ofKey;
  return `${ofKey}: the file says ${printable(valueText(file))}, the app ${printable(valueText(app))}`;
}
