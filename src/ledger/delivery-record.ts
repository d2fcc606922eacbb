/**
 * What is told to others: deliveries to the webhook, and the condition of each feed (`rules.md`, "Snapshots"; notices).
 *
 *     waiting ──2xx──▶ delivered
 *        └──tries used up, or refused for good──▶ dead ──a person tries again──▶ waiting
 */

/** `notice`: a feed went bad or recovered. `change`: a snapshot shows a change. */
export type DeliveryKind = 'notice' | 'change';

export interface NewDelivery {
  /** Random; the receiver knows a repetition by it. */
  readonly id: string;
  readonly kind: DeliveryKind;
  /** As `feed.bad`, `feed.recovered`, `phoneNumbers.changed`. */
  readonly type: string;
  /** The feed, or `phone-numbers`. */
  readonly feed: string;
  /** The body's `data`: ids, codes, counts, states. No personal data. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly atMs: number;
}

export interface DeliveryRecord extends NewDelivery {
  readonly state: 'waiting' | 'delivered' | 'dead';
  readonly attempts: number;
  /** Not before. */
  readonly dueAtMs: number;
  readonly endedAtMs: number | null;
  /** Of the last try: a stable code, and one sentence. */
  readonly code: string | null;
  readonly message: string | null;
}

/** Why a feed is bad. */
export type FeedTrouble = 'deadRows' | 'guard' | 'failed' | 'outage' | 'missed';

/** For people. */
export const troubleWords: Readonly<Record<FeedTrouble, string>> = {
  deadRows: 'dead rows',
  guard: 'stopped by a guard',
  failed: 'failed',
  outage: 'service away',
  missed: 'export missing',
};

/** What was last told of a feed. */
export interface FeedCondition {
  readonly feed: string;
  /** Empty: good. In a fixed order. */
  readonly troubles: readonly FeedTrouble[];
  /** Since when it is bad, or good; a further trouble of a bad feed does not move it. */
  readonly sinceMs: number;
}

/** What was last told of a feed, as the ledger holds it. */
export interface KnownFeedCondition extends FeedCondition {
  /** When the feed was entered here first; never moves. */
  readonly knownSinceMs: number;
}

/** At most so many deliveries wait; beyond that the oldest die, changes first. */
export const waitingMax = 10_000;
