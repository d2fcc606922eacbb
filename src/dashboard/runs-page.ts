/** The page of runs, newest first, and how a run looks on every page: its state, progress and counts. */
import { html } from 'hono/html';
import type { PatchbayError } from '#src/errors.ts';
import { activeRunStates, isFinal, pendingCount, type RunRecord, type RunState } from '#src/ledger/runs.ts';
import type { UnknownFeed } from '#src/operations/feed-names.ts';
import { failedHeadline, type RunQuery, type RunView, stateWords } from '#src/operations/runs.ts';
import { filterForm, filterLink } from './filter-form.ts';
import {
  count,
  counted,
  dropHint,
  duration,
  type Frame,
  framed,
  type Markup,
  moment,
  paste,
  sentence,
} from './frame.ts';
import { pauseNotice, type ShownPause } from './pause-notice.ts';
import { addressOf, paceOf, runAddress } from './refresh.ts';
import { refusalNotice, unknownFeedNote } from './refused-filter.ts';
import { withRunLinks } from './run-mentions.ts';

/** The page and its JSON twin show at most this many runs. */
export const runsShownMax = 200;

/** What the page shows. */
interface RunsView {
  readonly importFolders: readonly string[];
  readonly query: RunQuery;
  readonly runs: readonly RunView[];
  readonly pause: ShownPause | null;
  /** The feed that an empty list was asked for, where there is none. */
  readonly unknown: UnknownFeed | null;
  /** Whether a person fills in the form: the page stays as it is. */
  readonly isChoosing: boolean;
}

export function runsPage(frame: Frame, view: RunsView): Markup {
  const { importFolders, query, runs, pause, unknown, isChoosing } = view;
  const isFiltered = query.feed !== undefined || query.states !== undefined || query.after !== undefined;
  const isBusy = runs.some(({ record }) => !isFinal(record.state) && record.state !== 'stopped');
  const pace = isChoosing ? null : paceOf(isBusy, pause);
  const filters = pace === null || frame.refresh.isOff ? filterForm : filterLink;
  return framed(frame, {
    title: 'Runs',
    place: 'runs',
    pace,
    body: html`<h1>Runs</h1>
${pauseNotice(pause)}
${runs.length === 0 && !isFiltered ? '' : runFilters(frame, query, filters)}
${isChoosing && paceOf(isBusy, pause) !== null ? backToList(frame, query) : ''}
${runs.length > 0 ? runTable(frame, runs) : isFiltered ? noRuns(frame, query, unknown) : dropHint(importFolders)}
${runs.length < query.limit ? '' : html`<p><a href="${olderRuns(frame, runs, query)}">Older runs</a></p>`}`,
  });
}

/** Out of a page that stays as it is. */
function backToList(frame: Frame, { feed, states, limit }: RunQuery): Markup {
  const address = addressOf(frame, '/runs', {
    feed,
    state: stateWord(states),
    limit: limit === runsShownMax ? undefined : `${limit}`,
  });
  return html`<p class="dim">This page stays as it is. <a href="${address}">Back to the list</a>, which loads again by itself.</p>`;
}

function noRuns(frame: Frame, query: RunQuery, unknown: UnknownFeed | null): Markup {
  if (unknown === null) return html`<p class="empty">No such runs.</p>`;
  return unknownFeedNote(frame, unknown, '/runs', { state: query.states?.join() });
}

/** The page of a list that cannot be made. */
export function refusedRunsPage(frame: Frame, query: RunQuery, refusal: PatchbayError): Markup {
  return framed(frame, {
    title: 'Runs',
    place: 'runs',
    pace: null,
    body: html`<h1>Runs</h1>
${runFilters(frame, query, filterForm)}
${refusalNotice(frame, refusal)}`,
  });
}

const allRunStates = Object.keys(stateWords) as readonly RunState[];

/** As the address and the form have it. */
function stateWord(states: RunQuery['states']): string | undefined {
  return states?.join() === activeRunStates.join() ? 'active' : states?.join();
}

function runFilters(
  frame: Frame,
  { feed = '', states, limit }: RunQuery,
  shown: typeof filterForm | typeof filterLink,
): Markup {
  const options = allRunStates.map((one) => [one, stateWords[one]] as const);
  const filters = [
    { name: 'feed', label: 'Feed', value: feed },
    {
      name: 'state',
      label: 'State',
      value: stateWord(states) ?? '',
      options: [['', 'any'], ['active', 'running'], ...options] as const,
    },
  ];
  return shown(frame, '/runs', filters, limit === runsShownMax ? {} : { limit: `${limit}` });
}

/** The address of the next page of the list. */
function olderRuns(frame: Frame, runs: readonly RunView[], { feed, states, limit }: RunQuery): string {
  return addressOf(frame, '/runs', {
    feed,
    state: states?.join(),
    limit: limit === runsShownMax ? undefined : `${limit}`,
    after: runs.at(-1)?.record.id,
  });
}

type Tone = 'good' | 'busy' | 'attention' | 'bad' | 'quiet';

const tones: Readonly<Record<RunState, Tone>> = {
  queued: 'quiet',
  staging: 'busy',
  applying: 'busy',
  cancelling: 'busy',
  stopped: 'attention',
  done: 'good',
  doneWithDead: 'attention',
  failed: 'bad',
  cancelled: 'quiet',
};

export function statePill(state: RunState): Markup {
  return html`<span class="pill ${tones[state]}">${stateWords[state]}</span>`;
}

export function runLink(frame: Frame, run: RunRecord): Markup {
  return html`<a href="${runAddress(frame, run.id)}"><bdi>${run.fileName}</bdi></a>`;
}

/** Rows settled of rows staged. How many there will be is not known before the file was read to its end. */
export function runProgress(run: RunRecord, pause: ShownPause | null): Markup {
  const { counts, state } = run;
  // Files are read while writing alone is paused.
  if (state === 'queued')
    return html`<p class="dim">${pause === null || pause.scope === 'writes' ? 'Waits for its turn.' : 'Waits until work continues.'}</p>`;
  if (state === 'staging' && run.look?.end === 'underWay') {
    return html`<progress aria-label="Comparing"></progress>
<p>Comparing with the workspace: ${counted(run.look.contacts, 'contact', 'contacts')} read</p>`;
  }
  if (state === 'staging') {
    return html`<progress aria-label="Reading"></progress>
<p>${counted(counts.rows, 'row', 'rows')} read</p>`;
  }
  const settled = counts.rows - pendingCount(counts);
  const percent = counts.rows === 0 ? 0 : Math.floor((100 * settled) / counts.rows);
  return html`<progress aria-label="Rows settled" max="${Math.max(1, counts.rows)}" value="${settled}"></progress>
<p>${count(settled)} of ${counted(counts.rows, 'row', 'rows')} (${percent} %)</p>`;
}

/** The outcomes in the order of the accounting; `pending` only while there is some. */
export function outcomeCounts(run: RunRecord): readonly (readonly [string, number])[] {
  const { created, updated, unchanged, skipped, dead } = run.counts;
  const pending = pendingCount(run.counts);
  const all: (readonly [string, number])[] = [
    ['created', created],
    ['updated', updated],
    ['unchanged', unchanged],
    ['skipped', skipped],
    ['rejected', dead],
  ];
  return pending === 0 ? all : [...all, ['pending', pending]];
}

/** Why a run stopped, failed or waits, and what to do next; nothing where there is no reason. */
export function runReason(frame: Frame, run: RunRecord): Markup {
  return run.reason === null ? html`` : reasonNotice(frame, run.reason, run.state === 'failed');
}

/** The same of any reason. @param isFailed the file could not be imported. */
export function reasonNotice(
  frame: Frame,
  reason: Pick<NonNullable<RunRecord['reason']>, 'code' | 'message' | 'hint'>,
  isFailed = false,
): Markup {
  return html`<div class="notice ${isFailed ? 'bad' : 'attention'}">
${isFailed ? html`<p>${sentence(failedHeadline(reason))}</p>` : ''}<p><strong>${withRunLinks(frame, reason.message)}</strong> <code>${reason.code}</code></p>
${
  reason.hint
    ? paste(frame, reason.hint)
        .split('\n')
        .map((line) => html`<p>${line}</p>`)
    : ''
}
</div>`;
}

export function runTable(frame: Frame, runs: readonly RunView[]): Markup {
  return html`<table class="stacking">
<thead><tr><th scope="col">File</th><th scope="col">State</th><th scope="col" class="number">Rows</th>
<th scope="col" class="number">Created</th><th scope="col" class="number">Updated</th>
<th scope="col" class="number">Unchanged</th><th scope="col" class="number">Skipped</th>
<th scope="col" class="number">Rejected</th><th scope="col">Received</th><th scope="col" class="number">Duration</th></tr></thead>
<tbody>
${runs.map((run) => runLine(frame, run))}
</tbody>
</table>`;
}

function runLine(frame: Frame, { record, summary }: RunView): Markup {
  const number = (label: string, value: number, more: Markup | string = ''): Markup =>
    html`<td class="number${value === 0 ? ' zero' : ''}" data-label="${label}"><span>${count(value)}${more}</span></td>`;
  const besides = (value: number, word: string): Markup | string =>
    value === 0 ? '' : html` <span class="dim">(${count(value)} ${word})</span>`;
  const { counts } = record;
  return html`<tr><th scope="row">${runLink(frame, record)} <span class="dim">feed <a href="${addressOf(frame, '/runs', { feed: record.feed })}"><bdi>${record.feed}</bdi></a></span></th>
<td data-label="State">${statePill(record.state)}</td>
${number('Rows', counts.rows, besides(summary.pending, 'pending'))}${number('Created', counts.created)}
${number('Updated', counts.updated, besides(summary.deleted, 'deleted'))}
${number('Unchanged', counts.unchanged)}${number('Skipped', counts.skipped)}
<td class="number${counts.dead === 0 ? ' zero' : ' alarm'}" data-label="Rejected">${counts.dead === 0 ? 0 : html`<a href="${addressOf(frame, '/dead-letters', { run: record.id })}">${count(counts.dead)}</a>`}</td>
<td data-label="Received">${moment(record.createdAtMs)}</td>
<td class="number" data-label="Duration">${record.startedAtMs === null ? '–' : duration(summary.seconds)}</td></tr>
`;
}
