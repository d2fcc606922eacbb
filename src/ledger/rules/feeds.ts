/**
 * Rules on feeds: which runs are a feed's history, what they say about its health, the feed that is always there, and the source labels that
 * feeds write where none was configured. Redrives and fix-files do not count towards a feed's health.
 */
import type { Base, OtherSaid } from '#src/contacts/base.ts';
import type { ContactRecord, FeedSaid } from '#src/ledger/contacts.ts';
import type { RunKind, RunRecord, RunState } from '#src/ledger/runs.ts';
import type { ScheduleRecord } from '#src/ledger/schedules.ts';

/** In these states a newer file waits or is at work. */
export const workingStates = ['queued', 'staging', 'applying'] as const satisfies readonly RunState[];

/** A file in one of these states was accepted: it is part of its feed's history. Fix-files and redrives never are. */
export const acceptedStates = ['done', 'doneWithDead'] as const satisfies readonly RunState[];
export const historyKind: RunKind = 'file';

/**
 * Whether a finished run keeps its keys: the next file of the feed is compared with those of the last accepted one. The files
 * of `main` need not hold the same contacts.
 * @param lastAcceptedId the feed's last accepted run that applied all rows.
 */
export function keepsKeys(run: Pick<RunRecord, 'id' | 'feed'>, lastAcceptedId: string | null): boolean {
  return run.feed !== mainFeed && run.id === lastAcceptedId;
}

/** States in which a file's run has come to an end, or to a halt. A cancelled one says nothing of its feed: it stands as before. */
export const standingStates = ['done', 'doneWithDead', 'stopped', 'failed'] as const satisfies readonly RunState[];

/** A file in one of these states was called off by a person, or a newer file took its place. */
export const cancelledStates = ['cancelling', 'cancelled'] as const satisfies readonly RunState[];

export interface FeedStanding {
  readonly feed: string;
  /** When its first run was entered. */
  readonly createdAtMs: number;
  /** The newest run in one of `standingStates`. */
  readonly last: LastRun | null;
  /** Whether a newer file waits or is at work. */
  readonly atWork: boolean;
  /** When the newest file arrived that was accepted: it is done, with rejected rows or without. */
  readonly acceptedAtMs: number | null;
  /** Its place among the runs; 0 where there is none. */
  readonly acceptedSequence: number;
  /** The place of the newest run, however it stands. */
  readonly newestSequence: number;
  /**
   * Whether its newest file with an end was cancelled: none that applies all of its rows has come to an end behind it, and nothing ended
   * since. One whose place a newer file took is not meant: that one was accepted.
   */
  readonly isCancelledSince: boolean;
  /** The newest file of `main` that could not be read, since its files do not take each other's place; null for other feeds. */
  readonly failed: FailedRun | null;
  /** Its newest run that waits for a person: behind one of `main`, or of deltas, newer files go in, and do not take its place. */
  readonly stopped: StoppedRun | null;
}

export interface StoppedRun {
  readonly id: string;
  /** Why it stopped. */
  readonly code: string | null;
}

/** Files that arrive together are entered within this time, though one that is empty may have failed before the last is. */
const togetherMs = 60_000;

export interface FailedRun {
  readonly id: string;
  readonly code: string | null;
  /** When it ended, by the clock of its host; null where that is not known. */
  readonly endedAtMs: number | null;
  /**
   * Whether the newest file with an end arrived together with it, and so is no correction of it. Of the files of its own host, since clocks of
   * hosts differ.
   */
  readonly isAmongNewest: boolean;
}

export interface LastRun {
  readonly id: string;
  readonly state: (typeof standingStates)[number];
  /** Of its reason: why it stopped or failed. */
  readonly code: string | null;
  /** How many of its rows died. */
  readonly deadCount: number;
  /** Whether any of their letters, or of those a fix-file left since, is still open or being tried again. */
  readonly deadOpen: boolean;
}

type StandingRun = RunRecord & Pick<LastRun, 'state'>;

export function isStanding(run: RunRecord): run is StandingRun {
  return (standingStates as readonly RunState[]).includes(run.state);
}

/**
 * How a feed stands by the newest of its files in each of these states; null where there is none. `whole` is the newest in one of
 * `standingStates` that applies all of its rows.
 */
export function standingOf(
  { feed, createdAtMs }: Pick<FeedStanding, 'feed' | 'createdAtMs'>,
  newest: {
    readonly last: StandingRun | null;
    readonly whole: RunRecord | null;
    readonly working: RunRecord | null;
    readonly accepted: RunRecord | null;
    readonly cancelled: RunRecord | null;
    readonly failed: RunRecord | null;
    /** In one of `standingStates`, of the host of `failed`. */
    readonly besideFailed: RunRecord | null;
    readonly stopped: RunRecord | null;
    readonly inAnyState: RunRecord | null;
    readonly deadOpen: boolean;
  },
): FeedStanding {
  const { last, whole, working, accepted, cancelled, failed, besideFailed, stopped, inAnyState, deadOpen } = newest;
  return {
    feed,
    createdAtMs,
    last:
      last === null
        ? null
        : { id: last.id, state: last.state, code: last.reason?.code ?? null, deadCount: last.counts.dead, deadOpen },
    atWork: (working?.sequence ?? 0) > (last?.sequence ?? 0),
    acceptedAtMs: accepted?.createdAtMs ?? null,
    acceptedSequence: accepted?.sequence ?? 0,
    newestSequence: inAnyState?.sequence ?? 0,
    isCancelledSince:
      cancelled !== null &&
      cancelled.sequence > (whole?.sequence ?? 0) &&
      endOf(cancelled) > (last === null ? 0 : endOf(last)),
    failed:
      failed === null
        ? null
        : {
            id: failed.id,
            code: failed.reason?.code ?? null,
            endedAtMs: failed.finishedAtMs,
            isAmongNewest: (besideFailed?.createdAtMs ?? 0) <= endOf(failed) + togetherMs,
          },
    stopped: stopped === null ? null : { id: stopped.id, code: stopped.reason?.code ?? null },
  };
}

/** One that has not ended may end at any time. */
function endOf({ finishedAtMs }: RunRecord): number {
  return finishedAtMs ?? Number.POSITIVE_INFINITY;
}

/** What the waiting for a feed's next file begins with. */
export interface AwaitedFrom {
  readonly standing: Pick<FeedStanding, 'createdAtMs' | 'acceptedAtMs'> | null;
  readonly schedule: Pick<ScheduleRecord, 'createdAtMs' | 'pausedAtMs' | 'resumedAtMs'> | null;
  /** When what is reported of the feed was entered first, else now. */
  readonly knownSinceMs: number;
}

/**
 * Instants of a feed that were written while the clock was ahead: when that really was is not known. They count as when it was seen, once and
 * for all, so that a file that does not come is late by then, and not once the clock has got there.
 */
export interface InstantsAhead {
  readonly instantsMs: readonly number[];
  readonly seenMs: number;
}

/** @param known as it was at the last look. @returns undefined where there are none. */
export function instantsAhead(
  { standing, schedule, knownSinceMs }: AwaitedFrom,
  known: InstantsAhead | undefined,
  nowMs: number,
): InstantsAhead | undefined {
  const ofFiles = [standing?.createdAtMs, standing?.acceptedAtMs];
  const given = [...ofFiles, schedule?.createdAtMs, schedule?.resumedAtMs, knownSinceMs];
  const instants = [...new Set(given)].filter((instantMs) => typeof instantMs === 'number');
  const kept = instants.filter((instantMs) => known?.instantsMs.includes(instantMs));
  const found = instants.filter((instantMs) => instantMs > nowMs && !kept.includes(instantMs));
  if (kept.length + found.length === 0) return undefined;
  const seenMs = found.length === 0 ? Math.min(known?.seenMs ?? nowMs, nowMs) : nowMs;
  return { instantsMs: [...kept, ...found].sort((a, b) => a - b), seenMs };
}

/**
 * Since when the next file of a feed is waited for (`expectEvery`): since its newest accepted one arrived, else since the feed is known; and anew
 * since its schedule was added, also once more, or was resumed. Null while that is paused.
 */
export function fileAwaitedSinceMs(
  { standing, schedule, knownSinceMs }: AwaitedFrom,
  ahead?: InstantsAhead,
): number | null {
  if (schedule !== null && schedule.pausedAtMs !== null) return null;
  const at = (instantMs: number): number => (ahead?.instantsMs.includes(instantMs) ? ahead.seenMs : instantMs);
  const [addedMs, resumedMs] = [at(schedule?.createdAtMs ?? 0), at(schedule?.resumedAtMs ?? 0)];
  const noneYetMs = Math.max(at(standing?.createdAtMs ?? 0), addedMs, at(knownSinceMs));
  const acceptedMs = standing?.acceptedAtMs ?? null;
  return Math.max(acceptedMs === null ? noneYetMs : at(acceptedMs), addedMs, resumedMs);
}

/** The feed of the root of the import folder and of files named on the command line. */
export const mainFeed = 'main';

/** The source label of a feed whose mapping and configuration name none. */
export function labelOfFeed(feed: string): string {
  return feed === mainFeed ? 'patchbay' : feed;
}

/** What a run writes into `source` when it creates a contact whose row names no source of its own. */
export function sourceLabelOf(run: Pick<RunRecord, 'feed' | 'mapping' | 'sourceLabel'>): string {
  return run.sourceLabel ?? run.mapping?.source ?? labelOfFeed(run.feed);
}

/**
 * What is remembered of a contact, as a feed plans with it: its own said, and what others said.
 * @param exists whether another named feed is there still: one that is not owns nothing.
 */
export function baseFor(
  { saids, agreed, stamps, seen, owned }: ContactRecord,
  feed: string,
  exists: (feed: string) => boolean,
): Base {
  // `main` gives its items up once a named feed names them.
  const other = (one: FeedSaid): OtherSaid => {
    const isMain = one.feed === mainFeed;
    return { ...one, exists: isMain || exists(one.feed), owns: !isMain && exists(one.feed) };
  };
  return {
    said: saids.find((one) => one.feed === feed)?.said ?? null,
    others: saids.filter((one) => one.feed !== feed).map(other),
    agreed,
    stamps,
    seen,
    owned,
  };
}
