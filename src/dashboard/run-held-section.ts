/** Fields of a run that it left as they are in the app: those that wait for a decision; of an undo, values that were changed since. */
import { html } from 'hono/html';
import type { RunEvent } from '#src/ledger/staging.ts';
import type { RunDetail } from '#src/operations/runs.ts';
import { lineText } from '#src/sources/row.ts';
import type { Markup } from './frame.ts';
import { moreLine, rowsShownMax } from './run-tables.ts';
import { valueCell } from './value-cell.ts';

/** At most as many as problems; nothing where there is none. */
export function heldSection(detail: RunDetail): Markup {
  const { held, record } = detail;
  if (record.counts.heldFields === 0) return html``;
  const { title, words, columns, cells } = record.kind === 'undo' ? ofUndo : ofFile;
  const shown = held.slice(0, rowsShownMax);
  const table = html`<table class="stacking">
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>
${shown.map((event) => heldLine(columns, cells(event)))}
</tbody>
</table>`;
  return html`<section><h2>${title}</h2>
<p class="dim">${words}</p>
${shown.length === 0 ? '' : table}
${moreLine(detail, record.counts.heldFields - shown.length)}
</section>`;
}

interface HeldWords {
  readonly title: string;
  readonly words: Markup;
  readonly columns: readonly string[];
  /** One for each column. */
  readonly cells: (event: RunEvent) => readonly (Markup | string)[];
}

const ofFile: HeldWords = {
  title: 'Held fields',
  words: html`Changed both in the file and in the app: the app's value is kept until you decide. See what still waits with <code>patchbay held ls</code>`,
  columns: ['Line', 'Key', 'Field', 'File', 'App'],
  cells: ({ line, key, field, file, app }) => [
    lineText({ line }).join(''),
    name(key),
    name(field),
    valueCell(file),
    valueCell(app),
  ],
};

/** It has no file, and no lines. */
const ofUndo: HeldWords = {
  title: 'Changed since',
  words: html`Changed since the run that is undone: these values stay as they are, and nothing waits for you.`,
  columns: ['Key', 'Field', 'Before the run', 'Now'],
  cells: ({ key, field, file, app }) => [name(key), name(field), valueCell(file), valueCell(app)],
};

function heldLine(columns: readonly string[], [first, ...others]: readonly (Markup | string)[]): Markup {
  return html`<tr><th scope="row">${first}</th>
${others.map((content, index) => html`<td data-label="${columns[index + 1]}">${content}</td>\n`)}</tr>
`;
}

function name(text: string | null): Markup {
  return html`<bdi>${text}</bdi>`;
}
