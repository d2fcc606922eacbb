/**
 * What is reported to people: deliveries to the webhook, and the condition of each feed (`docs/rules.md`, "Snapshots"; notices).
 *
 *     waiting ──2xx──▶ delivered
 *        └──tries used up, or refused for good──▶ dead ──a person tries again──▶ waiting
 *                                                  └──a person drops it──▶ dropped
 */

import { randomBytes } from 'node:crypto';
import type { NewAct } from './acts.ts';
import type { FeedStanding, InstantsAhead } from './rules/feeds.ts';

/** `notice`: a feed went bad or recovered. `change`: a snapshot shows a change. */
export type DeliveryKind = 'notice' | 'change';

export interface NewDelivery {
  /** Random; the receiver knows a repetition by it. */
  readonly id: string;
  readonly kind: DeliveryKind;
  /** As `feed.bad`, `feed.recovered`, `feed.held`, `phoneNumbers.changed`. */
  readonly type: string;
  /** The feed, or `phone-numbers`. */
  readonly feed: string;
  /** The body's `data`: ids, codes, counts, states. No personal data. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly atMs: number;
}

export interface DeliveryRecord extends NewDelivery {
  readonly state: 'waiting' | 'delivered' | 'dead' | 'dropped';
  readonly attempts: number;
  /** Not before. */
  readonly dueAtMs: number;
  readonly endedAtMs: number | null;
  /** Of the last try: a stable code, and one sentence. */
  readonly code: string | null;
  readonly message: string | null;
  /** When its first failed try ended, on the wall clock. Absent before that, after a person's retry, and in what older versions wrote. */
  readonly failingSinceMs?: number;
  /** The same of its last failed try. */
  readonly failedAtMs?: number;
  /** When its next try was due before that was brought forward: where it fails, it is due then, as if there had been none. Not before, as above. */
  readonly insteadOfMs?: number;
}

/** How a try of a delivery ended. `dead`: it is not tried again. */
export type DeliveryEnd =
  | { readonly state: 'delivered' }
  | {
      readonly state: 'waiting';
      readonly why: DeliveryFailure;
      readonly nextDueAtMs: number;
      /** Until then the addressee asked not to be tried, so that nothing brings the next try forward to before it. Absent: it asked for nothing. */
      readonly notBeforeMs?: number;
      /** The try was one more than its times have, and is not counted. */
      readonly isExtra?: true;
    }
  | { readonly state: 'dead'; readonly why: DeliveryFailure };

export interface DeliveryFailure {
  /** Stable. */
  readonly code: string;
  readonly message: string;
}

export interface DeliveryFilter {
  readonly states: readonly DeliveryRecord['state'][];
  /** The id of the last one of the page before, whatever has become of it since. */
  readonly after?: string;
  readonly limit: number;
}

/** Why a feed is bad. */
export type FeedTrouble = 'deadRows' | 'guard' | 'failed' | 'outage' | 'missed' | 'hostAway';

/** For people. */
export const troubleWords: Readonly<Record<FeedTrouble, string>> = {
  deadRows: 'rejected rows',
  guard: 'stopped by a guard',
  failed: 'failed',
  outage: 'service away',
  missed: 'no new export',
  hostAway: 'file on a host that is away',
};

/** What `failed` and `missed` can be of: a file of the feed, or a tick of its schedule. In the order in which they are recorded. */
export const troubleCauses = ['failedFile', 'failedTick', 'missedFile', 'missedTick'] as const;
export type TroubleCause = (typeof troubleCauses)[number];

/** What was last told of a feed. */
export interface FeedCondition {
  readonly feed: string;
  /** Empty: good. In a fixed order. */
  readonly troubles: readonly FeedTrouble[];
  /** Since when it is bad, or good; a further trouble of a bad feed does not move it. */
  readonly sinceMs: number;
  /** When each of its troubles began, as far as that is known: of what is missed, when it was due. Absent in what older versions wrote, and where it has none. */
  readonly begunMs?: { readonly [Trouble in FeedTrouble]?: number };
  /** What `failed` and `missed` are of now. Absent without these troubles, and in what older versions wrote. */
  readonly causes?: readonly TroubleCause[];
  /** Of `main`: the file that could not be read which was reported last, or came while one was. */
  readonly failedFile?: ReportedFile;
  /** Of a feed with a failed file, by the ledger's clock: since when its folder was found at no look. Absent while it is there. */
  readonly awaySinceMs?: number;
  /** Of a feed of which files are expected: what was written of it while the clock was ahead. Absent where nothing was. */
  readonly ahead?: InstantsAhead;
  /** How many of its fields were held when that was reported last; absent: none, or none since a person decided. */
  readonly heldFields?: number;
}

export interface ReportedFile {
  readonly run: string;
  /** The place of the newest run by then: a file behind it arrived later, whatever the clocks of hosts say. */
  readonly newestSequence: number;
}

/** Since when a feed is good, or has any of the troubles that it has now: others may have ended meanwhile. */
export function troublesSinceMs({ troubles, sinceMs, begunMs = {} }: FeedCondition): number {
  return troubles.length === 0 ? sinceMs : Math.min(...troubles.map((trouble) => begunMs[trouble] ?? sinceMs));
}

/** What was last told of a feed, as the ledger holds it. */
export interface KnownFeedCondition extends FeedCondition {
  /** When the feed was entered here first; never moves. */
  readonly knownSinceMs: number;
}

/** The most deliveries that wait; beyond that the oldest die, changes first. */
export const waitingMax = 10_000;

/** The part of the ledger that holds deliveries, and what was last told of each feed. */
export interface DeliveryLedger {
  get(id: string): Promise<DeliveryRecord | null>;
  /** Waiting and due by then: notices first, then changes, what was never tried first. A notice waits for earlier ones of its feed. */
  nextDue(untilMs: number, limit: number): Promise<readonly DeliveryRecord[]>;
  /** By the order of entry, the newest first. Empty behind an id that is not there. */
  list(filter: DeliveryFilter): Promise<readonly DeliveryRecord[]>;
  /** Writes how a try ended. Nothing where the delivery does not wait any more. */
  tried(id: string, atMs: number, end: DeliveryEnd): Promise<void>;
  /** Nothing can be delivered now: what is due before then waits until then, and no try is counted. */
  putOff(untilMs: number): Promise<void>;
  /**
   * An addressee accepts deliveries: what waits for it after failed tries is due now, as far as it did not ask for a later moment. No
   * try is counted; what was brought forward a short time ago, and failed again, waits as it would have. @returns how many are due now.
   * @param isTo whether a delivery that was entered under this feed goes there. @param nowMs by the ledger's clock.
   */
  bringForward(isTo: (feed: string) => boolean, nowMs: number): Promise<number>;
  /** What began to wait before that moment is dead. @returns how many. */
  expire(beforeMs: number, atMs: number, why: DeliveryFailure): Promise<number>;
  /**
   * dead → waiting, with all its tries again. One that waits is due now, with all its tries, and so is what it waits for.
   * @returns whether that changed anything.
   */
  retry(id: string, atMs: number, act?: NewAct): Promise<boolean>;
  /** dead → dropped: it is not tried again, and leaves as others that have ended. @returns how many of these were dead. */
  drop(ids: readonly string[], act: NewAct): Promise<number>;

  /** What was last told of each feed; a feed that is not there is good. By feed. */
  conditions(): Promise<readonly KnownFeedCondition[]>;
  /** Enters what is wrong with a feed from now on, and the notices of it, in one transaction. Durable. */
  setCondition(condition: FeedCondition, deliveries: readonly NewDelivery[]): Promise<void>;
  /** There is no such feed any more. */
  forgetCondition(feed: string): Promise<void>;
  /** What the runs say of each feed that ever had one. By feed. @param away ids of hosts: what waits for one of them is not at work. */
  standings(away?: readonly string[]): Promise<readonly FeedStanding[]>;
}

/**
 * Ids of deliveries: receivers see them as `webhook-id`, and `dead retry` accepts them. `n` and 24 hex digits; the ids of dead
 * letters begin with `d`.
 */
export function newDeliveryId(): string {
  return `n${randomBytes(12).toString('hex')}`;
}
