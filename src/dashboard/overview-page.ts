/** The first page and its JSON twin: what is running, the last runs, what waits for a person, the rejected rows and what to do about them. */
import { html } from 'hono/html';
import type { DeadLetterGroup } from '#src/ledger/letters.ts';
import type { RunView } from '#src/operations/runs.ts';
import { type Overview, readOverview, readOverviewDocument } from '#src/operations/status.ts';
import { lineText } from '#src/sources/row.ts';
import { concernsSection } from './concerns-section.ts';
import { count, counted, dropHint, type Frame, framed, type Markup, moment, paste } from './frame.ts';
import type { DashboardParts, Readiness } from './parts.ts';
import { pauseNotice, type ShownPause, shownPause } from './pause-notice.ts';
import { askReadiness } from './readiness.ts';
import { addressOf, paceOf } from './refresh.ts';
import { outcomeCounts, reasonNotice, runLink, runProgress, runReason, runTable, statePill } from './runs-page.ts';
import { heldCountOf, heldFieldsSection, noticesSection, readWaiting, type Waiting } from './waiting-section.ts';

export async function overviewPage(frame: Frame, parts: DashboardParts): Promise<Markup> {
  const overview = await readOverviewView(parts);
  const { pauseShown: pause, readiness, active, activeCount, stopped, last, openLetterCount } = overview;
  return framed(frame, {
    title: pause === null ? 'Overview' : 'Paused',
    place: 'overview',
    pace: paceOf(active.length > 0, pause),
    body: html`<h1>Overview</h1>
${readinessNotice(
  readiness,
  readiness.troubles.map((trouble) => paste(frame, trouble)),
)}
${pauseNotice(pause)}
${facts(parts, overview)}
<section aria-labelledby="at-work"><h2 id="at-work">Running</h2>
${active.length === 0 ? html`<p class="empty">Nothing is running.</p>` : html`<div class="cards">${active.map((run) => workCard(frame, run, overview))}</div>`}
${moreRuns(frame, active, activeCount, 'active')}
</section>
${stopped.length === 0 ? '' : stoppedSection(frame, overview)}
${concernsSection(frame, overview.concerns)}
${heldFieldsSection(frame, overview.waiting)}
<section aria-labelledby="last-runs"><h2 id="last-runs">Last runs</h2>
${last.length === 0 ? dropHint(parts.folders.watched) : runTable(frame, last)}
</section>
<section aria-labelledby="dead-letters"><h2 id="dead-letters">Dead letters</h2>
${openLetterCount === 0 ? html`<p class="empty">No open dead letters.</p>` : letterGroups(frame, overview)}
</section>
${noticesSection(frame, overview.waiting)}`,
  });
}

function readinessNotice({ ready }: Readiness, troubles: readonly string[]): Markup {
  if (ready && troubles.length === 0) return html``;
  const list = html`<ul>${troubles.map((trouble) => html`<li>${trouble}</li>`)}</ul>`;
  if (ready) return html`<div class="notice attention" role="status">${list}</div>`;
  return html`<div class="notice bad" role="alert"><p><strong>Files are not taken at the moment.</strong></p>
${list}</div>`;
}

function facts(parts: DashboardParts, { pause, openLetterCount, waiting }: OverviewView): Markup {
  return html`<dl class="facts">
<div><dt>Service</dt><dd><bdi>${parts.serviceName}</bdi></dd></div>
<div><dt>Queue</dt><dd>${parts.queueDescription}${pause === null ? '' : html` <span class="pill attention">paused</span>`}</dd></div>
<div><dt>Open dead letters</dt><dd>${count(openLetterCount)}</dd></div>
<div><dt>Held fields</dt><dd>${count(heldCountOf(waiting))}</dd></div>
<div class="broad"><dt>Import folder</dt><dd>${parts.folders.watched.map((folder) => html`<code class="path">${folder}</code> `)}</dd></div>
</dl>`;
}

function workCard(frame: Frame, { record }: RunView, { standstills, pauseShown }: OverviewView): Markup {
  const standstill = standstills.get(record.id) ?? null;
  return html`<article class="card">
<h3>${runLink(frame, record)} ${statePill(record.state)}</h3>
<p class="dim">feed <bdi>${record.feed}</bdi> · since ${moment(record.startedAtMs ?? record.createdAtMs)}</p>
${runProgress(record, pauseShown)}
<dl class="counts">${outcomeCounts(record).map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${count(value)}</dd></div>`,
  )}</dl>
${runReason(frame, record)}${standstill === null ? '' : reasonNotice(frame, standstill)}
</article>`;
}

/** Those that are not shown arrived later. */
function moreRuns(frame: Frame, shown: readonly RunView[], allCount: number, state: 'active' | 'stopped'): Markup {
  if (allCount <= shown.length) return html``;
  return html`<p>And ${counted(allCount - shown.length, 'run that arrived later', 'runs that arrived later')}. <a href="${addressOf(frame, '/runs', { state })}">See all ${count(allCount)}</a></p>`;
}

function stoppedSection(frame: Frame, { stopped, stoppedCount }: OverviewView): Markup {
  return html`<section aria-labelledby="stopped"><h2 id="stopped">Stopped: waiting for you</h2>
<div class="cards">${stopped.map(
    ({ record }) => html`<article class="card">
<h3>${runLink(frame, record)} ${statePill(record.state)}</h3>
<p class="dim">feed <bdi>${record.feed}</bdi> · arrived ${moment(record.createdAtMs)}</p>
${runReason(frame, record)}
<p class="todo">To see what it would write: <code>${paste(frame, `patchbay plan --run ${record.id}`)}</code></p>
</article>`,
  )}</div>
${moreRuns(frame, stopped, stoppedCount, 'stopped')}
</section>`;
}

function letterGroups(frame: Frame, { groups, openLetterCount }: OverviewView): Markup {
  return html`<p>${counted(openLetterCount, 'rejected row', 'rejected rows')}, by reason. <a href="${addressOf(frame, '/dead-letters')}">See them one by one</a></p>
<table class="stacking">
<thead><tr><th scope="col">Reason</th><th scope="col">Column</th><th scope="col" class="number">Rows</th>
<th scope="col">Example</th><th scope="col">What to do</th></tr></thead>
<tbody>
${groups.map((group) => groupLine(frame, group))}
</tbody>
</table>
${otherRows(frame, openLetterCount - groups.reduce((sum, { count: ofGroup }) => sum + ofGroup, 0))}`;
}

/** Only open rows are grouped, and the most frequent reasons are listed. */
function otherRows(frame: Frame, rowCount: number): Markup {
  if (rowCount <= 0) return html``;
  return html`<p>And ${counted(rowCount, 'row', 'rows')} being tried again or rejected for rarer reasons. <a href="${addressOf(frame, '/dead-letters')}">See all</a></p>`;
}

function groupLine(
  frame: Frame,
  { class: reasonClass, code, field, count: letterCount, example }: DeadLetterGroup,
): Markup {
  return html`<tr><th scope="row"><a href="${addressOf(frame, '/dead-letters', { code })}"><code class="reason">${code}</code></a> <span class="dim">${reasonClass}</span></th>
<td data-label="Column">${field === null ? '–' : html`<bdi>${field}</bdi>`}</td>
<td class="number" data-label="Rows">${count(letterCount)}</td>
<td data-label="Example"><span><bdi>${example.message}</bdi> <span class="dim"><bdi>${example.file}</bdi>${lineText(example).map((line) => `, ${line}`)}</span></span></td>
<td data-label="What to do">${example.hint === '' ? '–' : html`<bdi>${paste(frame, example.hint)}</bdi>`}</td></tr>
`;
}

/** What the first page shows: the data folder, what waits, and whether this process takes files. */
interface OverviewView extends Overview {
  readonly pauseShown: ShownPause | null;
  readonly readiness: Readiness;
  readonly waiting: Waiting;
}

async function readOverviewView(parts: DashboardParts): Promise<OverviewView> {
  const waiting = await readWaiting(parts);
  const overview = await readOverview(parts);
  const pauseShown = shownPause(overview.pause, parts.config);
  return { ...overview, pauseShown, waiting, readiness: await askReadiness(parts) };
}

/** `status --json`, and what the process and its page know beyond that. */
export async function overviewJson(parts: DashboardParts): Promise<object> {
  const readiness = await askReadiness(parts);
  return {
    ...(await readOverviewDocument(parts, await parts.surroundings())),
    version: parts.version,
    serviceOrigin: parts.serviceOrigin,
    queue: parts.queueDescription,
    importFolders: parts.folders.watched,
    ready: readiness.ready,
    troubles: readiness.troubles,
  };
}
