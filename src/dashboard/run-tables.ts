/** What the tables of a run's page have in common: how long they are, and what is said below one that is cut. */
import { html } from 'hono/html';
import type { RunDetail } from '#src/operations/runs.ts';
import { counted, type Markup } from './frame.ts';

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
