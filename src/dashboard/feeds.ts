/** What the page of feeds shows, gathered from the ledger, and its JSON twin. */
import { isoInstant } from '#src/clock.ts';
import type { FeedTrouble } from '#src/ledger/deliveries.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { phoneNumbersSchedule, type ScheduleRecord, type TickRecord, tellingOutcomes } from '#src/ledger/schedules.ts';
import { type SnapshotRecord, workspaceSeries } from '#src/ledger/snapshots.ts';
import { describeRule } from '#src/schedules/describe-rule.ts';
import type { DashboardParts } from './parts.ts';

/** At most so many feeds stand on the page and in its twin; bad ones before good ones. */
export const feedsShownMax = 200;

export interface ScheduleView {
  readonly record: ScheduleRecord;
  /** The newest one that has ended; null before the first. */
  readonly lastTick: TickRecord | null;
}

export interface FeedView {
  readonly feed: string;
  readonly schedule: ScheduleView | null;
  /** Empty: good. */
  readonly troubles: readonly FeedTrouble[];
  readonly sinceMs: number | null;
  readonly lastRun: RunRecord | null;
}

export interface FeedsView {
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
  const latest = await ledger.snapshots.latest(workspaceSeries);
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
