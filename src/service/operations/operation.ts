/**
 * Terms of the service's inside.
 *
 * An *operation* is one thing that the interface can do (section 4). An *operation request* is one request for it, after
 * authentication, with its body's bytes read. A *reply* is the answer as a value: status and JSON body.
 */

import type { DeprecatedUse } from './deprecated-use.ts';
import type { OperationDescription } from './operation-description.ts';
import type { ReplyBody } from './ready-body.ts';

/**
 * The names that faults and counts use (`contract.md`, "Service"). Those after `fields` belong to what the change
 * history alone names (4.5): list calls, get call recordings, list messages, send a text message.
 */
export const operationNames = [
  'create',
  'get',
  'list',
  'update',
  'delete',
  'numbers',
  'fields',
  'calls',
  'recordings',
  'messages',
  'send',
] as const;
export type OperationName = (typeof operationNames)[number];

/** The first two digits of an error code say what it is about (`facts.md`, "codes"). */
export type ResourceCode = '00' | '01' | '02' | '04' | '07' | '08' | '09';

/** How faults bend a listing. Without faults: no lag, and the filters count. */
export interface ListingFaults {
  /** Contacts younger than this are not listed yet. */
  readonly lagMs: number;
  /** The listing answers as if no filter had been sent. */
  readonly ignoreFilters: boolean;
}

export interface OperationRequest {
  /** The path parameter; an empty text where the path has none. */
  readonly id: string;
  readonly query: URLSearchParams;
  /** Parses the body. Throws `Refusal` where it is not JSON. */
  readonly body: () => unknown;
  readonly listing: ListingFaults;
}

export interface Reply {
  readonly status: number;
  readonly body: ReplyBody;
  readonly headers?: Readonly<Record<string, string>>;
  /** Deprecated parameters that the request used (section 9): the reply says so in a header, the log in a field. */
  readonly deprecated?: readonly DeprecatedUse[];
}

export interface Operation {
  readonly name: OperationName;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly resource: ResourceCode;
  readonly takesBody: boolean;
  readonly description: OperationDescription;
  /** Throws `Refusal`. A reply to a write is given after its commit. */
  readonly run: (request: OperationRequest) => Reply | Promise<Reply>;
}
