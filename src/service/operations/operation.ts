/**
 * Terms of the service's inside.
 *
 * An *operation* is one thing that the interface can do (section 4). An *operation request* is one request for it, after
 * authentication, with its body's bytes read. A *reply* is the answer as a value: status and JSON body.
 */
import type { z } from 'zod';
import type { DeprecatedUse, Refusal } from '#src/service/http/refusal.ts';

/**
 * The names that faults and counts use (`docs/contract.md`, "Service"). Those after `fields` belong to what the change
 * history alone names (4.5): list calls, get call recordings, list messages, send a text message. `numbers`, `calls` and
 * `messages` are also the one that is got by its id.
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

/** The first two digits of an error code say what it is about (`docs/facts.md`, "codes"). */
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
}

/** What is looked at for deprecated parameters (section 9): whatever the reply is, it says so in a header, the log in a field. */
export interface DeprecatedIn {
  readonly query?: (query: URLSearchParams) => readonly DeprecatedUse[];
  /** `body`: as it was sent, of any shape. */
  readonly body?: (body: unknown) => readonly DeprecatedUse[];
}

export interface Operation {
  readonly name: OperationName;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly resource: ResourceCode;
  readonly takesBody: boolean;
  readonly description: OperationDescription;
  /** Undefined where nothing is deprecated. */
  readonly deprecatedIn?: DeprecatedIn;
  /** Throws `Refusal`. A reply to a write is given after its commit. */
  readonly run: (request: OperationRequest) => Reply | Promise<Reply>;
}

/**
 * What the public description says of an operation (`GET /openapi.json`). Its schemas are the very ones that check
 * requests, so that the two cannot differ.
 */
export type OperationTag = 'Contacts' | 'Phone numbers' | 'Custom fields' | 'Calls' | 'Messages';

/** A path parameter: its name in the path, and what it must be. */
export interface PathId {
  readonly name: string;
  readonly schema: z.ZodType<string>;
}

export interface OperationDescription {
  /** Unique, as `createContact`. */
  readonly operationId: string;
  readonly tag: OperationTag;
  readonly summary: string;
  /** Sentences for a person, with the section of the interface. */
  readonly about: string;
  /** The path parameter; null where the path has none. */
  readonly pathId: PathId | null;
  /** The parameters; null where there are none. Arrays are sent as the repeated plain key. */
  readonly query: z.ZodObject | null;
  readonly body: DescribedBody | null;
  readonly reply: DescribedReply;
  /** Refusals beyond those that every operation has (401, 429, 500): status and when. */
  readonly refusals: Readonly<Record<number, string>>;
  /** Refusals worth showing in full. Where there is none of a status, one is made from its sentence. */
  readonly refusalExamples?: readonly Refusal[];
}

interface DescribedBody {
  readonly schema: z.ZodType;
  readonly example: unknown;
}

interface DescribedReply {
  readonly status: number;
  readonly about: string;
  /** Null: an empty body. */
  readonly schema: z.ZodType | null;
  readonly example?: unknown;
}

/** How many requests each operation has had. */
interface RequestCounts {
  readonly count: (operation: Operation) => void;
  /** One entry per operation, be it 0. */
  readonly all: () => Readonly<Record<string, number>>;
}

export function createRequestCounts(): RequestCounts {
  const counts = new Map<OperationName, number>(operationNames.map((name) => [name, 0]));
  return {
    count: ({ name }) => {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    },
    all: () => Object.fromEntries(counts),
  };
}

/**
 * The body of a reply whose JSON text is at hand already: the store keeps contacts as reads show them, so that a page
 * of fifty is put together without being parsed.
 */
export class ReadyBody {
  /** The text of a JSON object. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Null: an empty body. */
export type ReplyBody = Readonly<Record<string, unknown>> | ReadyBody | null;

/** The JSON text of a body; null for an empty one. */
export function textOfBody(body: ReplyBody): string | null {
  if (body === null) return null;
  return body instanceof ReadyBody ? body.text : JSON.stringify(body);
}

/** A body as an object, for those who look into it; null for an empty one. */
export function objectOfBody(body: ReplyBody): Readonly<Record<string, unknown>> | null {
  return body instanceof ReadyBody ? JSON.parse(body.text) : body;
}
