/**
 * A refusal is an error that the service answers (section 7), thrown wherever it is noticed.
 *
 * It carries all but the resource: that is known where the operation is known, and completes the code.
 */

/** One thing that is wrong with a request. The value itself is not echoed. */
export interface RequestProblem {
  /** The member, as `defaultFields.phoneNumbers.0.value`; empty for the body as a whole. */
  readonly path: string;
  readonly message: string;
  /** The JSON type that was expected. */
  readonly type?: string;
}

export interface RefusalOptions {
  /** Digits 3 and 4 of the code (`facts.md`, "codes"). Default `00`. */
  readonly variant?: '00' | '01';
  readonly title?: string;
  /** Beside the title, where the public description of the service has it. */
  readonly description?: string;
  readonly problems?: readonly RequestProblem[];
  readonly headers?: Readonly<Record<string, string>>;
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  417: 'Expectation Failed',
  421: 'Misdirected Request',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  // As the public description of the service has it; generated clients refuse another.
  500: 'Unknown',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  505: 'HTTP Version Not Supported',
};

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly variant: '00' | '01';
  readonly title: string;
  readonly description: string | null;
  readonly problems: readonly RequestProblem[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, options: RefusalOptions = {}) {
    super(message);
    this.status = status;
    this.variant = options.variant ?? '00';
    this.title = options.title ?? titles[status] ?? 'Error';
    this.description = options.description ?? null;
    this.problems = options.problems ?? [];
    this.headers = options.headers ?? {};
  }
}

/** 400 for a malformed request. Throw it with every problem that was found, not with the first alone. */
export function badRequest(problems: readonly RequestProblem[]): Refusal {
  const first = problems[0];
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `;
  return new Refusal(400, `The request is not valid. ${where}${first?.message ?? ''}`.trim(), { problems });
}

/** 400 for a custom field item that is not valid (section 7). */
export function invalidCustomFieldItem(problems: readonly RequestProblem[]): Refusal {
  const first = problems[0];
  return new Refusal(400, `A custom field item is not valid. ${first?.path ?? ''}: ${first?.message ?? ''}`, {
    variant: '01',
    title: 'Invalid Custom Field Item',
    description: 'Invalid Custom Field Item',
    problems,
  });
}
