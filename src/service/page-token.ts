/**
 * Page tokens (4.6; their form: not shown). Opaque to the client; inside, the place after which the next page begins.
 *
 * Places only grow and are never used twice, so that inserts and deletes between two pages neither repeat nor skip
 * what was there before. A token does not remember its filters: a client sends them again.
 */
import { badRequest } from './http/refusal.ts';

/** Which listing a token belongs to: one listing's token is not taken by another. */
export type Listing = 'contacts' | 'phone-numbers';

export function encodePageToken(listing: Listing, afterSeq: number): string {
  return Buffer.from(`${listing}:${afterSeq}`).toString('base64url');
}

/** The place to go on from; 0 without a token. Throws `Refusal` 400 for a token that this listing did not give. */
export function decodePageToken(listing: Listing, token: string | null): number {
  if (token === null) return 0;
  const [owner, place = ''] = Buffer.from(token, 'base64url').toString('latin1').split(':');
  if (owner !== listing || !/^\d{1,15}$/.test(place) || encodePageToken(listing, Number(place)) !== token) {
    throw badRequest([{ path: 'pageToken', message: 'not a token that this listing gave' }]);
  }
  return Number(place);
}
