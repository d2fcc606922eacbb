/** The page of one run and its JSON twin: its outcome, the reason, what it left alone and why, warnings and problems of its rows. */
import { html } from 'hono/html';
import { hintsOnce } from '#src/contacts/outcome.ts';
import { PatchbayError } from '#src/errors.ts';
import type { ContactChange } from '#src/journal/changes.ts';
import { isFinal } from '#src/ledger/runs.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import { standstillOfHost } from '#src/operations/hosts.ts';
import { hasPlan, keptPlanOf } from '#src/operations/plan.ts';
import { changesOfRun, pageReportBytesMax, type RunStory, readStory } from '#src/operations/run-story.ts';
import { findRun, type ReadLimits, type RunDetail, type RunHome } from '#src/operations/runs.ts';
import type { MadePlan } from '#src/plans/make-plan.ts';
import type { ProblemLine } from '#src/runs/report.ts';
import { lineText } from '#src/sources/row.ts';
import { auditSection } from './audit-section.ts';
import {
  count,
  counted,
  duration,
  type Frame,
  framed,
  type Markup,
  moment,
  paste,
  valueCell,
  valueText,
} from './frame.ts';
import { pauseNotice, type ShownPause } from './pause-notice.ts';
import { planSection } from './plan-section.ts';
import { addressOf, paceOf } from './refresh.ts';
import { eventSections, moreLine, rowsShownMax, whereAllAre } from './run-event-sections.ts';
import { withRunLinks } from './run-mentions.ts';
import { outcomeCounts, reasonNotice, runProgress, runReason, statePill } from './runs-page.ts';
import { actsSection, cameFacts, changesSection } from './story-sections.ts';

/** What the page shows. */
interface RunPageView extends RunStory {
  /** Why it stands still, where only a host that is not at work can go on with it. */
  readonly standstill: Awaited<ReturnType<typeof standstillOfHost>>;
  /** The newest that is kept of a stopped run; null where there is none. */
  readonly plan: MadePlan | null;
  /** The first ones. */
  readonly changes: readonly ContactChange[];
}

export async function runPage(frame: Frame, detail: RunPageView, pause: ShownPause | null): Promise<Markup> {
  const { record } = detail;
  const isBusy = !isFinal(record.state) && record.state !== 'stopped';
  // A pause says nothing of a run that has ended, or waits for a person.
  const waitsFor = isBusy ? pause : null;
  return framed(frame, {
    title: record.fileName,
    place: 'runs',
    pace: paceOf(isBusy, waitsFor),
    body: html`<h1><bdi>${record.fileName}</bdi> ${statePill(record.state)}</h1>
<p class="dim">run <code>${record.id}</code> · feed <a href="${addressOf(frame, '/runs', { feed: record.feed })}"><bdi>${record.feed}</bdi></a> · into <bdi>${detail.summary.service}</bdi></p>
${pauseNotice(waitsFor)}${runReason(frame, record)}${detail.standstill === null ? '' : reasonNotice(frame, detail.standstill)}
${record.state === 'stopped' ? await planSection(frame, detail.plan, record.id) : ''}
${isBusy ? runProgress(record, waitsFor) : ''}
${outcomeSection(frame, detail)}
${actsSection(frame, detail)}
${record.notes.length === 0 ? '' : html`<section><h2>Notes</h2><ul>${record.notes.map((note) => html`<li>${withRunLinks(frame, paste(frame, note), record.id)}</li>`)}</ul></section>`}
${matchSection(detail)}
${eventSections(frame, detail)}
${problemSection(frame, detail)}
${warningSection(detail)}
${changesSection(frame, detail, detail.changes)}
${auditSection(frame, detail.audits)}`,
  });
}

function outcomeSection(frame: Frame, story: RunStory): Markup {
  const { record, summary, hasReport, isFixFileGone, failedFile } = story;
  const { counts, requests } = record;
  const figure = ([name, value]: readonly [string, number]): Markup =>
    html`<div><dt>${name}</dt><dd>${count(value)}</dd></div>`;
  const also = [
    ['adopted', counts.adopted],
    ['linked', counts.linked],
    ['deleted', summary.deleted],
    ['held fields', counts.heldFields],
    ['removed values', counts.removedValues],
    ['new dead letters', counts.deadNew],
    ['warnings', counts.warnings],
  ] as const;
  const sent = [
    ['GET', requests.get],
    ['POST', requests.post],
    ['PATCH', requests.patch],
    ['DELETE', requests.delete],
    ['retried', requests.retried],
    ['rate limited', requests.rateLimited],
  ] as const;
  return html`<section><h2>Rows</h2>
<dl class="counts">${figure(['rows', counts.rows])}${outcomeCounts(record).map(figure)}</dl>
<p class="dim">also</p><dl class="counts">${also.map(figure)}</dl>
</section>
<section><h2>Requests</h2><dl class="counts">${sent.map(figure)}</dl></section>
<section><h2>Times and files</h2><dl class="facts">
<div><dt>Received</dt><dd>${moment(record.createdAtMs)}</dd></div>
<div><dt>Started</dt><dd>${moment(record.startedAtMs)}</dd></div>
<div><dt>Finished</dt><dd>${moment(record.finishedAtMs)}</dd></div>
<div><dt>Duration</dt><dd>${record.startedAtMs === null ? '–' : duration(summary.seconds)}</dd></div>
${cameFacts(frame, story)}
${failedFile === null ? '' : html`<div class="broad"><dt>The file is now here, and why beside it</dt><dd><code class="path">${failedFile.path}</code><br><code class="path">${failedFile.note}</code></dd></div>`}
${summary.fixFile === null ? '' : html`<div class="broad"><dt>Fix and drop in again</dt><dd><code class="path">${summary.fixFile}</code></dd></div>`}
${isFixFileGone ? html`<div class="broad"><dt>The fix-file is not there any more: write the open rows anew</dt><dd><code>${paste(frame, `patchbay dead export --run ${record.id}`)}</code></dd></div>` : ''}
${hasReport ? html`<div class="broad"><dt>Report</dt><dd><code class="path">${summary.report}</code></dd></div>` : ''}
</dl></section>`;
}

/** Contacts to be made that may be in the workspace already, and those that would become another person's. */
function matchSection(detail: RunDetail): Markup {
  const { matches, summary } = detail;
  if (matches.length === 0) return html``;
  const shown = matches.slice(0, rowsShownMax);
  const hasLines = shown.some(({ line }) => line > 0);
  return html`<section><h2>${summary.linked > 0 ? 'Contacts linked to what was there' : shown.some(({ code }) => code !== 'matchOther') ? 'Contacts that may be there already' : "Contacts that would become another person's"}</h2>
<table class="stacking">
<thead><tr>${hasLines ? html`<th scope="col">Line</th>` : ''}<th scope="col">Key</th><th scope="col">File</th><th scope="col">Same</th>
<th scope="col">Contact</th><th scope="col">App</th><th scope="col">Which</th></tr></thead>
<tbody>
${shown.map((match) => matchLine(match, hasLines))}
</tbody>
</table>
${moreLine(detail, matches.length - rowsShownMax)}
</section>`;
}

function matchLine({ line, key, field, contact, file, app, code }: RunEvent, hasLine: boolean): Markup {
  const first = hasLine
    ? html`<th scope="row">${lineText({ line })}</th>
<td data-label="Key"><bdi>${key}</bdi></td>`
    : html`<th scope="row"><bdi>${key}</bdi></th>`;
  return html`<tr>${first}
<td data-label="File"><bdi>${valueText(file ?? null)}</bdi></td>
<td data-label="Same"><bdi>${field ?? 'key'}</bdi></td>
<td data-label="Contact"><code>${contact ?? '–'}</code></td>
<td data-label="App"><bdi>${valueText(app ?? null)}</bdi></td>
<td data-label="Which">${matchWords[code] ?? 'one contact'}</td></tr>
`;
}

const matchWords: Readonly<Record<string, string>> = {
  matchUnclear: 'unclear: one of several',
  matchKey: 'known under this key',
  matchOther: 'was another person’s',
};

/** Nothing of a file that could not be imported: its reason is above, and no row of it was judged. */
function problemSection(frame: Frame, detail: RunDetail): Markup {
  const { record, problems } = detail;
  if (record.state === 'failed' && record.counts.dead === 0 && problems.length === 0) return html``;
  return html`<section><h2>Problems</h2>
${problemList(frame, detail)}
</section>`;
}

function problemList(frame: Frame, detail: RunDetail): Markup {
  const { record, summary, problems, problemsKnown } = detail;
  if (problems.length === 0) {
    if (record.counts.dead === 0) return html`<p class="empty">None${problemsKnown === 'soFar' ? ' so far' : ''}.</p>`;
    const open = html`What is still open is listed under <a href="${addressOf(frame, '/dead-letters', { run: record.id })}">Dead letters</a>.`;
    return problemsKnown === 'gone'
      ? html`<p class="empty">The report is not here: it was deleted, or it is on another host. ${open}</p>`
      : html`<p class="empty">None could be read here: all are in <code class="path">${summary.report}</code>. ${open}</p>`;
  }
  const shown = problems.slice(0, rowsShownMax).map((problem) => ({ ...problem, hint: paste(frame, problem.hint) }));
  return html`${problemTable(shown, 'What to do')}
${problemsLeft(detail)}
<p><a href="${addressOf(frame, '/dead-letters', { run: record.id })}">What is still open of this run</a></p>`;
}

/** Of a run without a report, or with a large one, the first rejected rows are read, and a row may have several problems. */
function problemsLeft(detail: RunDetail): Markup {
  const { record, problems, rejectedRowsUnread } = detail;
  const more = problems.length - rowsShownMax;
  if (rejectedRowsUnread === 0) return moreLine(detail, more);
  if (more <= 0) return moreLine(detail, rejectedRowsUnread);
  return html`<p class="dim">And more: ${counted(record.counts.dead, 'row is', 'rows are')} rejected ${whereAllAre(detail)}</p>`;
}

/** Where the events are no longer known, the count above shows how many warnings there were. */
function warningSection(detail: RunDetail): Markup {
  const { record, outcomes } = detail;
  const warnings = outcomes.filter(({ kind }) => kind === 'warning');
  if (warnings.length === 0) return html``;
  const shown = warnings.slice(0, rowsShownMax);
  const hints = hintsOnce(shown);
  const lines = shown.map((warning) => {
    const { field, value = null, code, message, ...place } = warning;
    const hint = hints.get(warning);
    const told = hint === undefined ? message : `${message}. ${hint}`;
    return { ...place, field, value, code, hint: told };
  });
  return html`<section><h2>Warnings</h2>
${problemTable(lines, 'What was done')}
${moreLine(detail, record.counts.warnings - shown.length)}
</section>`;
}

function problemTable(lines: readonly ProblemLine[], lastLabel: string): Markup {
  // A run without a file has no lines: what it names comes first.
  const hasLines = lines.some(({ line }) => line > 0);
  return html`<table class="stacking">
<thead><tr>${hasLines ? html`<th scope="col">Line</th>` : ''}<th scope="col">Column</th><th scope="col">Value</th><th scope="col">Reason</th>
<th scope="col">${lastLabel}</th></tr></thead>
<tbody>
${lines.map((line) => problemLine(line, hasLines, lastLabel))}
</tbody>
</table>`;
}

function problemLine({ field, value, code, hint, ...place }: ProblemLine, hasLine: boolean, lastLabel: string): Markup {
  const column = field === null ? html`–` : html`<bdi>${field}</bdi>`;
  const first = hasLine
    ? html`<th scope="row">${lineText(place)}</th>
<td data-label="Column">${column}</td>`
    : html`<th scope="row">${column}</th>`;
  return html`<tr>${first}
<td data-label="Value">${valueCell(value)}</td>
<td data-label="Reason"><code class="reason">${code}</code></td>
<td data-label="${lastLabel}"><bdi>${hint}</bdi></td></tr>
`;
}

const limits: ReadLimits = {
  problemsMax: Number.POSITIVE_INFINITY,
  liveRowsMax: rowsShownMax,
  liveOutcomesMax: rowsShownMax,
  reportBytesMax: pageReportBytesMax,
};

/** By its id or the end of it. Null when there is no such run: only an id that the ledger knows becomes part of a path. */
export async function readRunDetail(parts: RunHome, runId: string): Promise<RunPageView | null> {
  const run = await findRun(parts, runId).catch((error: unknown) => {
    if (error instanceof PatchbayError && error.code === 'noSuchRun') return null;
    throw error;
  });
  if (run === null) return null;
  const story = await readStory(parts, run, { values: true, limits });
  const changes: ContactChange[] = [];
  for await (const page of changesOfRun(parts, story, rowsShownMax)) changes.push(...page);
  const plan = hasPlan(run) ? await keptPlanOf(parts, run) : null;
  return { ...story, standstill: await standstillOfHost(parts, run), plan, changes };
}
