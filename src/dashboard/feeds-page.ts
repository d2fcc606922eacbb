/**
 * The page of feeds and its JSON twin: when each feed is due, how it went last and what is wrong with it; and the
 * snapshots of the phone numbers.
 */
import { html } from 'hono/html';
import { troubleWords } from '#src/ledger/deliveries.ts';
import type { TickOutcome, TickRecord } from '#src/ledger/schedules.ts';
import type { SnapshotRecord } from '#src/ledger/snapshots.ts';
import type { FeedsView, FeedView } from '#src/operations/feeds.ts';
import { type ScheduleView, tickHint } from '#src/operations/schedules.ts';
import { describeRule } from '#src/schedules/describe-rule.ts';
import { scheduleMoment } from '#src/schedules/schedule-moment.ts';
import { count, counted, dropHint, type Frame, framed, instant, type Markup, moment, paste } from './frame.ts';
import { pauseNotice, type ShownPause } from './pause-notice.ts';
import { addressOf, paceOf, runAddress } from './refresh.ts';
import { runLink, statePill } from './runs-page.ts';

const outcomeWords: Readonly<Record<TickOutcome, string>> = {
  run: 'files taken',
  snapshot: 'snapshot taken',
  nothingNew: 'nothing new',
  skipped: 'skipped',
  failed: 'failed',
};

export function feedsPage(
  frame: Frame,
  importFolders: readonly string[],
  view: FeedsView,
  pause: ShownPause | null,
): Markup {
  const { feeds, feedsLeftOut, phoneNumbers } = view;
  return framed(frame, {
    title: 'Feeds',
    place: 'feeds',
    pace: paceOf(false, pause),
    body: html`<h1>Feeds</h1>
${pauseNotice(pause)}
${feeds.length === 0 ? dropHint(importFolders) : feedTable(frame, feeds)}
${feedsLeftOut === 0 ? '' : html`<p class="dim">${counted(feedsLeftOut, 'further feed', 'further feeds')} not shown; bad ones come first.</p>`}
<section aria-labelledby="numbers"><h2 id="numbers">Phone numbers</h2>
<dl class="facts">
<div><dt>Snapshots</dt><dd>${scheduleCell(phoneNumbers.schedule)}</dd></div>
<div><dt>Next</dt><dd>${dueCell(frame, phoneNumbers.schedule)}</dd></div>
<div><dt>Last outcome</dt><dd>${outcomeCell(frame, phoneNumbers.schedule)}</dd></div>
<div class="broad"><dt>Last snapshot</dt><dd>${snapshotLine(phoneNumbers.latest)}</dd></div>
</dl>
</section>`,
  });
}

function feedTable(frame: Frame, feeds: readonly FeedView[]): Markup {
  return html`<table class="stacking">
<thead><tr><th scope="col">Feed</th><th scope="col">Condition</th><th scope="col">Due</th><th scope="col">Next</th>
<th scope="col">Last outcome</th><th scope="col">Last run</th></tr></thead>
<tbody>
${feeds.map((feed) => feedLine(frame, feed))}
</tbody>
</table>`;
}

function feedLine(frame: Frame, view: FeedView): Markup {
  const { feed, schedule, lastRun } = view;
  return html`<tr><th scope="row"><a href="${addressOf(frame, '/runs', { feed })}"><bdi>${feed}</bdi></a></th>
<td data-label="Condition"><span>${condition(frame, view)}</span></td>
<td data-label="Due">${scheduleCell(schedule)}</td>
<td data-label="Next"><span>${dueCell(frame, schedule)}</span></td>
<td data-label="Last outcome"><span>${outcomeCell(frame, schedule)}</span></td>
<td data-label="Last run"><span>${lastRun === null ? '–' : html`${runLink(frame, lastRun.record)} ${statePill(lastRun.record.state)}`}</span></td></tr>
`;
}

function condition(frame: Frame, { troubles, sinceMs, troubleRuns }: FeedView): Markup {
  if (troubles.length === 0) return html`<span class="pill good">good</span>`;
  const words = troubles.map((trouble, index) => {
    const [comma, run] = [index === 0 ? '' : ', ', troubleRuns[trouble]];
    const word = troubleWords[trouble];
    return html`${comma}${run === undefined ? word : html`<a href="${runAddress(frame, run)}">${word}</a>`}`;
  });
  return html`<span class="pill bad"><span>${words}</span></span> <span class="dim">since ${moment(sinceMs)}</span>`;
}

function scheduleCell(schedule: ScheduleView | null): string {
  return schedule === null ? '–' : describeRule(schedule.record.rule);
}

/** In the zone of the schedule, of which the column beside it speaks. */
function dueCell({ nowMs }: Frame, schedule: ScheduleView | null): Markup {
  if (schedule === null) return moment(null);
  const { record } = schedule;
  const { pausedAtMs, pauseReason, dueAtMs } = record;
  const at = (ms: number): Markup => instant(ms, scheduleMoment(ms, record, nowMs));
  if (pausedAtMs === null) return dueAtMs === null ? moment(null) : at(dueAtMs);
  const why = pauseReason === null ? '' : html`: <bdi>${pauseReason}</bdi>`;
  return html`<span class="pill attention">paused</span> <span class="dim">since ${at(pausedAtMs)}</span>${why}`;
}

function outcomeCell(frame: Frame, schedule: ScheduleView | null): Markup {
  const skipped = schedule?.skipped ?? null;
  const tick = schedule?.last ?? null;
  if (tick === null || tick.outcome === null) return skipped === null ? html`–` : skippedLine(skipped);
  const { outcome, code, endedAtMs } = tick;
  const failure = outcome === 'failed' && code !== null ? html` <code>${code}</code>` : '';
  const hint = tickHint(tick);
  const advice = hint === null ? '' : html`<br><bdi>${paste(frame, hint)}</bdi>`;
  const since = skipped === null ? '' : html`<br>${skippedLine(skipped)}`;
  return html`${outcomeWords[outcome]}${failure}${whyOf(tick)} <span class="dim">${moment(endedAtMs)}</span>${advice}${since}`;
}

/** The ticks after it that were skipped, and why the newest was. */
function skippedLine({ count, newest }: NonNullable<ScheduleView['skipped']>): Markup {
  const times = count === 1 ? '' : ` ${counted(count, 'time', 'times')}`;
  return html`${outcomeWords.skipped}${times}${whyOf(newest)} <span class="dim">${moment(newest.endedAtMs)}</span>`;
}

function whyOf({ message }: Pick<TickRecord, 'message'>): Markup | '' {
  return message === null ? '' : html`: <bdi>${message}</bdi>`;
}

function snapshotLine(record: SnapshotRecord | null): Markup {
  if (record === null) return html`none yet`;
  const { added, removed, changedNumbers, changed } = record;
  const changes = changed
    ? `${count(added)} added, ${count(removed)} removed, ${count(changedNumbers)} changed`
    : 'nothing changed';
  return html`${counted(record.count, 'number', 'numbers')} <span class="dim">${moment(record.takenAtMs)}</span>, ${changes}`;
}
