/**
 * Page tokens (4.6; their form: not shown). Opaque to the client: a checksum, then the place after which the next page
 * begins, in characters that a query may hold as they are.
 *
 * A place is one number in listings in order of creation, and an instant with a number in those that show the newest
 * first (`Place`). Places are never used twice, so that inserts and deletes between two pages neither
 * repeat nor skip what was there before. A token does not remember its filters: a client sends them again.
 *
 * The checksum binds a token to its listing and, by a secret that each store has, to its store: a token that was made
 * up, or that another listing or another workspace gave, is refused, where it would otherwise skip what was never seen.
 * It guards no secret, since a listing is open from its first page on.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { badRequest } from '#src/service/http/refusal.ts';
import type { OperationName, Reply } from '#src/service/operations/operation.ts';

type NewestFirstListing = 'calls' | 'messages';
type OldestFirstListing = 'contacts' | 'phone-numbers';
type Listing = NewestFirstListing | OldestFirstListing;

export interface PageTokens {
  readonly ofSeq: (listing: OldestFirstListing, afterSeq: number) => string;
  readonly ofPlace: (listing: NewestFirstListing, place: Place) => string;
  /** The place to go on from; 0 without a token. Throws `Refusal` 400 for a token that this listing did not give. */
  readonly readSeq: (listing: OldestFirstListing, token: string | null) => number;
  /** The place to go on below; the top without a token. Throws `Refusal` 400 as `readSeq` does. */
  readonly readPlace: (listing: NewestFirstListing, token: string | null) => Place;
  /** A token that starts the listing of an operation anew (a fault hands it out); that of contacts for any other. */
  readonly first: (operation: OperationName) => string;
}

/** 72 bits in base64url. */
const checksumLength = 12;
const radix = 36;
/** Two figures below 2^53 with what parts them, and room. */
const tokenLengthMax = 64;

export function createPageTokens(secret: Uint8Array): PageTokens {
  const key = Buffer.from(secret).toString('hex');
  const checksum = (listing: Listing, place: string): string =>
    hash('sha256', `${key} ${listing} ${place}`, 'base64url').slice(0, checksumLength);
  const write = (listing: Listing, figures: readonly number[]): string => {
    const place = figures.map((figure) => figure.toString(radix)).join('.');
    return checksum(listing, place) + place;
  };
  // What the checksum fits was written above: its figures need no second look.
  const read = (listing: Listing, token: string): readonly number[] => {
    const place = token.slice(checksumLength);
    if (token.length > tokenLengthMax || checksum(listing, place) !== token.slice(0, checksumLength)) {
      throw badRequest([{ path: 'pageToken', message: 'is not a token that this listing gave', type: 'string' }]);
    }
    return place.split('.').map((figure) => Number.parseInt(figure, radix));
  };
  const ofPlace: PageTokens['ofPlace'] = (listing, { createdMs, seq }) => write(listing, [createdMs, seq]);
  return {
    ofSeq: (listing, afterSeq) => write(listing, [afterSeq]),
    ofPlace,
    readSeq: (listing, token) => {
      if (token === null) return 0;
      const [afterSeq = 0] = read(listing, token);
      return afterSeq;
    },
    readPlace: (listing, token) => {
      if (token === null) return topPlace;
      const [createdMs = 0, seq = 0] = read(listing, token);
      return { createdMs, seq };
    },
    first: (operation) => {
      if (operation === 'calls' || operation === 'messages') return ofPlace(operation, topPlace);
      return write(operation === 'numbers' ? 'phone-numbers' : 'contacts', [0]);
    },
  };
}

/**
 * A place in a listing that shows the newest first: calls and messages are in order of creation, then of insertion.
 *
 * A page begins below a place. What is created later is above it, so that new records neither repeat nor skip
 * those that a walk has not reached yet.
 */
export interface Place {
  readonly createdMs: number;
  /** Grows with every insert; 1 is the first. */
  readonly seq: number;
}

/** Above every record. */
const topPlace: Place = { createdMs: 999_999_999_999_999, seq: 0 };

/** The place above everything that was created at this instant, and below everything created later. */
export function placeBefore(createdMs: number): Place {
  return { createdMs, seq: 0 };
}

export function lowerPlace(one: Place, other: Place): Place {
  if (one.createdMs !== other.createdMs) return one.createdMs < other.createdMs ? one : other;
  return one.seq < other.seq ? one : other;
}

/** A page of a listing as replies show it (4.6). */
export function pageReply<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    totalItems: z.int().min(0).meta({ description: 'Not the true total. Do not rely on it (4.6).' }),
    nextPageToken: z
      .string()
      .nullable()
      .meta({ description: 'Send it as pageToken for the next page; null when there is none (4.6).' }),
  });
}

/** A page of a listing that shows the newest first (4.6). */
interface PlacedItem {
  readonly place: Place;
  readonly item: unknown;
}

interface NewestFirstPage {
  readonly listing: NewestFirstListing;
  /** One more than the page holds, where there are more. */
  readonly rows: readonly PlacedItem[];
  readonly maxResults: number;
  readonly pageTokens: PageTokens;
}

export function newestFirstPage(page: NewestFirstPage): Reply {
  const { listing, rows, maxResults, pageTokens } = page;
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
  };
}
