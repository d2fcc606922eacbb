/** A plan for people at a terminal: before → after of each contact, grouped and cut; the summary last. */
import { importCommand } from '#src/operations/plan.ts';
import type { MadePlan } from '#src/plans/make-plan.ts';
import { hasWrites } from '#src/plans/plan-totals.ts';
import { planView, type ViewChange, type ViewGroup, type ViewOptions } from '#src/plans/show/plan-view.ts';
import { type Output, printable, type Style } from './output.ts';

const valueCharsMax = 60;

export function presentPlan(output: Output, made: MadePlan, options: ViewOptions): string {
  const view = planView(made, options);
  const { style } = output;
  const lines = [
    `${style('bold', printable(view.title))}: plan${made.isKept ? ` ${made.plan.id}` : ''}`,
    ...view.groups.flatMap((group) => groupLines(output, group, made.plan.undoes !== null)),
  ];
  const { rejected, notes, stop, summary } = view;
  if (rejected.rows.length > 0) {
    const head = ['line', 'column', ...(options.values ? ['value'] : []), 'code', 'what to do'];
    const table = output.table(
      head,
      rejected.rows.map((row) => row.map(shorten)),
    );
    lines.push(`  ${style('red', 'rejected rows')}:`, ...table.split('\n').map((line) => `    ${line}`));
    if (rejected.moreCount > 0) lines.push(`    … and ${rejected.moreCount} more`);
  }
  lines.push(...notes.map((note) => `  note: ${printable(note)}`));
  if (stop !== null) {
    lines.push(`  ${style('red', printable(stop.message))}`);
    lines.push(...stop.hints.map((hint) => `  ${output.paste(printable(hint))}`));
  }
  lines.push(...summary.map((line) => `  ${line}`));
  const isStopped = stop !== null && made.plan.runId === null;
  if (made.isKept && hasWrites(made.plan.totals) && !isStopped)
    lines.push(`  ${output.paste(`carry it out: ${importCommand(made.plan)}`)}`);
  const { runId } = made.plan;
  const again = runId === null ? '' : `patchbay plan --run ${runId} `;
  if (view.groups.some(({ moreCount }) => moreCount > 0))
    lines.push(`  ${output.paste(`all of it: ${again}--full; as a file: ${again}--output plan.html`)}`);
  return lines.join('\n');
}

const styleOf: Readonly<Record<ViewChange['sign'], Style>> = { '+': 'green', '~': 'cyan', '-': 'red', '!': 'yellow' };

function groupLines(
  output: Output,
  { kind, title, contacts, moreCount }: ViewGroup,
  isUndo: boolean,
): readonly string[] {
  const lines = [`  ${output.style('bold', title)}:`];
  for (const { heading, changes } of contacts) {
    lines.push(`    ${printable(heading)}`);
    for (const change of changes) lines.push(`      ${changeText(output, change, kind === 'held', isUndo)}`);
  }
  if (moreCount > 0) lines.push(`    … and ${moreCount} more`);
  return lines;
}

function changeText(
  output: Output,
  { sign, field, before, after }: ViewChange,
  isHeld: boolean,
  isUndo: boolean,
): string {
  const told = `${output.style(styleOf[sign], sign)} ${printable(field)}`;
  if (before === null && after === null) return told;
  const start = `${told}: `;
  const [there, wanted] = [before, after].map((value) => (value === null ? '–' : shorten(value)));
  if (isHeld && isUndo) return `${start}${there} now, ${wanted} before the run`;
  if (isHeld) return `${start}the file says ${wanted}, the app ${there}`;
  return before === null ? `${start}${wanted}` : `${start}${there} → ${wanted}`;
}

function shorten(text: string): string {
  const one = printable(text);
  return one.length > valueCharsMax ? `${one.slice(0, valueCharsMax - 1)}…` : one;
}
