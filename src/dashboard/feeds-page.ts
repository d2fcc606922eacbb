/**
 * The page of feeds and its JSON twin: when each feed is due, how it went last and what is wrong with it; and the
 * snapshots of the phone numbers.
 */
import { html } from 'hono/html';
import { isoInstant } from '#src/clock.ts';
import { type FeedTrouble, troubleWords } from '#src/ledger/deliveries.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import {
  phoneNumbersSchedule,
  type ScheduleRecord,
  type TickOutcome,
  type TickRecord,
  tellingOutcomes,
} from '#src/ledger/schedules.ts';
import { type SnapshotRecord, workspaceSeries } from '#src/ledger/snapshots.ts';
import { describeRule } from '#src/schedules/describe-rule.ts';
import { count, counted, dropHint, type Frame, framed, type Markup, moment } from './frame.ts';
import type { DashboardParts } from './parts.ts';
import { runLink, statePill } from './runs-page.ts';

const outcomeWords: Readonly<Record<TickOutcome, string>> = {
  run: 'files taken',
  snapshot: 'snapshot taken',
  nothingNew: 'nothing new',
  skipped: 'skipped: the one before was still running',
  failed: 'failed',
};

export function feedsPage(frame: Frame, importFolders: readonly string[], view: FeedsView): Markup {
  const { feeds, feedsLeftOut, phoneNumbers } = view;
  return framed(frame, {
    title: 'Feeds',
    place: 'feeds',
    refreshSeconds: null,
    body: html`<h1>Feeds</h1>
${feeds.length === 0 ? dropHint(importFolders) : feedTable(feeds)}
${feedsLeftOut === 0 ? '' : html`<p class="dim">${counted(feedsLeftOut, 'further feed', 'further feeds')} not shown; bad ones come first.</p>`}
<section aria-labelledby="numbers"><h2 id="numbers">Phone numbers</h2>
<dl class="facts">
<div><dt>Snapshots</dt><dd>${scheduleCell(phoneNumbers.schedule)}</dd></div>
<div><dt>Next</dt><dd>${dueCell(phoneNumbers.schedule)}</dd></div>
<div><dt>Last outcome</dt><dd>${outcomeCell(phoneNumbers.schedule)}</dd></div>
<div class="broad"><dt>Last snapshot</dt><dd>${snapshotLine(phoneNumbers.latest)}</dd></div>
</dl>
</section>`,
  });
}

function feedTable(feeds: readonly FeedView[]): Markup {
  return html`<table class="stacking">
<thead><tr><th scope="col">Feed</th><th scope="col">Condition</th><th scope="col">Due</th><th scope="col">Next</th>
<th scope="col">Last outcome</th><th scope="col">Last run</th></tr></thead>
<tbody>
${feeds.map(feedLine)}
</tbody>
</table>`;
}

function feedLine(view: FeedView): Markup {
  const { feed, schedule, lastRun } = view;
  return html`<tr><th scope="row"><bdi>${feed}</bdi></th>
<td data-label="Condition"><span>${condition(view)}</span></td>
<td data-label="Due">${scheduleCell(schedule)}</td>
<td data-label="Next"><span>${dueCell(schedule)}</span></td>
<td data-label="Last outcome"><span>${outcomeCell(schedule)}</span></td>
<td data-label="Last run"><span>${lastRun === null ? '–' : html`${runLink(lastRun)} ${statePill(lastRun.state)}`}</span></td></tr>
`;
}

function condition({ troubles, sinceMs }: FeedView): Markup {
  if (troubles.length === 0) return html`<span class="pill good">good</span>`;
  const words = troubles.map((trouble) => troubleWords[trouble]).join(', ');
  return html`<span class="pill bad">${words}</span> <span class="dim">since ${moment(sinceMs)}</span>`;
}

function scheduleCell(schedule: ScheduleView | null): string {
  return schedule === null ? '–' : describeRule(schedule.record.rule);
}

function dueCell(schedule: ScheduleView | null): Markup {
  const pausedAtMs = schedule?.record.pausedAtMs ?? null;
  if (pausedAtMs === null) return moment(schedule?.record.dueAtMs ?? null);
  return html`<span class="pill attention">paused</span> <span class="dim">since ${moment(pausedAtMs)}</span>`;
}

function outcomeCell(schedule: ScheduleView | null): Markup {
  const tick = schedule?.lastTick ?? null;
  if (tick === null || tick.outcome === null) return html`–`;
  const code = tick.outcome === 'failed' && tick.code !== null ? html` <code>${tick.code}</code>` : '';
  return html`${outcomeWords[tick.outcome]}${code} <span class="dim">${moment(tick.endedAtMs)}</span>`;
}

function snapshotLine(record: SnapshotRecord | null): Markup {
  if (record === null) return html`none yet`;
  const { added, removed, changedNumbers, changed } = record;
  const changes = changed
    ? `${count(added)} added, ${count(removed)} removed, ${count(changedNumbers)} changed`
    : 'nothing changed';
  return html`${counted(record.count, 'number', 'numbers')} <span class="dim">${moment(record.takenAtMs)}</span>, ${changes}`;
}

/** The page and its JSON twin show at most this many feeds, unhealthy ones first. */
export const feedsShownMax = 200;

interface ScheduleView {
  readonly record: ScheduleRecord;
  /** The newest one that has ended; null before the first. */
  readonly lastTick: TickRecord | null;
}

interface FeedView {
  readonly feed: string;
  readonly schedule: ScheduleView | null;
  /** Empty: good. */
  readonly troubles: readonly FeedTrouble[];
  readonly sinceMs: number | null;
  readonly lastRun: RunRecord | null;
}

interface FeedsView {
  /** By name: whatever has a schedule, a condition or a run. */
  readonly feeds: readonly FeedView[];
  /** How many there are besides, all of them good unless only bad ones are shown. */
  readonly feedsLeftOut: number;
  readonly phoneNumbers: { readonly schedule: ScheduleView | null; readonly latest: SnapshotRecord | null };
}

/** Throws what the ledger throws. */
export async function readFeeds({ ledger }: DashboardParts): Promise<FeedsView> {
  const schedules = new Map((await ledger.schedules.list()).map((one) => [one.name, one]));
  const conditions = new Map((await ledger.deliveries.conditions()).map((one) => [one.feed, one]));
  const withRuns = (await ledger.deliveries.standings()).map(({ feed }) => feed);
  const viewSchedule = async (name: string): Promise<ScheduleView | null> => {
    const record = schedules.get(name);
    if (record === undefined) return null;
    return { record, lastTick: await ledger.schedules.lastEnded(name, tellingOutcomes) };
  };
  const names = [...new Set([...schedules.keys(), ...conditions.keys(), ...withRuns])]
    .filter((name) => name !== phoneNumbersSchedule)
    .sort();
  const feeds: FeedView[] = [];
  const isBad = (name: string): boolean => (conditions.get(name)?.troubles.length ?? 0) > 0;
  const bad = names.filter(isBad).slice(0, feedsShownMax);
  const good = names.filter((name) => !isBad(name)).slice(0, feedsShownMax - bad.length);
  for (const feed of [...bad, ...good].sort()) {
    const condition = conditions.get(feed);
    const [lastRun = null] = await ledger.runs.list({ feed, limit: 1 });
    feeds.push({
      feed,
      schedule: await viewSchedule(feed),
      troubles: condition?.troubles ?? [],
      sinceMs: condition?.sinceMs ?? null,
      lastRun,
    });
  }
  const latest = await ledger.snapshots.at(workspaceSeries);
  return {
    feeds,
    feedsLeftOut: names.length - feeds.length,
    phoneNumbers: { schedule: await viewSchedule(phoneNumbersSchedule), latest },
  };
}

/** `{feeds: […], phoneNumbers: {schedule, latest}}`; instants in ISO 8601. */
export function feedsJson({ feeds, phoneNumbers }: FeedsView): object {
  return {
    feeds: feeds.map(({ feed, schedule, troubles, sinceMs, lastRun }) => ({
      feed,
      schedule: scheduleJson(schedule),
      troubles,
      since: troubles.length === 0 ? null : instant(sinceMs),
      lastRun: lastRun === null ? null : { run: lastRun.id, state: lastRun.state },
    })),
    phoneNumbers: { schedule: scheduleJson(phoneNumbers.schedule), latest: snapshotJson(phoneNumbers.latest) },
  };
}

function scheduleJson(view: ScheduleView | null): object | null {
  if (view === null) return null;
  const { record, lastTick } = view;
  return {
    words: describeRule(record.rule),
    due: instant(record.dueAtMs),
    paused: instant(record.pausedAtMs),
    last:
      lastTick === null
        ? null
        : { outcome: lastTick.outcome, code: lastTick.code, runs: lastTick.runIds, at: instant(lastTick.endedAtMs) },
  };
}

function snapshotJson(record: SnapshotRecord | null): object | null {
  if (record === null) return null;
  const { takenAtMs, count, pages, changed, added, removed, changedNumbers } = record;
  return { takenAt: isoInstant(takenAtMs), count, pages, changed, added, removed, changedNumbers };
}

function instant(ms: number | null): string | null {
  return ms === null ? null : isoInstant(ms);
}
