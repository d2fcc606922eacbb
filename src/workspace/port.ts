/**
 * The workspace as the worker sees it: contacts, custom fields, phone numbers of one service (`interface.md`).
 *
 * A *read* gives what the service holds, or throws a `PatchbayError`:
 * - `auth` `keyRefused`: 401 or 403, after the key was read anew where that was due; facts: status, the service's words;
 * - `unreachable` `serviceUnreachable` | `serviceFailing` | `rateLimited`: still so after all tries;
 * - `unreachable` `serviceAnswersOddly` | `pageToken…` | `tooManyPages`: the reply is not as the interface says;
 * - `rejected` `requestRefused`: another 4xx; facts: status, the service's words;
 * - the signal's reason, when the caller gave up.
 *
 * A *write* says by its result what must happen next and is sent at most once. Invariant: a write that may have
 * landed is never reported as anything but `done` or `doubt`.
 */
import type { PatchbayError } from '#src/errors.ts';
import type { Contact, CreateContactBody, CustomFieldDefinition, UpdateContactBody } from '#src/wire/contact.ts';
import type { ServiceErrorBody } from '#src/wire/error.ts';
import type { PhoneNumber } from '#src/wire/phone-number.ts';

/**
 * What is counted: requests that reached the socket, by method (`get` includes repeated ones), those among the reads
 * that were repeated, and the replies with 429.
 */
export type RequestKind = 'get' | 'post' | 'patch' | 'retried' | 'rateLimited';
export type RequestCounts = { readonly [Kind in RequestKind]: number };

export interface CallOptions {
  /** Gives up waiting, and cuts a read. A write that is on its way is not cut: that would only make a doubt. */
  readonly signal?: AbortSignal;
  /**
   * Called each time a request has passed the rate gate, right before it is written. What it throws is passed
   * through, and nothing is sent.
   */
  readonly beforeSend?: () => void | Promise<void>;
  /** Called once per counted event, for the accounts of one run. Must not throw. */
  readonly onRequest?: (kind: RequestKind) => void;
}

export interface PhoneNumberOptions {
  /** Only the numbers of this user, whose id begins with `US` (`facts.md`). Null: all. */
  readonly userId?: string | null;
  /** Gives up, also in the middle of a page. */
  readonly signal?: AbortSignal;
}

export interface LookUp {
  /** All rows the service returned, strangers included: the caller compares `externalId` exactly. */
  readonly contacts: readonly Contact[];
  /** Monotonic: when the first page's request was written, the oldest possible moment of the read. */
  readonly readAtMs: number;
}

/** The end of a write, by what must happen next (`rules.md`, "One contact per key", steps 4 and 5). */
export type WriteResult =
  /** 2xx with a readable body: this is the contact now. */
  | { readonly kind: 'done'; readonly contact: Contact }
  /** Certainly not carried out: not sent at all, or 429 (`rateLimited`). May be tried again after a look-up. */
  | { readonly kind: 'notSent'; readonly rateLimited: boolean; readonly error: PatchbayError }
  /** The service says no (400, 404, 409, 422…). Sending the same again is of no use. */
  | { readonly kind: 'refused'; readonly status: number; readonly body: ServiceErrorBody }
  /** 401 or 403: the key, or this one contact. A read tells which. */
  | { readonly kind: 'unauthorized'; readonly status: number; readonly body: ServiceErrorBody }
  /** May have landed. Wait for the horizon, then look. `why` is one line for logs and reports. */
  | { readonly kind: 'doubt'; readonly why: string; readonly status: number | null };

export interface Workspace {
  /** Where it is, as `https://host` or `http://host:port`. */
  readonly origin: string;
  /**
   * All contacts with one of these external ids. 1 to 20 keys and 4 KB of query, or it throws a `bug`: cut longer
   * lists with `lookUpChunks`.
   */
  listByExternalIds(keys: readonly string[], options?: CallOptions): Promise<LookUp>;
  /** Null on 404. */
  getContact(id: string, options?: CallOptions): Promise<Contact | null>;
  /** Throws only what `beforeSend` throws, and `bug`. */
  createContact(body: CreateContactBody, options?: CallOptions): Promise<WriteResult>;
  /** Throws only what `beforeSend` throws, and `bug`. */
  updateContact(id: string, body: UpdateContactBody, options?: CallOptions): Promise<WriteResult>;
  /** Null when the service has no such list (404). */
  listCustomFields(): Promise<readonly CustomFieldDefinition[] | null>;
  /**
   * The pages of the workspace's phone numbers, in the service's order, each read when it is asked for, with the tries of
   * a read: one that fails for a while is asked for again by its own token, the pages before it are not. An id may come
   * twice where the list changes meanwhile. Throws as a read does, and `unreachable` `noPhoneNumberList` on 404.
   */
  listPhoneNumberPages(options?: PhoneNumberOptions): AsyncIterable<readonly PhoneNumber[]>;
  /** Unique, in the service's order; pages are followed where there is a token. Null on 404. */
  listPhoneNumberIds(): Promise<readonly string[] | null>;
  /** Since this client was made; no count ever goes back. */
  counts(): RequestCounts;
  /** Lets requests on their way end, then closes all connections. Later calls fail as not sent. */
  close(): Promise<void>;
}
