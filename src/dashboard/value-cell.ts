/** The value of a field in a table. */
import { html } from 'hono/html';
import type { RunEvent } from '#src/ledger/staging.ts';
import type { Markup } from './frame.ts';

/** The values of a list are joined; a dash where there is none. */
export function valueCell(value: RunEvent['file']): Markup | string {
  if (value === undefined || value === null) return '–';
  return html`<code class="cell"><bdi>${Array.isArray(value) ? value.join('; ') : String(value)}</bdi></code>`;
}
