/** A run for people: what became of it, what is wrong, and what to do next. */
import type { RunRecord } from '#src/ledger/run-record.ts';
import { pendingCount } from '#src/ledger/run-record.ts';
import type { RunEvent } from '#src/ledger/staging-ledger.ts';
import type { ProblemLine, RunSummary } from '#src/runs/summary.ts';
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
  if (summary.fixFile !== null) lines.push(`  mend these rows and drop them in again: ${summary.fixFile}`);
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
      return style('yellow', 'done, with dead rows');
    case 'stopped':
      return style('red', 'stopped');
    case 'failed':
      return style('red', 'the file could not be read');
    default:
      return state;
  }
}

/** `12 rows: 10 created, 2 unchanged`. */
export function tally(summary: RunSummary): string {
  const parts = (['created', 'updated', 'unchanged', 'skipped', 'dead', 'pending'] as const)
    .filter((name) => summary[name] > 0)
    .map(
      (name) =>
        `${summary[name]} ${name}${name === 'updated' && summary.adopted > 0 ? ` (${summary.adopted} adopted)` : ''}`,
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
export function withoutValues(event: RunEvent, values: boolean): RunEvent {
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
