/** What to do where there is nothing to see yet. */
import { html } from 'hono/html';
import type { Markup } from './markup.ts';

export function dropHint(importFolders: readonly string[]): Markup {
  const folder = importFolders.at(-1);
  const others = importFolders.slice(0, -1);
  if (folder === undefined) return html`<p class="empty">Nothing has run yet.</p>`;
  return html`<div class="empty">
<p>Nothing has run yet. Drop a CSV or JSON file into <code class="path">${folder}</code> and see it synced.</p>
${others.length === 0 ? '' : html`<p>Or into ${others.map((other) => html`<code class="path">${other}</code> `)}</p>`}
</div>`;
}
