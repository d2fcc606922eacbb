/**
 * What a run met beside rejected rows, a table each: fields that it left as they are in the app, rows that it skipped, people whom its
 * file no longer has, and what people changed since file and app agreed. Below them, what all tables of a run's page have in common.
 */
import { html } from 'hono/html';
import type { RunEvent } from '#src/ledger/staging.ts';
import type { RunDetail } from '#src/operations/runs.ts';
import { lineText } from '#src/sources/row.ts';
import { counted, type Frame, type Markup, moment, paste, valueCell } from './frame.ts';

/** Nothing of what there is none of. */
export function eventSections(frame: Frame, detail: RunDetail): Markup {
  const { held, record, summary } = detail;
  const ofKind = (kind: RunEvent['kind']) => detail.outcomes.filter((event) => event.kind === kind);
  const [skipped, missing, drift] = [ofKind('skipped'), ofKind('missing'), ofKind('drift')];
  // One event may stand for many rows, of which a report has the whole number.
  const skippedCount = detail.problemsKnown === 'all' ? skipped.length : record.counts.skipped;
  return html`${eventSection(detail, held, record.counts.heldFields, record.kind === 'undo' ? heldOfUndo : heldOfFile(frame))}
${skipped.length === 0 ? '' : eventSection(detail, skipped, skippedCount, skippedRows)}
${eventSection(detail, missing, summary.missing?.count ?? 0, missingPeople)}
${eventSection(detail, drift, drift.length, driftedValues)}`;
}

interface EventWords {
  readonly title: string;
  readonly words: Markup;
  readonly columns: readonly string[];
  /** One for each column. */
  readonly cells: (event: RunEvent) => readonly (Markup | string)[];
}

function eventSection(
  detail: RunDetail,
  events: readonly RunEvent[],
  allCount: number,
  { title, words, columns: allColumns, cells }: EventWords,
): Markup {
  if (allCount === 0) return html``;
  const shown = events.slice(0, rowsShownMax);
  // A run without a file has no lines.
  const from = allColumns[0] === 'Line' && shown.every(({ line }) => line === 0) ? 1 : 0;
  const columns = allColumns.slice(from);
  const table = html`<table class="stacking">
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>
${shown.map((event) => eventLine(columns, cells(event).slice(from)))}
</tbody>
</table>`;
  return html`<section><h2>${title}</h2>
<p class="dim">${words}</p>
${shown.length === 0 ? '' : table}
${moreLine(detail, allCount - shown.length)}
</section>`;
}

const heldOfFile = (frame: Frame): EventWords => ({
  title: 'Held fields',
  words: html`Changed both in the file and in the app: the app's value is kept until you decide. See what still waits with <code>${paste(frame, 'patchbay held ls')}</code>`,
  columns: ['Line', 'Key', 'Field', 'File', 'App'],
  cells: ({ line, key, field, file, app }) => [
    lineText({ line }).join(''),
    name(key),
    name(field),
    valueCell(file),
    valueCell(app),
  ],
});

/** It has no file, and no lines. */
const heldOfUndo: EventWords = {
  title: 'Values that stay',
  words: html`The undo leaves these values as they are, and nothing waits for you.`,
  columns: ['Key', 'Field', 'Before the run', 'Now', 'Why'],
  cells: ({ key, field, file, app, message }) => [
    name(key),
    name(field),
    valueCell(file),
    valueCell(app),
    name(message),
  ],
};

const skippedRows: EventWords = {
  title: 'Skipped rows',
  words: html`Left as they are in the workspace, each for the reason beside it.`,
  columns: ['Line', 'Key', 'Reason', 'Why'],
  cells: ({ line, key, code, message }) => [
    lineText({ line }).join(''),
    name(key),
    html`<code class="reason">${code}</code>`,
    html`<bdi>${message}</bdi>`,
  ],
};

const missingPeople: EventWords = {
  title: 'No longer in the file',
  words: html`People whom an earlier file of this feed had, and this one lacks.`,
  columns: ['Key', 'Since'],
  cells: ({ key, since }) => [name(key), since === undefined ? '–' : moment(Date.parse(since))],
};

const driftedValues: EventWords = {
  title: 'Changed in the app',
  words: html`What contacts hold now instead of what file and app agreed on.`,
  columns: ['Key', 'Field', 'Agreed', 'App', 'What it is'],
  cells: ({ key, field, file, app, message }) => [
    name(key),
    field === null ? '–' : name(field),
    valueCell(file),
    valueCell(app),
    html`<bdi>${message}</bdi>`,
  ],
};

function eventLine(columns: readonly string[], [first, ...others]: readonly (Markup | string)[]): Markup {
  return html`<tr><th scope="row">${first}</th>
${others.map((content, index) => html`<td data-label="${columns[index + 1]}">${content}</td>\n`)}</tr>
`;
}

function name(text: string | null): Markup {
  return html`<bdi>${text}</bdi>`;
}

/** Each table of the page has at most this many rows. */
export const rowsShownMax = 200;

/** Below a table that lacks `more` of what there is; nothing where it lacks none. The report of a run at work is still to be written. */
export function moreLine(detail: RunDetail, more: number): Markup {
  return more > 0 ? html`<p class="dim">And ${counted(more, 'more', 'more')}, ${whereAllAre(detail)}</p>` : html``;
}

/** `in PATH`, or that they will be there. */
export function whereAllAre({ problemsKnown, summary }: RunDetail): Markup {
  const path = html`<code class="path">${summary.report}</code>`;
  return problemsKnown === 'soFar' ? html`so far; when the run has ended, all are in ${path}` : html`in ${path}`;
}
