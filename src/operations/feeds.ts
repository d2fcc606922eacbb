/** The feeds: condition, schedule and last run of each; and the snapshots of the phone numbers. */
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import type { FeedTrouble } from '#src/ledger/deliveries.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { phoneNumbersSchedule, type ScheduleRecord, type TickRecord, tellingOutcomes } from '#src/ledger/schedules.ts';
import { type SnapshotRecord, workspaceSeries } from '#src/ledger/snapshots.ts';
import { describeRule } from '#src/schedules/describe-rule.ts';

/** Feeds that are returned at most; bad ones before good ones. */
export const feedsShownMax = 200;

export interface FeedSchedule {
  readonly record: ScheduleRecord;
  /** The newest one that has ended; null before the first. */
  readonly lastTick: TickRecord | null;
}

export interface FeedView {
  readonly feed: string;
  readonly schedule: FeedSchedule | null;
  /** Empty: good. */
  readonly troubles: readonly FeedTrouble[];
  readonly sinceMs: number | null;
  readonly lastRun: RunRecord | null;
}

export interface FeedsView {
  /** Each feed that has a schedule, a condition or a run; by name. */
  readonly feeds: readonly FeedView[];
  /** How many there are beyond these; all of them good, unless only bad ones are returned. */
  readonly feedsLeftOut: number;
  readonly phoneNumbers: { readonly schedule: FeedSchedule | null; readonly latest: SnapshotRecord | null };
}

export async function listFeeds({ ledger }: Pick<Home, 'ledger'>): Promise<FeedsView> {
  const schedules = new Map((await ledger.schedules.list()).map((one) => [one.name, one]));
  const conditions = new Map((await ledger.deliveries.conditions()).map((one) => [one.feed, one]));
  const withRuns = (await ledger.deliveries.standings()).map(({ feed }) => feed);
  const viewSchedule = async (name: string): Promise<FeedSchedule | null> => {
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

/** The JSON twin of the page of feeds: `{feeds: […], phoneNumbers: {schedule, latest}}`; instants in ISO 8601. */
export function feedsDocument({ feeds, phoneNumbers }: FeedsView): object {
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

function scheduleJson(view: FeedSchedule | null): object | null {
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
