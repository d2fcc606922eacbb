/**
 * The dead letters one by one, newest first, with the cells they came from: personal data, shown on purpose to the person
 * who can fix them; and the notices that could not be delivered.
 */
import { html } from 'hono/html';
import type { PatchbayError } from '#src/errors.ts';
import type { DeliveryRecord } from '#src/ledger/deliveries.ts';
import type { DeadLetterState } from '#src/ledger/letters.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { DeadLetterPage, DeadLetterQuery, UnfixableRun } from '#src/operations/dead-letters.ts';
import { addresseeOf, noticeDocument } from '#src/operations/dead-notices.ts';
import type { UnknownFeed } from '#src/operations/feed-names.ts';
import { lineText } from '#src/sources/row.ts';
import { filterForm } from './filter-form.ts';
import { counted, type Frame, framed, type Markup, moment, paste } from './frame.ts';
import { isNarrowed, lettersHead } from './letters-head.ts';
import { addressOf, runAddress } from './refresh.ts';
import { refusalNotice, unknownFeedNote } from './refused-filter.ts';
import type { ShownLetter, ShownRow } from './shown-letter.ts';
import { deadNoticesSection, type Waiting } from './waiting-section.ts';

/** The page and its JSON twin show at most this many letters and notices. */
export const lettersShownMax = 200;

/** What the page shows. */
export interface LettersView extends DeadLetterPage<ShownLetter> {
  readonly query: DeadLetterQuery;
  /** Of all letters: those that are open, or being tried again. */
  readonly openCount: number;
  /** Of all that were given up; the list may end before them. */
  readonly deadNotices: Waiting['deadNotices'];
  readonly without: readonly UnfixableRun[];
  /** The run of an empty list that has rejected rows. */
  readonly leftBy: RunRecord | null;
  /** The feed that an empty list was asked for, where there is none. */
  readonly unknown: UnknownFeed | null;
}

export function deadLettersPage(frame: Frame, view: LettersView): Markup {
  const { query, letters, notices, openCount, deadNotices, without, leftBy, unknown } = view;
  const last = [...letters, ...notices].at(-1);
  const isCut = letters.length + notices.length === query.limit;
  return framed(frame, {
    title: 'Dead letters',
    place: 'deadLetters',
    pace: null,
    body: html`<h1>Dead letters</h1>
${last === undefined && !isNarrowed(query) ? '' : letterFilters(frame, query)}
${unknownFeedNote(frame, unknown, '/dead-letters', { code: query.code, state: query.state === 'open' ? undefined : query.state })}
${letters.length === 0 && notices.length > 0 ? '' : lettersHead(frame, { query, shownCount: letters.length, openCount, leftBy })}
${without.map((one) => unfixableNote(frame, one))}
${letters.map((letter) => letterCard(frame, letter))}
${notices.length === 0 && isCut && mayHaveNotices(query) ? deadNoticesSection(frame, { deadNotices }) : noticesSection(frame, notices, isCut)}
${last === undefined || !isCut ? '' : html`<p><a href="${nextPage(frame, last.id, query)}">Next dead letters</a></p>`}`,
  });
}

/** The page of a list that cannot be made. */
export function refusedLettersPage(frame: Frame, query: DeadLetterQuery, refusal: PatchbayError): Markup {
  return framed(frame, {
    title: 'Dead letters',
    place: 'deadLetters',
    pace: null,
    body: html`<h1>Dead letters</h1>
${letterFilters(frame, query)}
${refusalNotice(frame, refusal)}`,
  });
}

function letterFilters(frame: Frame, { code = '', run = '', feed = '', state, limit }: DeadLetterQuery): Markup {
  const filters = [
    { name: 'code', label: 'Reason (code)', value: code },
    { name: 'run', label: 'Run', value: run },
    { name: 'feed', label: 'Feed', value: feed },
    { name: 'state', label: 'State', value: state === 'open' ? '' : state, options: stateOptions },
  ];
  return filterForm(frame, '/dead-letters', filters, limit === lettersShownMax ? {} : { limit: `${limit}` });
}

const stateOptions = [
  ['', 'open'],
  ['redriven', 'being tried again'],
  ['closed', 'closed'],
  ['dropped', 'dropped'],
  ['all', 'all'],
] as const;

/** Whether the notices that were given up are all behind the letters of such a list. */
function mayHaveNotices({ code, run, feed, state }: DeadLetterQuery): boolean {
  return code === undefined && run === undefined && feed === undefined && (state === 'open' || state === 'all');
}

function unfixableNote(frame: Frame, { run: { id, state }, isGone }: UnfixableRun): Markup {
  if (isGone)
    return html`<p class="todo">The fix-file of run <a href="${runAddress(frame, id)}"><code>${id}</code></a> is not there any more. Write its open rows anew: <code>${paste(frame, `patchbay dead export --run ${id}`)}</code></p>`;
  const why = state === 'stopped' ? 'is stopped by a guard: decide about it first' : 'has not ended';
  return html`<p class="todo">Run <a href="${runAddress(frame, id)}"><code>${id}</code></a> ${why}. Its rows are in no fix-file yet.</p>`;
}

/** The address of the next page of the list. @param after the id of the last letter or notice of this one. */
function nextPage(frame: Frame, after: string, { code, run, feed, state, limit }: DeadLetterQuery): string {
  return addressOf(frame, '/dead-letters', {
    ...{ code, run, feed },
    state: state === 'open' ? undefined : state,
    limit: limit === lettersShownMax ? undefined : `${limit}`,
    after,
  });
}

const statePills: Readonly<Record<DeadLetterState, Markup | string>> = {
  open: '',
  redriven: html`<span class="pill busy">being tried again</span>`,
  closed: html`<span class="pill good">closed</span>`,
  dropped: html`<span class="pill quiet">dropped</span>`,
};

function letterCard(frame: Frame, letter: ShownLetter): Markup {
  const { answer, row } = letter;
  return html`<article class="card letter">
<h2><code>${letter.code}</code>${letter.field === null ? '' : html` <bdi>${letter.field}</bdi>`} <span class="pill attention">${letter.class}</span>
${statePills[letter.state]}</h2>
${problemsOf(frame, letter)}
<p class="dim"><bdi>${letter.file}</bdi>${lineText({ line: letter.line, ...letter.place }).map((line) => `, ${line}`)}${letter.key === null ? '' : html` · key <bdi>${letter.key}</bdi>`}
 · feed <a href="${addressOf(frame, '/dead-letters', { feed: letter.feed })}"><bdi>${letter.feed}</bdi></a> · <a href="${runAddress(frame, letter.runId)}">run</a>
 · met by ${counted(letter.seenCount, 'run', 'runs')}, tried again ${counted(letter.attempts, 'time', 'times')}
 · first ${moment(letter.firstAtMs)}, last ${moment(letter.lastAtMs)} · <code>${letter.id}</code></p>
${
  answer === null
    ? ''
    : html`<p class="dim">The service answered ${answer.status ?? ''} ${answer.title ?? ''}${answer.message === null ? '' : html`: <bdi>${answer.message}</bdi>`}${
        answer.trace === null ? '' : html` (trace <code>${answer.trace}</code>)`
      }</p>`
}
${row === null ? '' : html`<details><summary>The row as the file holds it</summary>${rowContent(row)}</details>`}
</article>
`;
}

/** All that is wrong with the row: each is to be fixed before the row goes in. */
function problemsOf(frame: Frame, { problems, message, hint, state }: ShownLetter): Markup {
  const advice = (text: string): Markup =>
    text === '' || state === 'closed' ? html`` : html`<p class="todo">${paste(frame, text)}</p>`;
  if (problems.length <= 1) return html`<p><bdi>${message}</bdi></p>\n${advice(hint)}`;
  return html`<ul>${problems.map(
    (
      problem,
    ) => html`<li><p><code>${problem.code}</code>${problem.field === null ? '' : html` <bdi>${problem.field}</bdi>`}: <bdi>${problem.message}</bdi></p>
${advice(problem.hint)}</li>
`,
  )}</ul>`;
}

function rowContent(row: ShownRow): Markup {
  if (row.kind === 'object') return html`<pre>${row.text}</pre>`;
  const { cells, moreCount } = row;
  return html`<dl class="cells">${cells.map(([name, cell]) => html`<div><dt><bdi>${name}</bdi></dt><dd><bdi>${cell}</bdi></dd></div>`)}</dl>
${moreCount > 0 ? html`<p class="dim">And ${counted(moreCount, 'more cell', 'more cells')}.</p>` : ''}`;
}

/** Notices that their addressee did not take, without personal data. The newest first; nothing where there are none. @param isCut whether there may be more. */
function noticesSection(frame: Frame, notices: readonly DeliveryRecord[], isCut: boolean): Markup {
  if (notices.length === 0) return html``;
  const number = `${counted(notices.length, 'notice', 'notices')}${isCut ? ' or more' : ''}`;
  const words = notices.some(({ state }) => state === 'dead')
    ? html`${number} could not be delivered. Send one again with <code>${paste(frame, 'patchbay dead retry ID')}</code>, or drop it with <code>${paste(frame, 'patchbay dead drop ID')}</code>`
    : html`${number} dropped: not sent any more`;
  return html`<section aria-labelledby="notices"><h2 id="notices">Notices</h2>
<p class="dim">${words}</p>
<table class="stacking">
<thead><tr><th scope="col">ID</th><th scope="col">Notice</th><th scope="col">Feed</th><th scope="col">To</th>
<th scope="col">Of</th><th scope="col">What happened</th></tr></thead>
<tbody>
${notices.map(noticeLine)}
</tbody>
</table>
</section>`;
}

function noticeLine(notice: DeliveryRecord): Markup {
  const { id, type, code, message, atMs, state } = notice;
  const { feed } = noticeDocument(notice);
  return html`<tr><th scope="row"><code>${id}</code>${state === 'dropped' ? html` ${statePills.dropped}` : ''}</th>
<td data-label="Notice"><code>${type}</code></td>
<td data-label="Feed"><bdi>${feed}</bdi></td>
<td data-label="To">${addresseeOf(notice)}</td>
<td data-label="Of">${moment(atMs)}</td>
<td data-label="What happened"><span>${message ?? '–'} <code>${code ?? ''}</code></span></td></tr>
`;
}
