/** A page of a listing that shows the newest first (4.6). */
import type { DeprecatedUse, Reply } from '../operation.ts';
import { encodePlaceToken, type NewestFirstListing } from '../page-token.ts';
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
}

export function newestFirstPage({ listing, rows, maxResults, deprecated }: NewestFirstPage): Reply {
  const shown = rows.slice(0, maxResults);
  const last = shown.at(-1);
  return {
    status: 200,
    body: {
      data: shown.map(({ item }) => item),
      // 4.6.2: wrong by declaration. It counts this page.
      totalItems: shown.length,
      nextPageToken: rows.length > maxResults && last !== undefined ? encodePlaceToken(listing, last.place) : null,
    },
    deprecated,
  };
}
