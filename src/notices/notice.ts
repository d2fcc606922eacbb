/** The words of a notice: what the webhook is told of a feed. Pure. Ids, codes, counts and instants, no personal data. */
import { isoInstant } from '#src/clock.ts';
import type { NewDelivery } from '#src/ledger/delivery-record.ts';
import type { FeedChange, Trouble } from './feed-condition.ts';

export interface NoticeFacts {
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
