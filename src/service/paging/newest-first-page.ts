/** A page of a listing that shows the newest first (4.6). */
import type { DeprecatedUse } from '../operations/deprecated-use.ts';
import type { Reply } from '../operations/operation.ts';
import type { NewestFirstListing, PageTokens } from './page-token.ts';
import type { Place } from './place.ts';

export interface PlacedItem {
  readonly place: Place;
  readonly item: unknown;
}

export interface NewestFirstPage {
  readonly listing: NewestFirstListing;
  /** One more than the page holds, where there are more. */
  readonly rows: readonly PlacedItem[];
  readonly maxResults: number;
  readonly deprecated: readonly DeprecatedUse[];
  readonly pageTokens: PageTokens;
}

export function newestFirstPage(page: NewestFirstPage): Reply {
  const { listing, rows, maxResults, deprecated, pageTokens } = page;
  const shown = rows.slice(0, maxResults);
  const last = shown.at(-1);
  return {
    status: 200,
    body: {
      data: shown.map(({ item }) => item),
      // 4.6.2: wrong by declaration. It counts this page.
      totalItems: shown.length,
      nextPageToken: rows.length > maxResults && last !== undefined ? pageTokens.ofPlace(listing, last.place) : null,
    },
    deprecated,
  };
}
