/**
 * Looks at all feeds, and tells where one went bad or is good again: a log line, and a delivery where a webhook is set
 * (`rules.md`, "Schedules": a missing export is news).
 *
 * An outage is the service's and concerns every feed. It is told once, under the name of the feed `main`: twenty feeds
 * make one notice, not twenty.
 *
 * Invariant: condition and delivery are entered in one transaction, so that no change is told twice or never.
 */
import type { Clock } from '#src/clock.ts';
import { messageOf } from '#src/errors.ts';
import { type KnownFeedCondition, newDeliveryId } from '#src/ledger/deliveries.ts';
import type { Ledger, Pause } from '#src/ledger/port.ts';
import { type FeedStanding, mainFeed } from '#src/ledger/rules/feeds.ts';
import { type ScheduleRecord, type TickRecord, tellingOutcomes } from '#src/ledger/schedules.ts';
import { isLedgerTrouble } from '#src/ledger/sqlite/damage.ts';
import type { Logger } from '#src/log.ts';
import { overdueAfterMs } from '#src/schedules/start-schedules.ts';
import { changeOf, type Expectation, type FeedFacts, noticeOf, type TickFacts, troublesOf } from './feed-condition.ts';

/** The feed under whose name an outage is told. */
const outageFeed = mainFeed;
/** After a start, files that lie there have to be seen first, and missed ticks caught up. */
const settlingMs = 60_000;
/** A tick that is older has stopped too, and excuses nothing. */
const tickAtWorkMaxMs = 7_200_000;

export interface NoticeWatchParts {
  readonly ledger: Pick<Ledger, 'deliveries' | 'schedules' | 'pause'>;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly log: Logger;
  /** `config.feeds`: what is expected of each. */
  readonly feeds: Readonly<Record<string, { readonly expectEveryMs: number | null }>>;
  /** Whether this process makes schedules due: the engine of `start` does. */
  readonly runsSchedules: boolean;
  /** `config.notify`. */
  readonly notify: { readonly url: string | null; readonly outageAfterMs: number };
}

export interface NoticeWatch {
  /** Looks once; for each sweep, and once more before an engine ends. Never rejects: the next look sees what this one did not. */
  look(): Promise<void>;
}

export function startNoticeWatch(parts: NoticeWatchParts): NoticeWatch {
  const startedMonotonicMs = parts.clock.monotonicMs();
  let failing = false;
  return {
    look: async () => {
      try {
        await look(parts, startedMonotonicMs);
        failing = false;
      } catch (error) {
        // Trouble of the ledger is told once, by the engine.
        if (!isLedgerTrouble(error) && !failing) parts.log.error({ reason: messageOf(error) }, 'feeds not looked at');
        failing = true;
      }
    },
  };
}

/** What one look reads of the ledger; the ticks of each schedule come besides. */
interface Seen {
  readonly nowMs: number;
  readonly settled: boolean;
  readonly pause: Pause | null;
  readonly standings: ReadonlyMap<string, FeedStanding>;
  readonly conditions: ReadonlyMap<string, KnownFeedCondition>;
  readonly schedules: ReadonlyMap<string, ScheduleRecord>;
  /** Names of schedules with a tick that waits or is at work. */
  readonly atWork: ReadonlySet<string>;
}

async function look(parts: NoticeWatchParts, startedMonotonicMs: number): Promise<void> {
  const { ledger, clock } = parts;
  const nowMs = clock.nowMs();
  const isFresh = ({ startedAtMs, dueAtMs }: TickRecord) => nowMs - (startedAtMs ?? dueAtMs) < tickAtWorkMaxMs;
  const schedules = await ledger.schedules.list();
  const seen: Seen = {
    nowMs,
    settled: clock.monotonicMs() - startedMonotonicMs >= settlingMs,
    pause: await ledger.pause(),
    standings: new Map((await ledger.deliveries.standings()).map((one) => [one.feed, one])),
    conditions: new Map((await ledger.deliveries.conditions()).map((one) => [one.feed, one])),
    schedules: new Map(schedules.map((one) => [one.name, one])),
    atWork: new Set((await ledger.schedules.openTicks()).filter(isFresh).map((tick) => tick.schedule)),
  };
  const names = [outageFeed, ...seen.standings.keys(), ...seen.schedules.keys(), ...Object.keys(parts.feeds)];
  for (const feed of new Set([...names, ...seen.conditions.keys()])) {
    await lookAt(parts, seen, feed);
    const isGone = !names.includes(feed) && seen.conditions.get(feed)?.troubles.length === 0;
    if (isGone) await ledger.deliveries.forgetCondition(feed);
  }
}

async function lookAt(parts: NoticeWatchParts, seen: Seen, feed: string): Promise<void> {
  const { ledger, log, notify } = parts;
  const { nowMs } = seen;
  const known = seen.conditions.get(feed);
  const facts = await factsOf(parts, seen, feed);
  const now = troublesOf(facts, nowMs);
  const troubles = now.map(({ trouble }) => trouble);
  const change = changeOf(facts.told, now);
  if (change === null) {
    // Entered so that it is known from when on a first file was waited for.
    if (known === undefined && facts.expected.length > 0) {
      await ledger.deliveries.setCondition({ feed, troubles, sinceMs: nowMs }, []);
    }
    return;
  }
  const badSinceMs = facts.told.length === 0 ? nowMs : (known?.sinceMs ?? nowMs);
  const condition = { feed, troubles, sinceMs: change.kind === 'recovered' ? nowMs : badSinceMs };
  if (change.kind === 'eased') {
    await ledger.deliveries.setCondition(condition, []);
    return;
  }
  const notice = noticeOf({ id: newDeliveryId(), feed, change, troubles: now, badSinceMs, atMs: nowMs });
  await ledger.deliveries.setCondition(condition, notify.url === null ? [] : [notice]);
  if (change.kind === 'recovered') {
    log.info({ feed, troubles: change.ended, run: facts.standing?.last?.id }, 'feed is good again');
    return;
  }
  const run = change.began.find(({ runId }) => runId !== null)?.runId ?? undefined;
  const code = change.began.find((one) => one.code !== null)?.code ?? undefined;
  log.warn({ feed, troubles, run, code }, 'feed went bad');
}

async function factsOf(parts: NoticeWatchParts, seen: Seen, feed: string): Promise<FeedFacts> {
  const { pause, standings, conditions, schedules } = seen;
  const standing = standings.get(feed) ?? null;
  const schedule = schedules.get(feed) ?? null;
  const { outageAfterMs } = parts.notify;
  return {
    feed,
    told: conditions.get(feed)?.troubles ?? [],
    standing,
    tick: schedule === null ? null : await tickFacts(parts, feed),
    expected: [...fileExpected(parts, seen, feed), ...tickExpected(parts, seen, feed)],
    outage:
      feed !== outageFeed || pause === null
        ? null
        : { code: pause.errorCode ?? pause.code, sinceMs: pause.sinceMs, outageAfterMs },
  };
}

async function tickFacts({ ledger: { schedules } }: NoticeWatchParts, feed: string): Promise<TickFacts | null> {
  const last = await schedules.lastEnded(feed, tellingOutcomes);
  if (last !== null) return { failed: last.outcome === 'failed', code: last.code };
  const [newest] = await schedules.ticks(feed, 1);
  return newest?.outcome === 'skipped' ? { failed: null, code: null } : null;
}

/** `expectEvery`: a file that is accepted. */
function fileExpected(parts: NoticeWatchParts, seen: Seen, feed: string): readonly Expectation[] {
  const everyMs = (Object.hasOwn(parts.feeds, feed) ? parts.feeds[feed]?.expectEveryMs : null) ?? null;
  if (everyMs === null) return [];
  const { conditions, nowMs } = seen;
  const standing = seen.standings.get(feed);
  const schedule = seen.schedules.get(feed);
  // Without an accepted file it is waited for since there was a reason to.
  const noneYet = [standing?.createdAtMs, schedule?.createdAtMs, conditions.get(feed)?.knownSinceMs ?? nowMs];
  const acceptedAtMs = standing?.acceptedAtMs ?? Math.max(...noneYet.map((moment) => moment ?? 0));
  const isPaused = schedule !== undefined && schedule.pausedAtMs !== null;
  return [
    {
      everyMs,
      fromMs: Math.max(acceptedAtMs, schedule?.resumedAtMs ?? 0),
      canBeJudged: seen.settled && !isPaused && !seen.atWork.has(feed) && standing?.atWork !== true,
    },
  ];
}

/** A tick when the schedule is due. */
function tickExpected({ runsSchedules }: NoticeWatchParts, seen: Seen, feed: string): readonly Expectation[] {
  const schedule = seen.schedules.get(feed);
  if (schedule === undefined || schedule.rule === null || schedule.dueAtMs === null) return [];
  const canBeJudged = seen.settled && runsSchedules && schedule.pausedAtMs === null;
  return [{ everyMs: overdueAfterMs, fromMs: schedule.dueAtMs, canBeJudged }];
}
