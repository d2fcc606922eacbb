/**
 * Page tokens (4.6; their form: not shown). Opaque to the client; inside, the place after which the next page begins.
 *
 * A place is one number in listings in order of creation, and an instant with a number in those that show the newest
 * first (`conversations/place.ts`). Places are never used twice, so that inserts and deletes between two pages neither
 * repeat nor skip what was there before. A token does not remember its filters: a client sends them again.
 */
import { type Place, topPlace } from './conversations/place.ts';
import { badRequest } from './http/refusal.ts';
import type { OperationName } from './operation.ts';

/** Which listing a token belongs to: one listing's token is not taken by another. */
export type Listing = 'contacts' | 'phone-numbers' | NewestFirstListing;
export type NewestFirstListing = 'calls' | 'messages';

export function encodePageToken(listing: Listing, afterSeq: number): string {
  return encode(listing, [afterSeq]);
}

export function encodePlaceToken(listing: NewestFirstListing, { createdMs, seq }: Place): string {
  return encode(listing, [createdMs, seq]);
}

/** A token that starts the listing of an operation anew (a fault hands it out); that of contacts for any other. */
export function firstPageToken(operation: OperationName): string {
  switch (operation) {
    case 'calls':
    case 'messages':
      return encodePlaceToken(operation, topPlace);
    case 'numbers':
      return encodePageToken('phone-numbers', 0);
    default:
      return encodePageToken('contacts', 0);
  }
}

/** The place to go on from; 0 without a token. Throws `Refusal` 400 for a token that this listing did not give. */
export function decodePageToken(listing: Listing, token: string | null): number {
  if (token === null) return 0;
  const [afterSeq = 0] = decode(listing, token, 1);
  return afterSeq;
}

/** The place to go on below; the top without a token. Throws `Refusal` 400 for a token that this listing did not give. */
export function decodePlaceToken(listing: NewestFirstListing, token: string | null): Place {
  if (token === null) return topPlace;
  const [createdMs = 0, seq = 0] = decode(listing, token, 2);
  return { createdMs, seq };
}

function encode(listing: Listing, place: readonly number[]): string {
  return Buffer.from([listing, ...place].join(':')).toString('base64url');
}

function decode(listing: Listing, token: string, figureCount: number): readonly number[] {
  const [owner, ...figures] = Buffer.from(token, 'base64url').toString('latin1').split(':');
  const place = figures.map(Number);
  const sound =
    owner === listing &&
    figures.length === figureCount &&
    figures.every((figure) => /^\d{1,15}$/.test(figure)) &&
    encode(listing, place) === token;
  if (!sound) throw badRequest([{ path: 'pageToken', message: 'not a token that this listing gave' }]);
  return place;
}
