/** The part of the ledger that holds deliveries, and what was last told of each feed. */
import type { DeliveryRecord, FeedCondition, KnownFeedCondition, NewDelivery } from './delivery-record.ts';
import type { FeedStanding } from './feed-standing.ts';

export interface DeliveryLedger {
  get(id: string): Promise<DeliveryRecord | null>;
  /** Waiting and due by then: notices first, then changes, what was never tried first. A notice waits for earlier ones of its feed. */
  nextDue(untilMs: number, limit: number): Promise<readonly DeliveryRecord[]>;
  /** Newest first. */
  inState(state: DeliveryRecord['state'], limit: number): Promise<readonly DeliveryRecord[]>;
  count(state: DeliveryRecord['state']): Promise<number>;
  delivered(id: string, atMs: number): Promise<void>;
  /** It waits for its next try; `nextDueAtMs` null: it is dead. Nothing where it does not wait any more. */
  failed(
    id: string,
    atMs: number,
    why: { readonly code: string; readonly message: string },
    nextDueAtMs: number | null,
  ): Promise<void>;
  /** Nobody can be told now: what is due before then waits until then, and no try is counted. */
  putOff(untilMs: number): Promise<void>;
  /** What began to wait before that moment is dead. @returns how many. */
  expire(beforeMs: number, atMs: number, why: { readonly code: string; readonly message: string }): Promise<number>;
  /** dead → waiting, with all its tries again. @returns whether it was dead. */
  retry(id: string, atMs: number): Promise<boolean>;
  /** Forgets what was delivered, and what is dead, before that moment. */
  forget(beforeMs: number): Promise<void>;

  /** What was last told of each feed; a feed that is not there is good. By feed. */
  conditions(): Promise<readonly KnownFeedCondition[]>;
  /** Enters what is the matter with a feed from now on, and what is to be told of it, in one transaction. Durable. */
  setCondition(condition: FeedCondition, deliveries: readonly NewDelivery[]): Promise<void>;
  /** There is no such feed any more. */
  forgetCondition(feed: string): Promise<void>;
  /** What the runs say of each feed that ever had one. By feed. */
  standings(): Promise<readonly FeedStanding[]>;
}
