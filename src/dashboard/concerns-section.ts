/** What `status` warns of beside runs, on the first page: keys with more than one contact, feeds in trouble, people whom files lack, hosts. */
import { html } from 'hono/html';
import { troubleWords } from '#src/ledger/deliveries.ts';
import type { HostDocument } from '#src/operations/hosts.ts';
import type { Concerns } from '#src/operations/status.ts';
import { counted, type Frame, type Markup, moment, paste } from './frame.ts';
import { addressOf, runAddress } from './refresh.ts';

/** Of each list; how many more there are is said below it. */
const shownMax = 20;

/** Nothing where all is well. */
export function concernsSection(frame: Frame, concerns: Concerns): Markup {
  return html`${duplicatesSection(frame, concerns.duplicates)}${feedsSection(frame, concerns)}${hostsSection(frame, concerns.hosts)}`;
}

function duplicatesSection(frame: Frame, duplicates: Concerns['duplicates']): Markup {
  if (duplicates.length === 0) return html``;
  return html`<section aria-labelledby="duplicates"><h2 id="duplicates">Keys with more than one contact</h2>
<div class="notice bad" role="status"><ul>${duplicates
    .slice(0, shownMax)
    .map(
      ({ run, keys }) =>
        html`<li><a href="${runAddress(frame, run)}#audits"><code>${run}</code></a>: ${counted(keys, 'key', 'keys')} with more than one contact. Merge or delete all but one of each in the workspace, then check again: <code>${paste(frame, `patchbay audit ${run}`)}</code></li>`,
    )}</ul>${more(frame, duplicates.length, 'patchbay status --json')}</div>
</section>`;
}

function feedsSection(frame: Frame, { feeds, missing }: Concerns): Markup {
  if (feeds.length + missing.length === 0) return html``;
  const link = (feed: string): Markup => html`<a href="${addressOf(frame, '/runs', { feed })}"><bdi>${feed}</bdi></a>`;
  const troubles = feeds.slice(0, shownMax).map(({ feed, troubles, since }) => {
    const words = troubles.map((trouble) => troubleWords[trouble]).join(', ');
    return html`<li>${link(feed)}: ${words} since ${moment(Date.parse(since))}</li>`;
  });
  const lacking = missing
    .slice(0, shownMax)
    .map(
      ({ feed, count }) =>
        html`<li>${link(feed)}: ${counted(count, 'person is', 'people are')} no longer in its file</li>`,
    );
  return html`<section aria-labelledby="feeds"><h2 id="feeds">Feeds: worth a look</h2>
<div class="notice ${feeds.length > 0 ? 'bad' : 'attention'}" role="status"><ul>${troubles}${lacking}</ul>
${more(frame, Math.max(feeds.length, missing.length), 'patchbay status --json')}<p><a href="${addressOf(frame, '/feeds')}">See all feeds</a></p></div>
</section>`;
}

/** Nothing where the ledger belongs to this data folder alone. */
function hostsSection(frame: Frame, hosts: readonly HostDocument[]): Markup {
  if (hosts.length === 0) return html``;
  return html`<section aria-labelledby="hosts"><h2 id="hosts">Hosts</h2>
<table class="stacking">
<thead><tr><th scope="col">Host</th><th scope="col">State</th><th scope="col">Seen</th><th scope="col">Waits for it</th>
<th scope="col">What to do</th></tr></thead>
<tbody>
${hosts.map((host) => hostLine(frame, host))}
</tbody>
</table>
</section>`;
}

const tones: Readonly<Record<HostDocument['state'], string>> = {
  leads: 'good',
  works: 'good',
  stopped: 'quiet',
  away: 'attention',
};

function hostLine(frame: Frame, { host, name, state, isThis, seenAt, waiting }: HostDocument): Markup {
  const files = waiting
    .slice(0, shownMax)
    .map(
      ({ run, file, isUnread }) =>
        html`<a href="${runAddress(frame, run)}"><bdi>${file}</bdi></a>${isUnread ? ', unread' : ', its results'}; `,
    );
  const advice = html`Start it again. If it is gone for good: <code>${paste(frame, `patchbay hosts forget ${host}`)}</code>`;
  return html`<tr><th scope="row"><span><bdi>${name}</bdi>${isThis ? html` <span class="dim">this one</span>` : ''}</span></th>
<td data-label="State"><span class="pill ${waiting.length > 0 ? 'bad' : tones[state]}">${state}</span></td>
<td data-label="Seen">${moment(Date.parse(seenAt))}</td>
<td data-label="Waits for it"><span>${waiting.length === 0 ? '–' : counted(waiting.length, 'file: ', 'files: ')}${files}</span></td>
<td data-label="What to do"><span>${waiting.length === 0 ? '–' : advice}</span></td></tr>
`;
}

function more(frame: Frame, count: number, command: string): Markup {
  if (count <= shownMax) return html``;
  return html`<p>And ${counted(count - shownMax, 'more', 'more')}: <code>${paste(frame, command)}</code></p>`;
}
