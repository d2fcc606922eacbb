/**
 * Whether a feed is well, from what is known of it; and whether that is news. Pure.
 *
 * Terms: a *trouble* is one reason why a feed is bad. What was *told* last is where the next look compares with: one
 * notice per change of state, not per run.
 *
 * Invariant: what cannot be judged at this moment stays as it was told, so that a restart, a pause or a file at work makes no
 * notice that is taken back a minute later.
 */

import { isoInstant } from '#src/clock.ts';
import type { FeedTrouble, NewDelivery } from '#src/ledger/deliveries.ts';
import type { FeedStanding } from '#src/ledger/rules/feeds.ts';

/** The order in which they are told. */
const troubleOrder = ['outage', 'failed', 'guard', 'deadRows', 'missed'] as const satisfies readonly FeedTrouble[];

export interface FeedFacts {
  readonly feed: string;
  /** What was told last. */
  readonly told: readonly FeedTrouble[];
  /** Null: no file ever came. */
  readonly standing: FeedStanding | null;
  /** Null: there is no schedule, or it never had a tick. */
  readonly tick: TickFacts | null;
  /** What should have come by some time: a file, a tick. */
  readonly expected: readonly Expectation[];
  /** The pause of all work, or of writing; null for feeds under whose name it is not told. */
  readonly outage: OutageFacts | null;
}

/** The last tick of its schedule that ended and says something: it was not skipped, and not for one user alone. */
export interface TickFacts {
  /** Null: all that are remembered were skipped. */
  readonly failed: boolean | null;
  readonly code: string | null;
}

export interface Expectation {
  readonly everyMs: number;
  /** From when on it is waited for. */
  readonly fromMs: number;
  /** False while a person has paused it, while it is at work, and where nobody has looked for long enough. */
  readonly canBeJudged: boolean;
}

interface OutageFacts {
  readonly code: string;
  readonly sinceMs: number;
  /** A shorter one is no news. */
  readonly outageAfterMs: number;
}

interface Trouble {
  readonly trouble: FeedTrouble;
  readonly runId: string | null;
  readonly code: string | null;
  /** Rows of that run that died; null where it is about something else. */
  readonly deadCount: number | null;
}

/** What is the matter with the feed now, in the order of `troubleOrder`; each trouble at most once. */
export function troublesOf(facts: FeedFacts, nowMs: number): readonly Trouble[] {
  const found = [outage(facts, nowMs), fileTrouble(facts), failedTick(facts), missed(facts, nowMs)].filter(
    (one) => one !== null,
  );
  const known = new Map(found.toReversed().map((one) => [one.trouble, one]));
  for (const trouble of held(facts)) if (!known.has(trouble)) known.set(trouble, about(trouble));
  return troubleOrder.flatMap((trouble) => known.get(trouble) ?? []);
}

/** What is to be told where the troubles were `told` and are `now`. */
type FeedChange =
  | { readonly kind: 'bad'; readonly began: readonly Trouble[] }
  | { readonly kind: 'recovered'; readonly ended: readonly FeedTrouble[] }
  /** A trouble ended and others stay: remembered, and no news. */
  | { readonly kind: 'eased' };

/** Null where nothing changed. */
export function changeOf(told: readonly FeedTrouble[], now: readonly Trouble[]): FeedChange | null {
  const began = now.filter(({ trouble }) => !told.includes(trouble));
  if (began.length > 0) return { kind: 'bad', began };
  if (now.length === told.length) return null;
  return now.length === 0 ? { kind: 'recovered', ended: told } : { kind: 'eased' };
}

/** A pause that was told lasts until work goes on, also where another engine has begun it anew. */
function outage({ outage, told }: FeedFacts, nowMs: number): Trouble | null {
  if (outage === null) return null;
  const isLong = nowMs - outage.sinceMs >= outage.outageAfterMs;
  return isLong || told.includes('outage') ? about('outage', { code: outage.code }) : null;
}

/** Of the last file. Dead rows are a trouble until all their letters are closed. */
function fileTrouble({ standing }: FeedFacts): Trouble | null {
  const last = standing?.last ?? null;
  if (last === null) return null;
  const { id: runId, code } = last;
  if (last.state === 'failed') return about('failed', { runId, code });
  if (last.state === 'stopped') return about('guard', { runId, code });
  return last.deadOpen ? about('deadRows', { runId, deadCount: last.deadCount }) : null;
}

function failedTick({ tick }: FeedFacts): Trouble | null {
  return tick?.failed === true ? about('failed', { code: tick.code }) : null;
}

function missed({ expected }: FeedFacts, nowMs: number): Trouble | null {
  const isMissed = expected.some(({ canBeJudged, fromMs, everyMs }) => canBeJudged && nowMs - fromMs > everyMs);
  return isMissed ? about('missed') : null;
}

/** What was told and cannot be judged now. */
function held({ told, standing, tick, expected }: FeedFacts): readonly FeedTrouble[] {
  return told.filter((trouble) => {
    switch (trouble) {
      case 'guard':
      case 'deadRows':
        // An approved run, or the file that replaces it, has yet to end.
        return standing?.atWork === true;
      case 'failed':
        return standing?.atWork === true || tick?.failed === null;
      case 'missed':
        return expected.some(({ canBeJudged }) => !canBeJudged);
      default:
        return false;
    }
  });
}

function about(trouble: FeedTrouble, facts: Partial<Omit<Trouble, 'trouble'>> = {}): Trouble {
  return { trouble, runId: null, code: null, deadCount: null, ...facts };
}

/** The words of a notice: what the webhook is told of a feed. Pure. Ids, codes, counts and instants, no personal data. */
interface NoticeFacts {
  readonly id: string;
  readonly feed: string;
  readonly change: Exclude<FeedChange, { kind: 'eased' }>;
  /** All that is the matter now. */
  readonly troubles: readonly Trouble[];
  /** Since when the feed is bad, or was. */
  readonly badSinceMs: number;
  readonly atMs: number;
}

/** `feed.bad` for each trouble that begins; `feed.recovered` when none is left. */
export function noticeOf({ id, feed, change, troubles, badSinceMs, atMs }: NoticeFacts): NewDelivery {
  const common = { troubles: troubles.map(({ trouble }) => trouble), badSince: isoInstant(badSinceMs) };
  const data =
    change.kind === 'bad'
      ? {
          ...common,
          began: change.began.map(({ trouble, runId, code, deadCount }) => ({
            trouble,
            run: runId,
            code,
            dead: deadCount,
          })),
        }
      : { ...common, ended: change.ended };
  return { id, kind: 'notice', type: change.kind === 'bad' ? 'feed.bad' : 'feed.recovered', feed, data, atMs };
}
