/** The feeds: condition, schedule and last run of each; and the snapshots of the phone numbers. */
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import { type FeedCondition, type FeedTrouble, troublesSinceMs } from '#src/ledger/deliveries.ts';
import type { FeedStanding, LastRun } from '#src/ledger/rules/feeds.ts';
import { phoneNumbersSchedule } from '#src/ledger/schedules.ts';
import { type SnapshotRecord, workspaceSeries } from '#src/ledger/snapshots.ts';
import { snapshotDocument } from './numbers.ts';
import { listRuns, type RunHome, type RunView } from './runs.ts';
import { listSchedules, type ScheduleView, scheduleDocument } from './schedules.ts';

/** Feeds that are returned at most; bad ones before good ones. */
export const feedsShownMax = 200;

export interface FeedView {
  readonly feed: string;
  readonly schedule: ScheduleView | null;
  /** Empty: good. */
  readonly troubles: readonly FeedTrouble[];
  readonly sinceMs: number | null;
  /** The run that a trouble is about, where it is about one. */
  readonly troubleRuns: { readonly [Trouble in FeedTrouble]?: string };
  readonly lastRun: RunView | null;
}

export interface FeedsView {
  /** Each feed that has a schedule, a condition or a run; by name. */
  readonly feeds: readonly FeedView[];
  /** How many there are beyond these; all of them good, unless only bad ones are returned. */
  readonly feedsLeftOut: number;
  readonly phoneNumbers: { readonly schedule: ScheduleView | null; readonly latest: SnapshotRecord | null };
}

type FeedsHome = RunHome & Pick<Home, 'config' | 'folders'>;

export async function listFeeds(home: FeedsHome): Promise<FeedsView> {
  const { ledger } = home;
  const schedules = new Map((await listSchedules(home)).map((one) => [one.record.name, one]));
  const conditions = new Map((await ledger.deliveries.conditions()).map((one) => [one.feed, one]));
  const standings = new Map((await ledger.deliveries.standings()).map((one) => [one.feed, one]));
  const names = [...new Set([...schedules.keys(), ...conditions.keys(), ...standings.keys()])]
    .filter((name) => name !== phoneNumbersSchedule)
    .sort();
  const feeds: FeedView[] = [];
  const isBad = (name: string): boolean => (conditions.get(name)?.troubles.length ?? 0) > 0;
  const bad = names.filter(isBad).slice(0, feedsShownMax);
  const good = names.filter((name) => !isBad(name)).slice(0, feedsShownMax - bad.length);
  for (const feed of [...bad, ...good].sort()) {
    const condition = conditions.get(feed);
    const [lastRun = null] = await listRuns(home, { feed, limit: 1 });
    feeds.push({
      feed,
      schedule: schedules.get(feed) ?? null,
      troubles: condition?.troubles ?? [],
      sinceMs: condition === undefined ? null : troublesSinceMs(condition),
      troubleRuns: troubleRunsOf(condition, standings.get(feed)),
      lastRun,
    });
  }
  const latest = await ledger.snapshots.at(workspaceSeries);
  return {
    feeds,
    feedsLeftOut: names.length - feeds.length,
    phoneNumbers: { schedule: schedules.get(phoneNumbersSchedule) ?? null, latest },
  };
}

/** A file that failed, and not a tick of the schedule; a run that waits for a person; and one with rejected rows. */
function troubleRunsOf(
  condition: FeedCondition | undefined,
  standing: FeedStanding | undefined,
): FeedView['troubleRuns'] {
  if (condition === undefined || standing === undefined) return {};
  const { causes = ['failedFile'] } = condition;
  const { last, failed, stopped } = standing;
  const lastIn = (state: LastRun['state']): string | undefined => (last?.state === state ? last.id : undefined);
  const found = {
    failed: causes.includes('failedFile') ? (lastIn('failed') ?? failed?.id) : undefined,
    guard: lastIn('stopped') ?? stopped?.id,
    deadRows: lastIn('doneWithDead'),
  };
  return Object.fromEntries(Object.entries(found).filter(([, id]) => id !== undefined));
}

/**
 * The JSON twin of the page of feeds: `{feeds: […], phoneNumbers: {schedule, latest}}`. A schedule is that of `schedule ls --json`,
 * `lastRun` a run of `runs ls --json`, and `latest` a snapshot of `numbers snapshot --json`.
 */
export function feedsDocument(home: FeedsHome, { feeds, phoneNumbers }: FeedsView): object {
  const { schedule, latest } = phoneNumbers;
  const nowMs = home.clock.nowMs();
  return {
    feeds: feeds.map(({ feed, schedule, troubles, sinceMs, lastRun }) => ({
      feed,
      schedule: schedule === null ? null : scheduleOnPage(schedule, nowMs),
      troubles,
      since: troubles.length === 0 || sinceMs === null ? null : isoInstant(sinceMs),
      lastRun: lastRun?.summary ?? null,
    })),
    phoneNumbers: {
      schedule: schedule === null ? null : scheduleOnPage(schedule, nowMs),
      latest: latest === null ? null : snapshotDocument(home, latest),
    },
  };
}

/** `words`, `due` and `paused` are earlier names of `when`, `dueAt` and `pausedAt`. */
function scheduleOnPage(view: ScheduleView, nowMs: number): object {
  const document = scheduleDocument(view, nowMs);
  return { ...document, words: document.when, due: document.dueAt, paused: document.pausedAt };
}
