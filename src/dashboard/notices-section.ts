/** Notices that their addressee did not take: what `dead ls` lists below the rejected rows. They hold no personal data. */
import { html } from 'hono/html';
import type { DeliveryRecord } from '#src/ledger/deliveries.ts';
import { addresseeOf, noticeDocument } from '#src/operations/dead-letters.ts';
import { counted, type Markup, moment } from './frame.ts';

const noticesShownMax = 20;

/** The newest first; nothing where there are none. @param isCut whether there may be more. */
export function noticesSection(notices: readonly DeliveryRecord[], isCut: boolean): Markup {
  if (notices.length === 0) return html``;
  const shown = notices.slice(0, noticesShownMax);
  return html`<section aria-labelledby="notices"><h2 id="notices">Notices</h2>
<p class="dim">${counted(notices.length, 'notice', 'notices')}${isCut ? ' or more' : ''} could not be delivered. Send one again with <code>patchbay dead retry ID</code></p>
<table class="stacking">
<thead><tr><th scope="col">ID</th><th scope="col">Notice</th><th scope="col">Feed</th><th scope="col">To</th>
<th scope="col">Of</th><th scope="col">What happened</th></tr></thead>
<tbody>
${shown.map(noticeLine)}
</tbody>
</table>
${notices.length > shown.length ? html`<p class="dim">And ${counted(notices.length - shown.length, 'more', 'more')}: list all with <code>patchbay dead ls --json</code></p>` : ''}
</section>`;
}

function noticeLine(notice: DeliveryRecord): Markup {
  const { id, type, code, message, atMs } = notice;
  const { feed } = noticeDocument(notice);
  return html`<tr><th scope="row"><code>${id}</code></th>
<td data-label="Notice"><code>${type}</code></td>
<td data-label="Feed"><bdi>${feed}</bdi></td>
<td data-label="To">${addresseeOf(notice)}</td>
<td data-label="Of">${moment(atMs)}</td>
<td data-label="What happened"><span>${message ?? '–'} <code>${code ?? ''}</code></span></td></tr>
`;
}
