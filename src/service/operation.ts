/**
 * Terms of the service's inside.
 *
 * An *operation* is one thing that the interface can do (section 4). A *call* is one request for it, after
 * authentication, with its body's bytes read. A *reply* is the answer as a value: status and JSON body.
 */

/** The names that faults and counts use (`contract.md`, "Service"). */
export const operationNames = ['create', 'get', 'list', 'update', 'delete', 'numbers', 'fields'] as const;
export type OperationName = (typeof operationNames)[number];

/** The first two digits of an error code say what it is about (`facts.md`, "codes"). */
export type ResourceCode = '00' | '04' | '07' | '08';

/** How faults bend a listing. Without faults: no lag, and the filters count. */
export interface ListingFaults {
  /** Contacts younger than this are not listed yet. */
  readonly lagMs: number;
  /** The listing answers as if no filter had been sent. */
  readonly ignoreFilters: boolean;
}

export interface Call {
  /** The path parameter; an empty text where the path has none. */
  readonly id: string;
  readonly query: URLSearchParams;
  /** Parses the body. Throws `Refusal` where it is not JSON. */
  readonly body: () => unknown;
  readonly listing: ListingFaults;
}

export interface Reply {
  readonly status: number;
  /** Null: an empty body. */
  readonly body: Readonly<Record<string, unknown>> | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Operation {
  readonly name: OperationName;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly resource: ResourceCode;
  readonly takesBody: boolean;
  /** Throws `Refusal`. A reply to a write is given after its commit. */
  readonly run: (call: Call) => Reply | Promise<Reply>;
}
