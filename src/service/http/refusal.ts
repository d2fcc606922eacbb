/**
 * A refusal is an error that the service answers (section 7; its codes: not shown), thrown wherever it is noticed.
 *
 * It carries all but the resource: that is known where the operation is known, and completes the code.
 */
import { STATUS_CODES } from 'node:http';

/** One thing that is wrong with a request. The value itself is not echoed. */
export interface RequestProblem {
  /** The member, as `defaultFields.phoneNumbers.0.value`; empty for the body as a whole. */
  readonly path: string;
  /** What the member must be; of the body as a whole a sentence. */
  readonly message: string;
  /** The JSON type that was expected. */
  readonly type: JsonType;
}

/** Digits 3 and 4 of a code (`docs/facts.md`, "codes"). */
type CodeVariant = '00' | '01' | '02';

interface RefusalOptions {
  /** Default: `01` for 500, as everywhere in the public description of the service, else `00`. */
  readonly variant?: CodeVariant;
  readonly title?: string;
  /** Beside the title, where the public description of the service has it. */
  readonly description?: string | null;
  readonly problems?: readonly RequestProblem[];
  readonly headers?: Readonly<Record<string, string>>;
}

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly variant: CodeVariant;
  readonly title: string;
  readonly description: string | null;
  /** All of them. */
  readonly problems: readonly RequestProblem[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, options: RefusalOptions = {}) {
    super(message);
    this.status = status;
    this.variant = options.variant ?? (status === 500 ? '01' : '00');
    this.title = options.title ?? titleOf(status);
    this.description = options.description ?? null;
    this.problems = options.problems ?? [];
    this.headers = options.headers ?? {};
  }
}

/** A status without a name of its own is named by its class (RFC 9110, 15). */
function titleOf(status: number): string {
  // 500 as the public description of the service has it; generated clients refuse another.
  if (status === 500) return 'Unknown';
  return STATUS_CODES[status] ?? (status < 500 ? 'Client Error' : 'Server Error');
}

/** As many as `errors[]` lists; the message counts the others. */
export const listedProblemsMax = 50;

/** 400 for a malformed request. Throw it with every problem that was found, not with the first alone. */
export function badRequest(problems: readonly RequestProblem[]): Refusal {
  return new Refusal(400, `The request is not valid. ${firstOf(problems)}`.trim(), { problems });
}

/** 400 for a custom field item that is not valid (section 7). */
export function invalidCustomFieldItem(problems: readonly RequestProblem[]): Refusal {
  return new Refusal(400, `A custom field item is not valid. ${firstOf(problems)}`, {
    variant: '01',
    title: 'Invalid Custom Field Item',
    description: 'Invalid Custom Field Item',
    problems,
  });
}

function firstOf(problems: readonly RequestProblem[]): string {
  const { path, message } = problems[0] ?? { path: '', message: '' };
  const isCut = problems.length > listedProblemsMax;
  const others = isCut ? ` (the first of ${problems.length} problems; ${listedProblemsMax} are listed)` : '';
  return `${path === '' ? '' : `${path}: `}${message}${others}`;
}

/** A parameter or a member that a request used and should not any more (section 9). */
export interface DeprecatedUse {
  readonly name: string;
  /** What to use in its place. ASCII, without quotes: it goes into a header. */
  readonly instead: string;
}

// What is answered where a path, or its method, means no operation.

/** HEAD is answered wherever GET is. */
export function wrongMethod(methods: readonly string[]): Refusal {
  const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return new Refusal(405, `This path answers ${allow}.`, { headers: { allow } });
}

/** Section 4: what is answered for a path that it does not name is not shown. */
export function noSuchPath(path: string): Refusal {
  const isVersioned = path === '/v1' || path.startsWith('/v1/');
  const hint = isVersioned ? 'GET /openapi.json lists those that there are.' : 'Every path starts with /v1.';
  return new Refusal(404, `There is no such path. ${hint}`);
}

/** Section 9: /v0 is deprecated. How it answers: not shown. 410, since nothing is served there any more. */
export function versionGone(): Refusal {
  return new Refusal(410, 'The paths under /v0 are deprecated and no longer answered. Use /v1.');
}

/**
 * What a schema expects at a place of what was sent: the JSON type, for `errors[].schema.type` (section 7: not shown),
 * and the words for it.
 * Both come from the schema itself, so that neither can say anything else than what is checked.
 */
export const jsonTypes = ['string', 'number', 'boolean', 'array', 'object'] as const;

export type JsonType = (typeof jsonTypes)[number];
