/**
 * The workspace as the worker sees it: contacts, custom fields, phone numbers of one service (`docs/interface.md`).
 *
 * A *read* gives what the service holds, or throws a `PatchbayError`:
 * - `auth` `keyRefused`: 401 or 403, also after the key was read again; facts: status and the service's message;
 * - `unreachable` `serviceUnreachable` | `serviceFailing` | `rateLimited`: after all tries;
 * - `unreachable` what the rate gate throws, where it was held back longer than the caller waits;
 * - `unreachable` `serviceAnswersOddly` | `pageToken…` | `tooManyPages`: the reply does not follow the interface;
 * - `rejected` `requestRefused`: another 4xx; facts: status and the service's message;
 * - the signal's reason, if the caller gave up.
 *
 * A *write* is sent at most once, and its result says what must happen next. Invariant: a write that may have landed is
 * reported as `done` or `doubt`, never as anything else.
 *
 * At the end are the limits of a request (`docs/rules.md`, "Retries, rate, outages"): all that can grow or wait is bounded.
 */
import { PatchbayError } from '#src/errors.ts';
import type { Contact, CreateContactBody, CustomFieldDefinition, UpdateContactBody } from '#src/wire/contact.ts';
import type { ServiceErrorBody } from '#src/wire/error.ts';
import type { PhoneNumber } from '#src/wire/phone-number.ts';

/**
 * What is counted: requests that reached the socket, by method; repeated reads (included in `get`); replies with 429.
 */
export type RequestKind = 'get' | 'post' | 'patch' | 'delete' | 'retried' | 'rateLimited';
type RequestCounts = { readonly [Kind in RequestKind]: number };

export interface CallOptions {
  /** Ends waiting, and cuts a read. A write in progress is not cut: that would only leave it in doubt. */
  readonly signal?: AbortSignal;
  /**
   * Called each time a request has passed the rate gate, right before it is written. If it throws, nothing is sent, and
   * the error reaches the caller.
   */
  readonly beforeSend?: () => void | Promise<void>;
  /** Called once per counted event, for the counters of one run. Must not throw. */
  readonly onRequest?: (kind: RequestKind) => void;
  /**
   * Of a read, in milliseconds: it is given up as soon as it is certain that it is held back for longer, by answers with 429 or by a rate gate
   * that cannot be asked. Without it: `rateLimitedMsMax`, and at such a gate without end. Waiting for one's turn does not count.
   */
  readonly heldMsMax?: number;
  /**
   * Of a read, in milliseconds: it is given up when the service has answered nothing for this long, however often it was sent (`unreachable`
   * `serviceUnreachable`, without a status). Neither the wait before a repeat nor the rate gate counts. Without it: when no try is left.
   */
  readonly silentMsMax?: number;
}

export interface PhoneNumberOptions extends Pick<CallOptions, 'heldMsMax' | 'silentMsMax'> {
  /** Only the numbers of this user, whose id begins with `US` (`docs/facts.md`). Null: all. */
  readonly userId?: string | null;
  /** Ends the walk, also in the middle of a page. */
  readonly signal?: AbortSignal;
}

export interface LookUp {
  /** All contacts that the service returned, including others: the caller compares `externalId` exactly. */
  readonly contacts: readonly Contact[];
  /** Monotonic: when the request for the first page was written, the earliest possible moment of the read. */
  readonly readAtMs: number;
}

/** How a write ended, by what must happen next (`docs/rules.md`, "One contact per key", steps 4 and 5). */
export type WriteResult =
  /** 2xx with a readable body: this is the contact now. */
  | { readonly kind: 'done'; readonly contact: Contact }
  /** Certainly not carried out: not sent at all, or 429 (`rateLimited`). May be tried again after a look-up. */
  | { readonly kind: 'notSent'; readonly rateLimited: boolean; readonly error: PatchbayError }
  /** The service refuses it (400, 404, 409, 422…) and would refuse it again. */
  | { readonly kind: 'refused'; readonly status: number; readonly body: ServiceErrorBody }
  /** 401 or 403: either the key or this one contact is refused. A read shows which. */
  | { readonly kind: 'unauthorized'; readonly status: number; readonly body: ServiceErrorBody }
  /** May have landed. Wait for the horizon, then look up. `why` is one line for logs and reports. */
  | { readonly kind: 'doubt'; readonly why: string; readonly status: number | null };

/** As that of any write; there is no contact to answer with. */
export type DeleteResult = { readonly kind: 'done' } | Exclude<WriteResult, { readonly kind: 'done' }>;

export interface Workspace {
  /** Where it is, as `https://host` or `http://host:port`. */
  readonly origin: string;
  /**
   * All contacts with one of these external ids: 1 to 20 keys and 4 KB of query, otherwise it throws a `bug`. Split longer
   * lists with `lookUpChunks`.
   */
  listByExternalIds(keys: readonly string[], options?: CallOptions): Promise<LookUp>;
  /**
   * The pages of all contacts, 50 each, in the service's order, each read on demand and retried as any read. An id may appear
   * twice if the list changes meanwhile. Throws as a read does, and `unreachable` `tooManyPages` after `contactPagesMax`.
   */
  listContactPages(options?: CallOptions): AsyncIterable<readonly Contact[]>;
  /** Null on 404. Throws `rejected` `contactIdOdd`, too, where `isContactId` refuses the id; so do a PATCH and a DELETE. */
  getContact(id: string, options?: CallOptions): Promise<Contact | null>;
  /** Throws only what `beforeSend` throws, and `bug`. */
  createContact(body: CreateContactBody, options?: CallOptions): Promise<WriteResult>;
  /** Throws only what `beforeSend` throws, and `bug`. */
  updateContact(id: string, body: UpdateContactBody, options?: CallOptions): Promise<WriteResult>;
  /** As a write; `refused` with 404 where there is no such contact. Throws only what `beforeSend` throws, and `bug`. */
  deleteContact(id: string, options?: CallOptions): Promise<DeleteResult>;
  /** Null if the service has no such list (404). */
  listCustomFields(options?: CallOptions): Promise<readonly CustomFieldDefinition[] | null>;
  /**
   * The pages of the workspace's phone numbers, in the service's order, each read on demand and retried as any read. An id
   * may appear twice if the list changes meanwhile. Throws as a read does, and `unreachable` `noPhoneNumberList` on 404.
   */
  listPhoneNumberPages(options?: PhoneNumberOptions): AsyncIterable<readonly PhoneNumber[]>;
  /** Unique, in the service's order. Null on 404. */
  listPhoneNumberIds(options?: CallOptions): Promise<readonly string[] | null>;
  /** Since this client was created. */
  counts(): RequestCounts;
  /**
   * Lets requests in progress end, then closes all connections. Those that have not ended within `patienceMs` (without it: as long
   * as a request may take) are cut, which leaves a write in doubt. Later calls fail as not sent.
   */
  close(patienceMs?: number): Promise<void>;
}

/** How long each part of a request may take. */
export interface WorkspaceTimeouts {
  /** TCP and TLS handshakes. */
  readonly connectMs: number;
  /** From the request's last byte to the reply's last header. */
  readonly headersMs: number;
  /** Between two pieces of the reply's body. */
  readonly bodyMs: number;
  /** From the return of `beforeSend` to the end of the reply, everything included. */
  readonly requestMs: number;
  /**
   * From the return of `beforeSend` to the write on the socket; a request that would begin later is not sent. It is
   * the start guard in the horizon of an intent (`docs/rules.md`, "One contact per key", step 3), and the rate gate relies on
   * it.
   */
  readonly writeStartMs: number;
}

export const workspaceTimeouts: WorkspaceTimeouts = {
  connectMs: 3_000,
  headersMs: 10_000,
  bodyMs: 10_000,
  requestMs: 15_000,
  writeStartMs: 1_000,
};

/** Connections open at a time, and so requests in progress: as many as two batches use (`upsert/chunk.ts`). */
export const connectionsMax = 40;

/** Below one second, so that no POST uses a connection that the service has closed meanwhile. */
export const idleConnectionMs = 900;

/** A larger reply is cut off while it is read. */
export const replyBytesMax = 1_000_000;

/** The same for a page of phone numbers: v1 returns all of them at once (`docs/facts.md`). */
export const phoneNumbersReplyBytesMax = 32_000_000;

/** Keys of one look-up. The service answers 400 to more (`docs/facts.md`). */
export const keysPerLookUpMax = 20;

/** Pages of one look-up. 20 keys fit one page; the limit stops a service that ignores the filter. */
export const lookUpPagesMax = 20;

/** Pages of one walk over all contacts: a million contacts, and half an hour at 10 requests per second. */
export const contactPagesMax = 20_000;

/** Pages of one walk over the phone numbers (`docs/rules.md`, "Snapshots"). */
export const phoneNumberPagesMax = 1_000;

/** Tries of one read, including the first. */
export const readTriesMax = 4;

/** How often one read may be answered with 429; each one pauses the gate. */
export const rateLimitedTriesMax = 20;

/** For how long one read may be answered with 429, from the first such answer to the end of the pause after the last. */
export const rateLimitedMsMax = 120_000;

/**
 * Whether a read was only held back, by answers with 429 or by a rate gate that is closed or cannot be asked (`heldMsMax`): nothing is known of
 * the service, of the key or of writes that was not known before. The names are those of the rate gate, and of what is wrong with its Redis.
 */
export function isHeldBack(error: unknown): boolean {
  if (!(error instanceof PatchbayError) || error.kind !== 'unreachable') return false;
  return error.code === 'rateLimited' || error.code === 'rateGateAway' || error.code.startsWith('queue');
}

/** How long a first look at the service, or one that a person waits for, may be held back (`heldMsMax`). */
export const firstLookHeldMsMax = 5_000;

/** How long the first look of a start may get no answer (`silentMsMax`): work is paused then, and what ends the pause is more patient. */
export const firstLookSilentMsMax = 5_000;

/** The same of a look that nothing repeats: as long as one whole request may take. */
export const onlyLookSilentMsMax = workspaceTimeouts.requestMs;

/** A longer `Retry-After` is shortened to this. */
export const retryAfterMaxMs = 60_000;

/** The API key is read again at most this often. */
export const keyRenewalIntervalMs = 5_000;
