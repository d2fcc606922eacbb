/**
 * Whether a feed is healthy, whether that has changed, and the notice about it. Pure.
 *
 * Terms: a *trouble* is one reason why a feed is unhealthy. The troubles *reported* last are what the next check compares with:
 * one notice per change of state, not per run.
 *
 * Invariant: what cannot be judged at the moment stays as it was reported, so that a restart, a pause or a file in progress
 * causes no notice that is taken back a minute later.
 */

import { isoInstant } from '#src/clock.ts';
import {
  type FeedTrouble,
  type NewDelivery,
  type ReportedFile,
  type TroubleCause,
  troubleCauses,
} from '#src/ledger/deliveries.ts';
import type { FeedStanding } from '#src/ledger/rules/feeds.ts';

/** The order in which they are reported. */
const troubleOrder = [
  'outage',
  'hostAway',
  'failed',
  'guard',
  'deadRows',
  'missed',
] as const satisfies readonly FeedTrouble[];

export interface FeedFacts {
  readonly feed: string;
  /** Whether it is configured or has a folder: the file of any other feed comes no more. Null: that cannot be judged at the moment. */
  readonly exists: boolean | null;
  /** The troubles reported last. */
  readonly reported: readonly FeedTrouble[];
  /** What `failed` and `missed` among them are of; null where that was not recorded. */
  readonly causes: readonly TroubleCause[] | null;
  /** Since when there is none of them; null where nothing is recorded of the feed, or where one is reported. */
  readonly goodSinceMs: number | null;
  /** As `FeedCondition.failedFile`. */
  readonly failedFile: ReportedFile | null;
  /** Null: no file has arrived yet. */
  readonly standing: FeedStanding | null;
  /** Null: there is no schedule, or it has had no tick yet. */
  readonly tick: TickFacts | null;
  /** What should have happened by some time: a file, a tick. */
  readonly expected: readonly Expectation[];
  /** The pause of all work, or of writing; null for feeds under whose name it is not reported. */
  readonly outage: OutageFacts | null;
  /** Its oldest file that only a host can read that is away; null for most. */
  readonly onHostAway: FileOnHost | null;
}

/** The name of the file is for notices, and for no log line. */
export interface FileOnHost {
  readonly runId: string;
  readonly file: string;
  /** Its name. */
  readonly host: string;
}

/** The last tick of its schedule that ended and is conclusive: it was not skipped, and not for one user only. */
export interface TickFacts {
  /** Null: all recorded ticks were skipped. */
  readonly failed: boolean | null;
  readonly code: string | null;
  /** Of one that failed. */
  readonly why?: TickWhy;
}

/** For people; without words of the service, and of a bug. */
export interface TickWhy {
  /** What happened; null of a tick that an older version ended. */
  readonly message: string | null;
  /** What to do next. */
  readonly hint: string | null;
}

export interface Expectation {
  readonly of: 'missedFile' | 'missedTick';
  readonly everyMs: number;
  /** Since when it is expected. */
  readonly fromMs: number;
  /** False while it is paused or in progress, and shortly after a start. */
  readonly canBeJudged: boolean;
}

interface OutageFacts {
  readonly code: string;
  readonly sinceMs: number;
  /** A shorter one is not reported. */
  readonly outageAfterMs: number;
}

export interface Trouble {
  readonly trouble: FeedTrouble;
  readonly runId: string | null;
  readonly code: string | null;
  /** Rejected rows of that run; null if the trouble is another. */
  readonly deadCount: number | null;
  /** Of a file on a host that is away; null for every other trouble. */
  readonly onHost: Omit<FileOnHost, 'runId'> | null;
  /** Of a tick that failed; null for every other trouble. */
  readonly why: TickWhy | null;
}

/** The feed's troubles now, in the order of `troubleOrder`; each at most once. */
export function troublesOf(facts: FeedFacts, nowMs: number): readonly Trouble[] {
  const found = [
    outage(facts, nowMs),
    hostAway(facts),
    fileTrouble(facts),
    failedBeside(facts, nowMs),
    stoppedBehind(facts),
    failedTick(facts),
    missed(facts, nowMs),
  ].filter((one) => one !== null);
  const known = new Map(found.toReversed().map((one) => [one.trouble, one]));
  for (const trouble of held(facts)) if (!known.has(trouble)) known.set(trouble, about(trouble));
  return troubleOrder.flatMap((trouble) => known.get(trouble) ?? []);
}

/** What to report. */
type FeedChange =
  | { readonly kind: 'bad'; readonly began: readonly Trouble[] }
  | { readonly kind: 'recovered'; readonly ended: readonly FeedTrouble[] }
  /** A trouble ended and others remain: recorded, not reported. */
  | { readonly kind: 'eased' };

/** What changed between the troubles `reported` last and those of `now`; null if nothing did. */
export function changeOf(reported: readonly FeedTrouble[], now: readonly Trouble[]): FeedChange | null {
  const began = now.filter(({ trouble }) => !reported.includes(trouble));
  if (began.length > 0) return { kind: 'bad', began };
  if (now.length === reported.length) return null;
  return now.length === 0 ? { kind: 'recovered', ended: reported } : { kind: 'eased' };
}

/** What `failed` and `missed` are of now, and what they were reported of that cannot be judged now. In the order of `troubleCauses`. */
export function causesOf(facts: FeedFacts, nowMs: number): readonly TroubleCause[] {
  const { tick, expected } = facts;
  const late = expected.filter((one) => isLate(one, nowMs)).map((one) => one.of);
  const found: readonly TroubleCause[] = [
    ...([fileTrouble(facts), failedBeside(facts, nowMs)].some((one) => one?.trouble === 'failed')
      ? (['failedFile'] as const)
      : []),
    ...(tick?.failed === true ? (['failedTick'] as const) : []),
    ...late,
    ...heldCauses(facts),
  ];
  return troubleCauses.filter((cause) => found.includes(cause));
}

/**
 * Whether nothing got better where these troubles ended: the file or the tick that was missed or failed is expected no longer, since what names
 * it was taken out of the configuration.
 */
export function isUnwatched(facts: FeedFacts, ended: readonly FeedTrouble[]): boolean {
  const causes = reportedCauses(facts);
  return ended.every((trouble) => {
    const own = causes.filter((cause) => troubleOf[cause] === trouble);
    return own.length > 0 && own.every((cause) => isGone(facts, cause));
  });
}

const troubleOf = {
  failedFile: 'failed',
  failedTick: 'failed',
  missedFile: 'missed',
  missedTick: 'missed',
} as const satisfies Readonly<Record<TroubleCause, FeedTrouble>>;

/** Of what an older version wrote any may be meant, except for files of a feed that has none. */
function reportedCauses({ reported, causes, standing }: FeedFacts): readonly TroubleCause[] {
  const all = causes ?? troubleCauses.filter((cause) => cause !== 'failedFile' || standing !== null);
  return all.filter((cause) => reported.includes(troubleOf[cause]));
}

/** After a file that could not be read a newer one is waited for, as long as there is its feed. */
function isGone({ exists, expected, tick }: FeedFacts, cause: TroubleCause): boolean {
  if (cause === 'failedFile') return exists === false;
  return cause === 'failedTick' ? tick === null : expected.every((one) => one.of !== cause);
}

/** Whether nothing got better where these troubles ended: the run that a guard had stopped was cancelled, and the feed is as before it. */
export function isCancelled({ standing }: FeedFacts, ended: readonly FeedTrouble[]): boolean {
  return ended.includes('guard') && standing?.isCancelledSince === true;
}

/** A reported outage lasts until work continues, also if another engine has started the pause again. */
function outage({ outage, reported }: FeedFacts, nowMs: number): Trouble | null {
  if (outage === null) return null;
  const isLong = nowMs - outage.sinceMs >= outage.outageAfterMs;
  return isLong || reported.includes('outage') ? about('outage', { code: outage.code }) : null;
}

function hostAway({ onHostAway }: FeedFacts): Trouble | null {
  if (onHostAway === null) return null;
  const { runId, file, host } = onHostAway;
  return about('hostAway', { runId, onHost: { file, host } });
}

/**
 * Of the last file. Rejected rows are a trouble until all their dead letters are closed; a file that could not be read, until a newer one
 * comes, or the feed is gone. Where that cannot be judged, it stays as it was reported (`heldCauses`).
 */
function fileTrouble({ exists, standing }: FeedFacts): Trouble | null {
  const last = standing?.last ?? null;
  if (last === null) return null;
  const { id: runId, code } = last;
  if (last.state === 'failed') return exists === true ? about('failed', { runId, code }) : null;
  if (last.state === 'stopped') return about('guard', { runId, code });
  return last.deadOpen ? about('deadRows', { runId, deadCount: last.deadCount }) : null;
}

/**
 * A file of `main` that could not be read while others of it went in: those do not take its place. It is a trouble until a file is accepted
 * that arrived after the notice. One that was corrected by the time it is seen is no news.
 */
function failedBeside({ standing, failedFile, goodSinceMs }: FeedFacts, nowMs: number): Trouble | null {
  const failed = standing?.failed ?? null;
  if (standing === null || failed === null || failed.id === standing.last?.id) return null;
  const isTold = failedFile?.run === failed.id;
  // Older versions recorded no file, and may have told of it.
  const isPast =
    failedFile === null && failed.endedAtMs !== null && failed.endedAtMs < Math.max(goodSinceMs ?? 0, nowMs - newsMs);
  const isNews = !isTold && failed.isAmongNewest && !isPast;
  const isOpen = isNews || (isTold && standing.acceptedSequence <= failedFile.newestSequence);
  return isOpen ? about('failed', { runId: failed.id, code: failed.code }) : null;
}

/** A run that waits for a person while newer files of its feed go in: until it is approved or cancelled. */
function stoppedBehind({ standing }: FeedFacts): Trouble | null {
  const stopped = standing?.stopped ?? null;
  return stopped === null ? null : about('guard', { runId: stopped.id, code: stopped.code });
}

/** What failed earlier is no news where none of it was ever recorded. */
const newsMs = 86_400_000;

function failedTick({ tick }: FeedFacts): Trouble | null {
  return tick?.failed === true ? about('failed', { code: tick.code, why: tick.why ?? null }) : null;
}

function missed({ expected }: FeedFacts, nowMs: number): Trouble | null {
  return expected.some((one) => isLate(one, nowMs)) ? about('missed') : null;
}

/** When what is late now was due first, which may be long before that is noticed; null where nothing is late. */
export function missedSinceMs({ expected }: FeedFacts, nowMs: number): number | null {
  const late = expected.filter((one) => isLate(one, nowMs));
  // A tick is due at its time; only then it is waited for.
  const dues = late.map(({ of, fromMs, everyMs }) => (of === 'missedTick' ? fromMs : fromMs + everyMs));
  return dues.length === 0 ? null : Math.min(...dues);
}

function isLate({ canBeJudged, fromMs, everyMs }: Expectation, nowMs: number): boolean {
  return canBeJudged && nowMs - fromMs > everyMs;
}

/** What was reported and cannot be judged now. */
function held(facts: FeedFacts): readonly FeedTrouble[] {
  // An approved run, or the file that replaces it, has not ended yet.
  const ofRows = facts.standing?.atWork === true ? (['guard', 'deadRows'] as const) : [];
  return [...ofRows.filter((one) => facts.reported.includes(one)), ...heldCauses(facts).map((one) => troubleOf[one])];
}

function heldCauses(facts: FeedFacts): readonly TroubleCause[] {
  const { exists, standing, tick, expected } = facts;
  return reportedCauses(facts).filter((cause) => {
    if (troubleOf[cause] === 'missed') return expected.some((one) => one.of === cause && !one.canBeJudged);
    if (cause === 'failedFile' && exists === null && standing?.last?.state === 'failed') return true;
    return standing?.atWork === true || (cause === 'failedTick' && tick?.failed === null);
  });
}

function about(trouble: FeedTrouble, facts: Partial<Omit<Trouble, 'trouble'>> = {}): Trouble {
  return { trouble, runId: null, code: null, deadCount: null, onHost: null, why: null, ...facts };
}

/** `feed.held`: fields of the feed began to wait for a person. A count: no personal data. */
export function heldNotice({
  id,
  feed,
  fields,
  atMs,
}: {
  readonly id: string;
  readonly feed: string;
  readonly fields: number;
  readonly atMs: number;
}): NewDelivery {
  return { id, kind: 'notice', type: 'feed.held', feed, data: { fields }, atMs };
}

interface NoticeFacts {
  readonly id: string;
  readonly feed: string;
  readonly change: Exclude<FeedChange, { kind: 'eased' }>;
  /** All troubles now. */
  readonly troubles: readonly Trouble[];
  /** Since when the feed is unhealthy, or was. */
  readonly badSinceMs: number;
  /** As `isUnwatched` says. */
  readonly unwatched: boolean;
  /** As `isCancelled` says. */
  readonly cancelled: boolean;
  readonly atMs: number;
}

/** `feed.bad` for each trouble that begins; `feed.recovered` when none is left, also where that is since it is watched no longer, or its stopped run was cancelled. Ids, codes, counts and instants, and why a schedule failed: no personal data. */
export function noticeOf({
  id,
  feed,
  change,
  troubles,
  badSinceMs,
  unwatched,
  cancelled,
  atMs,
}: NoticeFacts): NewDelivery {
  const common = { troubles: troubles.map(({ trouble }) => trouble), badSince: isoInstant(badSinceMs) };
  const data =
    change.kind === 'bad'
      ? {
          ...common,
          began: change.began.map(({ trouble, runId, code, deadCount, onHost, why }) => ({
            trouble,
            run: runId,
            code,
            dead: deadCount,
            ...onHost,
            ...why,
          })),
        }
      : { ...common, ended: change.ended, ...(unwatched ? { unwatched } : {}), ...(cancelled ? { cancelled } : {}) };
  return { id, kind: 'notice', type: change.kind === 'bad' ? 'feed.bad' : 'feed.recovered', feed, data, atMs };
}
