/** All runs that are worth a look, newest first. */
import { html } from 'hono/html';
import { isFinal } from '#src/ledger/runs.ts';
import { dropHint } from './drop-hint.ts';
import { busyRefreshSeconds, type Frame, framed } from './frame.ts';
import type { Markup } from './markup.ts';
import { runTable } from './run-pieces.ts';
import type { RunView } from './run-view.ts';

/** At most so many runs stand on the page and in its twin. */
export const runsShownMax = 200;

export function runsPage(frame: Frame, importFolders: readonly string[], runs: readonly RunView[]): Markup {
  const isBusy = runs.some(({ record }) => !isFinal(record.state) && record.state !== 'stopped');
  return framed(frame, {
    title: 'Runs',
    place: 'runs',
    refreshSeconds: isBusy ? busyRefreshSeconds : null,
    body: html`<h1>Runs</h1>
${runs.length === 0 ? dropHint(importFolders) : runTable(runs)}
${runs.length < runsShownMax ? '' : html`<p class="dim">The newest ${runsShownMax} runs.</p>`}`,
  });
}
