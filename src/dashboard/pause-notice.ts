/** Why work waits, and what ends that: one notice for all pages that show work. */
import { html } from 'hono/html';
import type { Pause } from '#src/ledger/port.ts';
import { pauseAdvice } from '#src/operations/pause-advice.ts';
import { type Markup, moment } from './frame.ts';
import type { DashboardParts } from './parts.ts';

/** A pause, and what ends it. */
export interface ShownPause extends Pause {
  readonly advice: string;
}

/** Null while nothing is paused. */
export async function readPause({
  ledger,
  config,
}: Pick<DashboardParts, 'ledger' | 'config'>): Promise<ShownPause | null> {
  return shownPause(await ledger.pause(), config);
}

/** The same of a pause that is known. Pure. */
export function shownPause(
  pause: Pause | null,
  { service }: Pick<DashboardParts['config'], 'service'>,
): ShownPause | null {
  return pause === null ? null : { ...pause, advice: pauseAdvice(pause, service) };
}

/** Nothing while nothing is paused. */
export function pauseNotice(pause: ShownPause | null): Markup {
  if (pause === null) return html``;
  return html`<div class="notice attention" role="status">
<p><strong>Paused since ${moment(pause.sinceMs)}:</strong> ${pause.message}</p>
<p>${pause.advice}</p>
</div>`;
}
