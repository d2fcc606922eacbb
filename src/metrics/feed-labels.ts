/** Feeds as labels: the first ones keep their names, all others share one, so that no import folder can flood Prometheus. */

/** Feeds with a label of their own. */
const feedLabelsMax = 100;
/** No feed is called that way by itself: its files would share the label, and nothing else. */
export const otherFeeds = 'other';

export interface FeedLabels {
  /** The label of a feed: the same for as long as the process lives. */
  of(feed: string): string;
}

/** @param first feeds that have a label of their own in any case, as long as there are any: those of the configuration. */
export function createFeedLabels(first: readonly string[], labelsMax = feedLabelsMax): FeedLabels {
  const known = new Set(first.slice(0, labelsMax));
  return {
    of: (feed) => {
      if (known.has(feed)) return feed;
      if (known.size >= labelsMax) return otherFeeds;
      known.add(feed);
      return feed;
    },
  };
}
