/** A plan for people at a terminal: before → after of each contact, grouped and cut; the summary last. */
import { carryOut } from '#src/operations/plan.ts';
import type { MadePlan } from '#src/plans/make-plan.ts';
import { hasWrites } from '#src/plans/plan-totals.ts';
import {
  type PlanView,
  planView,
  type ViewChange,
  type ViewGroup,
  type ViewOptions,
} from '#src/plans/show/plan-view.ts';
import { type Output, printable, type Style } from './output.ts';

const valueCharsMax = 60;

/** What to type next. */
export interface PlanCommands {
  readonly carryOut: string;
  /** Options or commands that show what is cut. */
  readonly all: string;
}

function commandsOf({ plan }: MadePlan): PlanCommands {
  const again = plan.runId === null ? '' : `patchbay plan --run ${plan.runId} `;
  return { carryOut: carryOut(plan), all: `all of it: ${again}--full; as a file: ${again}--output plan.html` };
}

/** The lines of it, as they are read. */
export async function* planLines(
  output: Output,
  made: MadePlan,
  options: ViewOptions,
  commands = commandsOf(made),
): AsyncGenerator<string> {
  const view = planView(made, options);
  const { style } = output;
  yield `${style('bold', printable(view.title))}: plan${made.isKept ? ` ${made.plan.id}` : ''}`;
  for (const group of view.groups) yield* groupLines(output, group, made.plan.undoes !== null);
  const { rejected, notes, stop, summary } = view;
  if (rejected.count > 0) yield* rejectedLines(output, rejected);
  for (const note of notes) yield `  note: ${output.paste(printable(note))}`;
  if (stop !== null) {
    yield `  ${style('red', printable(stop.message))}`;
    for (const hint of stop.hints) yield `  ${output.paste(printable(hint))}`;
  }
  for (const line of summary) yield `  ${line}`;
  const isStopped = stop !== null && made.plan.runId === null;
  if (made.isKept && hasWrites(made.plan.totals) && !isStopped)
    yield `  ${output.paste(`carry it out: ${commands.carryOut}`)}`;
  if ([rejected, ...view.groups].some(({ moreCount }) => moreCount > 0)) yield `  ${output.paste(commands.all)}`;
}

/** The text of it, for a question: cut by its options. */
export async function presentPlan(
  output: Output,
  made: MadePlan,
  options: ViewOptions,
  commands?: PlanCommands,
): Promise<string> {
  return (await Array.fromAsync(planLines(output, made, options, commands))).join('\n');
}

/** The widths of a table are those of its cells: a longer list is several tables. */
const rowsPerTable = 500;

async function* rejectedLines(output: Output, { head, rows, moreCount }: PlanView['rejected']): AsyncGenerator<string> {
  yield `  ${output.style('red', 'rejected rows')}:`;
  let page: (readonly string[])[] = [];
  const lines = () =>
    output
      .table(head, page)
      .split('\n')
      .map((line) => `    ${line}`);
  for await (const row of rows) {
    page.push(row.map(shorten));
    if (page.length < rowsPerTable) continue;
    yield* lines();
    page = [];
  }
  if (page.length > 0) yield* lines();
  if (moreCount > 0) yield `    … and ${moreCount} more`;
}

const styleOf: Readonly<Record<ViewChange['sign'], Style>> = { '+': 'green', '~': 'cyan', '-': 'red', '!': 'yellow' };

async function* groupLines(
  output: Output,
  { kind, title, contacts, moreCount }: ViewGroup,
  isUndo: boolean,
): AsyncGenerator<string> {
  yield `  ${output.style('bold', title)}:`;
  for await (const { heading, changes } of contacts) {
    yield `    ${printable(heading)}`;
    for (const change of changes) yield `      ${changeText(output, change, kind === 'held', isUndo)}`;
  }
  if (moreCount > 0) yield `    … and ${moreCount} more`;
}

function changeText(
  output: Output,
  { sign, field, before, after }: ViewChange,
  isHeld: boolean,
  isUndo: boolean,
): string {
  const told = `${output.style(styleOf[sign], sign)} ${printable(field)}`;
  // Values are left out, or of an undo both are blank: a person filled the field and emptied it again.
  if (before === null && after === null && !(isHeld && isUndo && output.values)) return told;
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
