/**
 * Checks all feeds, and reports each one that becomes unhealthy or recovers: with a log line, and with a delivery to each addressee that is
 * set (`docs/rules.md`, "Schedules").
 *
 * An outage of the service concerns every feed. It is reported once, under the name of the feed `main`: twenty feeds cause one
 * notice, not twenty.
 *
 * Invariant: condition and delivery are entered in one transaction, so that each change is reported exactly once.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Moment } from '#src/clock.ts';
import { messageOf } from '#src/errors.ts';
import {
  type FeedCondition,
  type KnownFeedCondition,
  type NewDelivery,
  newDeliveryId,
  type ReportedFile,
  type TroubleCause,
} from '#src/ledger/deliveries.ts';
import type { Ledger, Pause } from '#src/ledger/port.ts';
import {
  type AwaitedFrom,
  type FeedStanding,
  fileAwaitedSinceMs,
  instantsAhead,
  mainFeed,
} from '#src/ledger/rules/feeds.ts';
import { waitsForHost } from '#src/ledger/rules/hosts.ts';
import { activeRunStates, type RunRecord } from '#src/ledger/runs.ts';
import { type ScheduleRecord, type TickRecord, tellingOutcomes } from '#src/ledger/schedules.ts';
import { isLedgerTrouble } from '#src/ledger/trouble.ts';
import type { Logger } from '#src/log.ts';
import { overdueAfterMs } from '#src/schedules/start-schedules.ts';
import {
  causesOf,
  changeOf,
  type Expectation,
  type FeedFacts,
  type FileOnHost,
  heldNotice,
  isCancelled,
  isUnwatched,
  missedSinceMs,
  noticeOf,
  type TickFacts,
  type Trouble,
  troublesOf,
} from './feed-condition.ts';

/** The feed under whose name an outage is reported. */
const outageFeed = mainFeed;
/** After a start, waiting files must be found first, and missed ticks caught up. */
const settlingMs = 60_000;
/** A tick that has been open for longer does not excuse a missing file. */
const tickAtWorkMaxMs = 7_200_000;

export interface NoticeWatchParts {
  readonly ledger: Pick<Ledger, 'deliveries' | 'schedules' | 'runs' | 'pause' | 'nowMs'> & {
    readonly contacts: Pick<Ledger['contacts'], 'heldCount'>;
  };
  readonly clock: Moment;
  readonly log: Logger;
  /** `config.feeds`: what is expected of each. */
  readonly feeds: Readonly<Record<string, { readonly expectEveryMs: number | null }>>;
  /** Whether a feed is configured or has a folder, on any host, at this instant; null where that cannot be seen. */
  readonly exists: (feed: string) => boolean | null;
  /** Whether this process makes schedules due: the engine of `start` does. */
  readonly runsSchedules: boolean;
  /** The deliveries of a notice, one for each addressee. */
  readonly addressed: (notice: NewDelivery) => readonly NewDelivery[];
  /** `config.notify`. */
  readonly notify: { readonly outageAfterMs: number };
  /** Ids of hosts that are away. */
  readonly hostsAway: () => Promise<readonly string[]>;
  /** The name of a host. */
  readonly hostNameOf: (id: string) => string;
  /** What to do next about a tick that failed; null where nothing is known. */
  readonly hintOf: (tick: TickRecord) => string | null;
}

export interface NoticeWatch {
  /** One check, behind those that were asked for before: at each sweep, and once more before an engine ends. Never rejects: the next check sees what this one missed. */
  look(): Promise<void>;
}

interface WatchParts extends NoticeWatchParts {
  /** At how many looks in a row of this process the folder of a feed was not there. */
  readonly awayLooks: Map<string, number>;
}

export function startNoticeWatch(given: NoticeWatchParts): NoticeWatch {
  const parts: WatchParts = { ...given, awayLooks: new Map() };
  const startedMonotonicMs = parts.clock.monotonicMs();
  let failing = false;
  const lookOnce = async (): Promise<void> => {
    try {
      await look(parts, startedMonotonicMs);
      failing = false;
    } catch (error) {
      // The engine reports failures of the ledger, once.
      if (!isLedgerTrouble(error) && !failing) parts.log.error({ reason: messageOf(error) }, 'feeds not checked');
      failing = true;
    }
  };
  /** Two at the same time would report a change twice. */
  let last = Promise.resolve();
  return {
    look: () => {
      last = last.then(lookOnce);
      return last;
    },
  };
}

/** What one check reads from the ledger, except for the ticks of each schedule. */
interface Seen {
  readonly nowMs: number;
  readonly settled: boolean;
  readonly pause: Pause | null;
  readonly standings: ReadonlyMap<string, FeedStanding>;
  readonly conditions: ReadonlyMap<string, KnownFeedCondition>;
  readonly schedules: ReadonlyMap<string, ScheduleRecord>;
  readonly filesAway: ReadonlyMap<string, FileOnHost>;
  /** Names of schedules with a tick that waits or runs. */
  readonly atWork: ReadonlySet<string>;
}

async function look(parts: WatchParts, startedMonotonicMs: number): Promise<void> {
  const { ledger, clock } = parts;
  const nowMs = clock.nowMs();
  const isFresh = ({ startedAtMs, dueAtMs }: TickRecord) => nowMs - (startedAtMs ?? dueAtMs) < tickAtWorkMaxMs;
  const schedules = await ledger.schedules.list();
  const away = await parts.hostsAway();
  const seen: Seen = {
    nowMs,
    settled: clock.monotonicMs() - startedMonotonicMs >= settlingMs,
    pause: await ledger.pause(),
    standings: new Map((await ledger.deliveries.standings(away)).map((one) => [one.feed, one])),
    conditions: new Map((await ledger.deliveries.conditions()).map((one) => [one.feed, one])),
    schedules: new Map(schedules.map((one) => [one.name, one])),
    filesAway: await filesOn(ledger, away, parts.hostNameOf),
    atWork: new Set((await ledger.schedules.openTicks()).filter(isFresh).map((tick) => tick.schedule)),
  };
  const names = [
    outageFeed,
    ...seen.filesAway.keys(),
    ...seen.standings.keys(),
    ...seen.schedules.keys(),
    ...Object.keys(parts.feeds),
  ];
  for (const feed of new Set([...names, ...seen.conditions.keys()])) {
    await lookAtHeld(parts, seen, feed, await lookAt(parts, seen, feed));
    const isGone = !names.includes(feed) && seen.conditions.get(feed)?.troubles.length === 0;
    if (isGone) await ledger.deliveries.forgetCondition(feed);
  }
}

/** @returns what is recorded of the feed now; undefined where nothing is. */
async function lookAt(parts: WatchParts, seen: Seen, feed: string): Promise<FeedCondition | undefined> {
  const { ledger, log } = parts;
  const { nowMs } = seen;
  const { known: present, exists } = await presenceOf(parts, seen, feed);
  const known = await withAhead(parts, seen, feed, present);
  const facts = await factsOf(parts, seen, feed, { known, exists });
  const now = troublesOf(facts, nowMs);
  const troubles = now.map(({ trouble }) => trouble);
  const change = changeOf(facts.reported, now);
  const heldFields = known?.heldFields ?? 0;
  const causes = causesOf(facts, nowMs);
  const failedFile = failedFileOf(facts, now);
  if (change === null) {
    if (known !== undefined) return await withCauses(ledger, known, causes, failedFile);
    // Records since when a first file is expected.
    if (facts.expected.length === 0) return known;
    const first = { feed, troubles, sinceMs: nowMs };
    await ledger.deliveries.setCondition(first, []);
    return first;
  }
  const badSinceMs = facts.reported.length === 0 ? nowMs : (known?.sinceMs ?? nowMs);
  const sinceMs = change.kind === 'recovered' ? nowMs : badSinceMs;
  const begunMs = Object.fromEntries(
    troubles.map((trouble) => {
      const isKnown = known !== undefined && facts.reported.includes(trouble);
      const beganMs = trouble === 'missed' ? (missedSinceMs(facts, nowMs) ?? nowMs) : nowMs;
      return [trouble, isKnown ? (known.begunMs?.[trouble] ?? known.sinceMs) : beganMs];
    }),
  );
  const ofWhat = causes.length === 0 ? {} : { causes };
  const condition = {
    ...{ feed, troubles, sinceMs },
    ...(troubles.length === 0 ? {} : { begunMs }),
    ...ofWhat,
    ...(failedFile === null ? {} : { failedFile }),
    ...(known?.awaySinceMs !== undefined && troubles.includes('failed') ? { awaySinceMs: known.awaySinceMs } : {}),
    ...(known?.ahead === undefined ? {} : { ahead: known.ahead }),
    ...(heldFields === 0 ? {} : { heldFields }),
  };
  if (change.kind === 'eased') {
    await ledger.deliveries.setCondition(condition, []);
    return condition;
  }
  const unwatched = change.kind === 'recovered' && isUnwatched(facts, change.ended);
  const cancelled = change.kind === 'recovered' && isCancelled(facts, change.ended);
  const end = { unwatched, cancelled };
  const notice = noticeOf({ id: newDeliveryId(), feed, change, troubles: now, badSinceMs, ...end, atMs: nowMs });
  await ledger.deliveries.setCondition(condition, parts.addressed(notice));
  if (change.kind === 'recovered') {
    log.info({ feed, troubles: change.ended, run: facts.standing?.last?.id }, endWords(end));
    return condition;
  }
  const run = change.began.find(({ runId }) => runId !== null)?.runId ?? undefined;
  const code = change.began.find((one) => one.code !== null)?.code ?? undefined;
  log.warn({ feed, troubles, run, code }, 'feed became unhealthy');
  return condition;
}

/** The failed file of `main` that people know of, now that this is reported. */
function failedFileOf({ standing, failedFile }: FeedFacts, now: readonly Trouble[]): ReportedFile | null {
  const run = standing?.failed?.id;
  if (standing === null || run === undefined || failedFile?.run === run) return failedFile;
  const isReported = now.some((one) => one.trouble === 'failed' && one.runId === run);
  return isReported ? { run, newestSequence: standing.newestSequence } : failedFile;
}

/** The same troubles may be of something else now. */
async function withCauses(
  { deliveries }: NoticeWatchParts['ledger'],
  known: FeedCondition,
  causes: readonly TroubleCause[],
  failedFile: ReportedFile | null,
): Promise<FeedCondition> {
  if (isDeepStrictEqual(known.causes ?? [], causes) && isDeepStrictEqual(known.failedFile ?? null, failedFile))
    return known;
  const condition = { ...known, causes, ...(failedFile === null ? {} : { failedFile }) };
  await deliveries.setCondition(condition, []);
  return condition;
}

function endWords({ unwatched, cancelled }: { readonly unwatched: boolean; readonly cancelled: boolean }): string {
  if (unwatched) return 'feed no longer watched for this: it was removed from the configuration';
  return cancelled ? 'feed as before its stopped run: that was cancelled' : 'feed recovered';
}

/** Held fields make no feed unhealthy, but wait for a person: reported when they begin, and again after all of them were decided. */
async function lookAtHeld(
  { ledger, log, addressed }: NoticeWatchParts,
  { nowMs, standings }: Seen,
  feed: string,
  condition: FeedCondition | undefined,
): Promise<void> {
  // While its file is at work the count is on its way.
  const standing = standings.get(feed);
  if (standing === undefined || standing.atWork) return;
  const heldFields = await ledger.contacts.heldCount({ feed });
  const reported = condition?.heldFields ?? 0;
  if (heldFields === 0 ? reported === 0 : reported > 0) return;
  const kept = condition ?? { feed, troubles: [], sinceMs: nowMs };
  const notice = heldNotice({ id: newDeliveryId(), feed, fields: heldFields, atMs: nowMs });
  await ledger.deliveries.setCondition({ ...kept, heldFields }, heldFields === 0 ? [] : addressed(notice));
  if (heldFields > 0) log.info({ feed, fields: heldFields }, 'held fields wait for a decision');
}

async function factsOf(
  parts: NoticeWatchParts,
  seen: Seen,
  feed: string,
  { known, exists }: Presence,
): Promise<FeedFacts> {
  const { pause, standings, schedules } = seen;
  const standing = standings.get(feed) ?? null;
  const schedule = schedules.get(feed) ?? null;
  const { outageAfterMs } = parts.notify;
  return {
    feed,
    exists,
    reported: known?.troubles ?? [],
    causes: known?.causes ?? null,
    goodSinceMs: known === undefined || known.troubles.length > 0 ? null : known.sinceMs,
    failedFile: known?.failedFile ?? null,
    standing,
    tick: schedule === null ? null : await tickFacts(parts, feed),
    onHostAway: seen.filesAway.get(feed) ?? null,
    expected: [...fileExpected(parts, seen, feed, known), ...tickExpected(parts, seen, feed)],
    outage:
      feed !== outageFeed || pause === null
        ? null
        : { code: pause.errorCode ?? pause.code, sinceMs: pause.sinceMs, outageAfterMs },
  };
}

async function tickFacts({ ledger: { schedules }, hintOf }: NoticeWatchParts, feed: string): Promise<TickFacts | null> {
  const last = await schedules.lastEnded(feed, tellingOutcomes);
  if (last !== null) {
    const failed = last.outcome === 'failed';
    const why = failed ? { why: { message: last.plainMessage ?? null, hint: hintOf(last) } } : {};
    return { failed, code: last.code, ...why };
  }
  const [newest] = await schedules.ticks(feed, 1);
  return newest?.outcome === 'skipped' ? { failed: null, code: null } : null;
}

function expectedEveryMs({ feeds }: Pick<NoticeWatchParts, 'feeds'>, feed: string): number | null {
  return (Object.hasOwn(feeds, feed) ? feeds[feed]?.expectEveryMs : null) ?? null;
}

function awaitedFrom({ standings, schedules, nowMs }: Seen, feed: string, known: Presence['known']): AwaitedFrom {
  return {
    standing: standings.get(feed) ?? null,
    schedule: schedules.get(feed) ?? null,
    knownSinceMs: known?.knownSinceMs ?? nowMs,
  };
}

/** `expectEvery`: an accepted file. */
function fileExpected(
  parts: NoticeWatchParts,
  seen: Seen,
  feed: string,
  known: Presence['known'],
): readonly Expectation[] {
  const everyMs = expectedEveryMs(parts, feed);
  if (everyMs === null) return [];
  const { nowMs } = seen;
  const awaited = awaitedFrom(seen, feed, known);
  const sinceMs = fileAwaitedSinceMs(awaited, known?.ahead);
  const standing = seen.standings.get(feed) ?? null;
  const isIdle = !seen.atWork.has(feed) && standing?.atWork !== true;
  const canBeJudged = seen.settled && sinceMs !== null && isIdle;
  return [{ of: 'missedFile', everyMs, fromMs: sinceMs ?? nowMs, canBeJudged }];
}

/** A tick at the schedule's due time. */
function tickExpected({ runsSchedules }: NoticeWatchParts, seen: Seen, feed: string): readonly Expectation[] {
  const schedule = seen.schedules.get(feed);
  if (schedule === undefined || schedule.rule === null || schedule.dueAtMs === null) return [];
  const canBeJudged = seen.settled && runsSchedules && schedule.pausedAtMs === null;
  return [{ of: 'missedTick', everyMs: overdueAfterMs, fromMs: schedule.dueAtMs, canBeJudged }];
}

const filesAwayMax = 100;

/**
 * Of the files that only a host which is away can read, or whose runs only it can end, the oldest of each feed: one that is unread, before
 * one that lacks its end alone.
 * @param away ids of hosts. @param nameOf the name of a host.
 */
async function filesOn(
  { runs }: Pick<Ledger, 'runs'>,
  away: readonly string[],
  nameOf: (host: string) => string,
): Promise<ReadonlyMap<string, FileOnHost>> {
  if (away.length === 0) return new Map();
  const active = await runs.list({ states: activeRunStates, hosts: away, limit: filesAwayMax });
  const waiting = active.filter((run) => waitsForHost(run, away));
  const isUnread = ({ state }: RunRecord): boolean => state === 'queued' || state === 'staging';
  // The newest come first: of each feed the last one stays.
  return new Map(
    [...waiting.filter((run) => !isUnread(run)), ...waiting.filter(isUnread)].map(({ id, feed, fileName, host }) => [
      feed,
      { runId: id, file: fileName, host: nameOf(host ?? '') },
    ]),
  );
}

/**
 * A feed is gone whose folder was not there at any look for `goneAfter.ms`, by the ledger's clock. An engine that stays must have looked several
 * times, too, so that a start before all shares are there ends nothing; of commands that end in a moment, each sees what the one before saw.
 */
export const goneAfter = { looks: 20, ms: 600_000 } as const;

/** Whether a feed is there, as far as it can be judged; and what is recorded of it by then. */
interface Presence {
  readonly known: KnownFeedCondition | undefined;
  readonly exists: boolean | null;
}

/**
 * Whether a feed is there: its folder may be away for a moment, as that of a share that is mounted again, or one that a tool makes anew each
 * night. Only a file that failed is given up for that, so that of other feeds nothing is recorded.
 */
async function presenceOf(
  { ledger, clock, exists, runsSchedules, awayLooks }: WatchParts,
  { conditions }: Seen,
  feed: string,
): Promise<Presence> {
  const known = conditions.get(feed);
  const isThere = exists(feed);
  if (isThere !== false || known?.troubles.includes('failed') !== true) {
    awayLooks.delete(feed);
    return { known: await withAbsence(ledger, known, undefined), exists: isThere };
  }
  const looks = (awayLooks.get(feed) ?? 0) + 1;
  awayLooks.set(feed, looks);
  const nowMs = await ledger.nowMs(clock);
  const awaySinceMs = known.awaySinceMs ?? nowMs;
  const isGone = nowMs - awaySinceMs >= goneAfter.ms && (!runsSchedules || looks >= goneAfter.looks);
  return { known: await withAbsence(ledger, known, awaySinceMs), exists: isGone ? false : null };
}

async function withAbsence(
  { deliveries }: NoticeWatchParts['ledger'],
  known: KnownFeedCondition | undefined,
  awaySinceMs: number | undefined,
): Promise<KnownFeedCondition | undefined> {
  if (known === undefined || known.awaySinceMs === awaySinceMs) return known;
  const { awaySinceMs: _, ...others } = known;
  const condition = { ...others, ...(awaySinceMs === undefined ? {} : { awaySinceMs }) };
  await deliveries.setCondition(condition, []);
  return condition;
}

/** Records, for good, when it was seen that the clock had been ahead at something that the next file is waited for since. */
async function withAhead(
  parts: NoticeWatchParts,
  seen: Seen,
  feed: string,
  known: KnownFeedCondition | undefined,
): Promise<KnownFeedCondition | undefined> {
  if (known === undefined || expectedEveryMs(parts, feed) === null) return known;
  const ahead = instantsAhead(awaitedFrom(seen, feed, known), known.ahead, seen.nowMs);
  if (isDeepStrictEqual(ahead, known.ahead)) return known;
  const { ahead: _, ...others } = known;
  const condition = { ...others, ...(ahead === undefined ? {} : { ahead }) };
  await parts.ledger.deliveries.setCondition(condition, []);
  return condition;
}
