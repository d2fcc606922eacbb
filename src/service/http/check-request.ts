/**
 * Checks what was sent against a schema. Section 7, several problems at once: not shown; all of them are reported. Unknown
 * members are ignored.
 */
import type { z } from 'zod';
import { invariant } from '#src/errors.ts';
import type { PathId } from '#src/service/operations/operation.ts';
import { badRequest, type JsonType, type RequestProblem } from './refusal.ts';

/** Throws `Refusal` 400 with the path of each problem. */
export function checkShape<Output>(schema: z.ZodType<Output>, sent: unknown): Output {
  // The input is looked at for what is missing, and never echoed.
  const parsed = schema.safeParse(sent, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw badRequest(issuesWorthTelling(parsed.error).map((issue) => problemOf(schema, issue)));
}

/** Throws `Refusal` 400 where the identifier in a path is of another kind than the path's. */
export function requirePathId({ name, schema }: PathId, id: string): void {
  const parsed = schema.safeParse(id);
  if (parsed.success) return;
  throw badRequest(parsed.error.issues.map(({ message }) => ({ path: name, message, type: 'string' })));
}

/** What is of the wrong type is not also too long: zod measures a text in the place of a list, too. */
export function issuesWorthTelling({ issues }: Pick<z.ZodError, 'issues'>): readonly z.core.$ZodIssue[] {
  const placeOf = (issue: z.core.$ZodIssue) => JSON.stringify(issue.path);
  const mistyped = new Set(issues.filter(({ code }) => code === 'invalid_type').map(placeOf));
  return issues.filter((issue) => issue.code === 'invalid_type' || !mistyped.has(placeOf(issue)));
}

/** What an issue says in words. The schema was asked with `reportInput`. */
export function problemOf(schema: z.ZodType, issue: z.core.$ZodIssue): RequestProblem {
  const path = issue.path.map(String).join('.');
  const { type, words, nullable } = expectedAt(schema, issue.path);
  if (issue.code !== 'invalid_type') return { path, message: issue.message, type };
  if (path === '') return { path, message: `The body must be ${words}.`, type };
  if (issue.input !== undefined) return { path, message: `must be ${words}${nullable ? ' or null' : ''}`, type };
  return { path, message: nullable ? 'is required; it may be null' : `is required and must be ${words}`, type };
}

// Checks a query against the schema of its parameters.
//
// Unknown parameters are ignored (`docs/facts.md`, "List contacts"), `externalIds[]` among them: an array is the repeated
// plain key. Of a parameter that takes one value, the first counts. A number is read from its digits.

/** Throws `Refusal` 400 with the name of each parameter that is wrong. */
export function checkQuery<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  query: URLSearchParams,
): z.output<z.ZodObject<Shape>> {
  const sent: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(schema.shape)) {
    const values = query.getAll(name);
    if (values.length > 0) sent[name] = readValue(innermostType(parameter), values);
  }
  return checkShape<z.output<z.ZodObject<Shape>>>(schema, sent);
}

function readValue(type: string, values: readonly string[]): unknown {
  if (type === 'array') return values;
  const [first = ''] = values;
  return type === 'number' && /^-?\d{1,15}$/.test(first) ? Number(first) : first;
}

/** The type under `optional` and `default`. Ends: each turn goes one wrapper further in. */
function innermostType(parameter: z.core.$ZodType): string {
  let { def }: { def: z.core.$ZodTypeDef & { innerType?: z.core.$ZodType } } = parameter._zod;
  while (def.innerType !== undefined) def = def.innerType._zod.def;
  return def.type;
}

interface ExpectedShape {
  readonly type: JsonType;
  /** As “a text” or “an object”. */
  readonly words: string;
  readonly nullable: boolean;
}

/** The members of a definition that lead further in, each where the kind of schema has it. */
type Definition = z.core.$ZodTypeDef & {
  readonly innerType?: z.core.$ZodType;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly element?: z.core.$ZodType;
  readonly format?: string;
};

const shapes: Readonly<Record<string, Omit<ExpectedShape, 'nullable'>>> = {
  string: { type: 'string', words: 'a text' },
  enum: { type: 'string', words: 'a text' },
  literal: { type: 'string', words: 'a text' },
  int: { type: 'number', words: 'a whole number' },
  number: { type: 'number', words: 'a number' },
  boolean: { type: 'boolean', words: 'true or false' },
  array: { type: 'array', words: 'a list' },
  object: { type: 'object', words: 'an object' },
};

/**
 * `path` is that of an issue. Enums and literals are texts: the interface has no others. Throws a `bug` error for a kind
 * of schema that no request has.
 */
function expectedAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): ExpectedShape {
  let { definition, nullable } = unwrapped(schema);
  for (const step of path) {
    const inner = definition.element ?? definition.shape?.[String(step)];
    invariant(inner !== undefined, 'an issue lies inside of its schema', { path: path.map(String).join('.') });
    ({ definition, nullable } = unwrapped(inner));
  }
  const shape = shapes[definition.format === 'safeint' ? 'int' : definition.type];
  invariant(shape !== undefined, 'a schema of a request has a JSON type', { type: definition.type });
  return { ...shape, nullable };
}

/** What is under `optional`, `nullable` and `default`. Ends: each turn goes one wrapper further in. */
function unwrapped(schema: z.core.$ZodType): { definition: Definition; nullable: boolean } {
  let definition: Definition = schema._zod.def;
  let nullable = false;
  while (definition.innerType !== undefined) {
    nullable ||= definition.type === 'nullable';
    definition = definition.innerType._zod.def;
  }
  return { definition, nullable };
}

// The query of a request, without a whole URL being read.

/** For the many requests without one. Never added to. */
const noQuery = new URLSearchParams();

/** The listener has checked the URL: what follows the first question mark is the query, less a fragment. */
export function queryOf(url: string): URLSearchParams {
  const [address = ''] = url.split('#', 1);
  const start = address.indexOf('?');
  return start < 0 ? noQuery : new URLSearchParams(address.slice(start + 1));
}

/** Percent-encoded bytes, as far as they stand together. An escape that is none, as `%zz`, is read as it is. */
const escapedBytes = /(?:%[\da-f]{2})+/gi;

/**
 * Throws `Refusal` 400 where a parameter is not UTF-8. Bytes that are none would be read as U+FFFD, and a filter would find
 * contacts that really have that character (problem 2 of `docs/facts.md`, "What goes wrong when contacts are synced").
 */
export function requireUtf8Query(url: string): void {
  if (!url.includes('%')) return;
  const [, ...parameters] = url.split(/[?&#]/);
  const broken = parameters.find((parameter) => !isUtf8(parameter));
  if (broken === undefined) return;
  const [name = ''] = new URLSearchParams(broken).keys();
  throw badRequest([{ path: name, message: 'is not UTF-8, percent-encoded', type: 'string' }]);
}

function isUtf8(escaped: string): boolean {
  try {
    for (const [bytes] of escaped.matchAll(escapedBytes)) decodeURIComponent(bytes);
    return true;
  } catch {
    // A URIError, and nothing else: each text is whole escapes.
    return false;
  }
}
