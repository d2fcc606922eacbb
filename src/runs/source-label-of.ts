/** The source label of a feed, written when a contact is created: `patchbay` for `main`, else the feed's name. */
export function sourceLabelOf(feed: string): string {
  return feed === 'main' ? 'patchbay' : feed;
}
