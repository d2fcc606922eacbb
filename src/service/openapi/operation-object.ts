/** One operation in the public description. */
import { z } from 'zod';
import { invariant } from '#src/errors.ts';
import { badRequest, jsonTypes, Refusal } from '#src/service/http/refusal.ts';
import { type ErrorDocs, errorDocsValues, errorReply } from '#src/service/http/replies.ts';
import { type Operation, objectOfBody } from '#src/service/operations/operation.ts';

/** An object of the OpenAPI specification. The document is checked as a whole, by a validator and in tests. */
export type OpenApiObject = Readonly<Record<string, unknown>>;

/** A trace in examples. */
const exampleTrace = '0123456789abcdef';

/** `/v1/contacts/:id` as `/v1/contacts/{id}`. */
export function describedPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

/** What the service was started with, as far as every operation shows it. */
export interface DescribedBehaviour {
  /** The value of `docs` in errors. */
  readonly errorDocs: ErrorDocs;
  readonly isRateLimited: boolean;
}

/** What the description of every operation is written with. */
export interface DescriptionParts extends DescribedBehaviour {
  readonly schemas: SchemaWriter;
}

export function operationObject(operation: Operation, parts: DescriptionParts): OpenApiObject {
  const { schemas } = parts;
  const { operationId, tag, summary, about, body } = operation.description;
  const parameters = [...pathParameters(operation, schemas), ...queryParameters(operation, schemas)];
  return {
    operationId,
    tags: [tag],
    summary,
    description: about,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body === null
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              'application/json': { schema: schemas.write(body.schema, 'request'), example: body.example },
            },
          },
        }),
    responses: { ...successResponse(operation, parts), ...refusalResponses(operation, parts) },
  };
}

function pathParameters({ path, description }: Operation, schemas: SchemaWriter): readonly OpenApiObject[] {
  const { pathId } = description;
  invariant(/:(\w+)/.exec(path)?.[1] === pathId?.name, 'a path parameter is described where there is one');
  if (pathId === null) return [];
  const { name, schema } = pathId;
  return [{ name, in: 'path', required: true, ...parameterSchema(schemas.write(schema, 'request')) }];
}

function queryParameters({ description }: Operation, schemas: SchemaWriter): readonly OpenApiObject[] {
  if (description.query === null) return [];
  const { properties = {}, required = [] } = schemas.write(description.query, 'request');
  return Object.entries(properties).map(([name, property]) => {
    invariant(typeof property === 'object', 'a parameter is written as an object');
    // An array is the repeated plain key.
    const repeated = property.type === 'array' ? { style: 'form', explode: true } : {};
    return { name, in: 'query', required: required.includes(name), ...repeated, ...parameterSchema(property) };
  });
}

/** A parameter's own description goes next to its schema, where viewers look for it. */
function parameterSchema({ description, deprecated, ...schema }: JsonSchema): OpenApiObject {
  return {
    ...(description === undefined ? {} : { description }),
    ...(deprecated === undefined ? {} : { deprecated }),
    schema,
  };
}

function successResponse({ description }: Operation, parts: DescriptionParts): OpenApiObject {
  const { status, about, schema, example } = description.reply;
  const headers = { ...rateHeaders(parts), ...(takesDeprecated(description, parts.schemas) ? warning : {}) };
  const described = { description: about, ...(Object.keys(headers).length > 0 ? { headers } : {}) };
  if (schema === null) return { [status]: described };
  return { [status]: { ...described, content: jsonContent(schema, parts.schemas, { example }) } };
}

/** `docs/facts.md`, "Later findings"; see `http/access.ts`. */
function rateHeaders({ isRateLimited }: DescriptionParts): OpenApiObject {
  if (!isRateLimited) return {};
  const text = { required: true, schema: { type: 'string' } };
  return {
    'RateLimit-Policy': { ...text, description: 'How many requests a key may send (q) in how many seconds (w).' },
    RateLimit: { ...text, description: 'How many are left to the key (r), and in how many seconds more will be (t).' },
  };
}

/** Section 9: what is deprecated is accepted and flagged; see `http/replies.ts`. */
const warning = {
  Warning: {
    description: 'Names the deprecated parameters that were sent, and what to use.',
    schema: { type: 'string' },
  },
};

function takesDeprecated({ query, body }: Operation['description'], schemas: SchemaWriter): boolean {
  return [query, body?.schema ?? null].some((schema) => {
    if (schema === null) return false;
    const { properties = {} } = schemas.resolve(schemas.write(schema, 'request'));
    return Object.values(properties).some((one) => typeof one === 'object' && one.deprecated === true);
  });
}

function jsonContent(schema: z.ZodType, schemas: SchemaWriter, shown: OpenApiObject): OpenApiObject {
  return { 'application/json': { schema: schemas.write(schema, 'reply'), ...shown } };
}

/** Refusals that come before an operation is carried out, and the unforeseen failure. */
function commonRefusals({ takesBody, description }: Operation): Readonly<Record<number, string>> {
  return {
    ...(takesBody || description.query !== null ? { 400: 'The request is not valid.' } : {}),
    401: 'The API key is missing or not known. It is sent alone, without a scheme.',
    ...(takesBody
      ? { 413: 'The body is too large.', 415: 'The body is not application/json in UTF-8, or it is compressed.' }
      : {}),
    429: 'More requests in a second than the key may send.',
    500: 'The service failed.',
  };
}

function refusalResponses(operation: Operation, parts: DescriptionParts): OpenApiObject {
  const { schemas } = parts;
  const refusals = { ...commonRefusals(operation), ...operation.description.refusals };
  const flagged = takesDeprecated(operation.description, schemas) ? operation.description.refusals : {};
  const responses: Record<string, OpenApiObject> = {};
  for (const [text, about] of Object.entries(refusals)) {
    const status = Number(text);
    const headers = {
      ...rateHeaders(parts),
      ...(status === 429 ? retryAfter : {}),
      ...(text in flagged ? warning : {}),
    };
    responses[text] = {
      description: about,
      ...(Object.keys(headers).length > 0 ? { headers } : {}),
      content:
        status === 401
          ? jsonContent(wrappedErrorSchema, schemas, {
              example: refusalBody(new Refusal(401, 'Unauthorized'), operation, parts),
            })
          : errorContent(operation, status, about, parts),
    };
  }
  return responses;
}

const retryAfter = {
  'Retry-After': { required: true, description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
};

function errorContent(operation: Operation, status: number, about: string, parts: DescriptionParts): OpenApiObject {
  const { refusalExamples = [] } = operation.description;
  const given = refusalExamples.filter((refusal) => refusal.status === status);
  const shown =
    given.length > 0
      ? { examples: Object.fromEntries(given.map((one) => [one.title, { value: refusalBody(one, operation, parts) }])) }
      : { example: refusalBody(status === 400 ? badRequest([]) : new Refusal(status, about), operation, parts) };
  // The status and the code of this very reply, beside what all errors have in common.
  const schema: JsonSchema = {
    ...parts.schemas.write(errorSchema, 'reply'),
    type: 'object',
    properties: {
      status: { type: 'integer', const: status },
      code: { type: 'string', pattern: `^${operation.resource}\\d\\d${status}$` },
    },
  };
  return { 'application/json': { schema, ...shown } };
}

function refusalBody(refusal: Refusal, { resource }: Operation, { errorDocs }: DescriptionParts): unknown {
  return objectOfBody(errorReply(refusal, { resource, trace: exampleTrace, docs: errorDocs }).body);
}

/**
 * Writes zod schemas as JSON Schema (draft 2020-12, the dialect of OpenAPI 3.1).
 *
 * A schema with an `id` in its meta becomes a component, wherever it is used; others are written where they are used. One name
 * is one schema: a reply admits no unknown member, a request ignores them, so that the two never share a component
 * that is an object.
 */
type JsonSchema = z.core.JSONSchema.JSONSchema;

/** `reply` is what comes out of a schema, `request` what may go in. */
type Direction = 'request' | 'reply';

export interface SchemaWriter {
  /** Throws a `bug` error where a name is taken by another schema. */
  readonly write: (schema: z.ZodType, direction: Direction) => JsonSchema;
  /** The schema that a written one refers to; itself where it refers to none. */
  readonly resolve: (written: JsonSchema) => JsonSchema;
  /** What was named so far, by name in alphabetical order. */
  readonly components: () => Readonly<Record<string, JsonSchema>>;
}

const ownPrefix = '#/$defs/';
const componentPrefix = '#/components/schemas/';

export function createSchemaWriter(): SchemaWriter {
  const components = new Map<string, JsonSchema>();
  return {
    write: (schema, direction) => {
      const { it, named } = writtenOnce(schema, direction);
      for (const [name, definition] of named) {
        const other = components.get(name) ?? definition;
        const same = other === definition || JSON.stringify(other) === JSON.stringify(definition);
        invariant(same, `the component ${name} is one schema`);
        components.set(name, definition);
      }
      return it;
    },
    resolve: (written) => components.get(written.$ref?.slice(componentPrefix.length) ?? '') ?? written,
    components: () => Object.fromEntries([...components].toSorted(([one], [other]) => (one < other ? -1 : 1))),
  };
}

interface Written {
  readonly it: JsonSchema;
  /** The components that it refers to, by name. */
  readonly named: ReadonlyMap<string, JsonSchema>;
}

/**
 * The error body is in every operation, and every service of a process describes itself: what was written once is not written
 * again. It is never changed.
 */
const known = { request: new WeakMap<z.ZodType, Written>(), reply: new WeakMap<z.ZodType, Written>() };

function writtenOnce(schema: z.ZodType, direction: Direction): Written {
  const written = known[direction].get(schema) ?? write(schema, direction);
  known[direction].set(schema, written);
  return written;
}

function write(schema: z.ZodType, direction: Direction): Written {
  // Inside of an object, a named schema is a reference at the top level too.
  const written: JsonSchema = z.toJSONSchema(z.object({ it: schema }), {
    target: 'draft-2020-12',
    io: direction === 'request' ? 'input' : 'output',
    override: ({ jsonSchema }) => tidy(jsonSchema),
  });
  const definitions = Object.entries(written.$defs ?? {});
  const it = written.properties?.it;
  invariant(typeof it === 'object', 'a schema is written as an object');
  return {
    it: withComponentReferences(it),
    named: new Map(definitions.map(([name, definition]) => [name, withComponentReferences(definition)])),
  };
}

/** A date-time is said by its format; the pattern beside it fills five lines. */
function tidy(schema: JsonSchema): void {
  if (schema.format === 'date-time') delete schema.pattern;
}

function withComponentReferences(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' && value.startsWith(ownPrefix)
      ? componentPrefix + value.slice(ownPrefix.length)
      : value,
  );
}

// The two error bodies as schemas (section 7; see `http/replies.ts`).
const code = z.string().regex(/^\d{7}$/);
const docs = z.enum(errorDocsValues);
const trace = z.string().meta({ description: 'Names the request in the log of the service.' });

/** Every refusal but those of authentication. */
const errorSchema = z
  .object({
    message: z.string(),
    code: code.meta({ description: 'Two digits for the resource, two for the variant, then the status.' }),
    status: z.int().min(400).max(599),
    docs,
    title: z.string(),
    description: z
      .string()
      .meta({ description: 'The title again, with titles that are not those of a status.' })
      .optional(),
    trace,
    errors: z
      .array(
        z.object({
          path: z.string().meta({ description: 'The member, written with dots; empty for the whole.' }),
          message: z.string(),
          schema: z.object({ type: z.enum(jsonTypes).meta({ description: 'The JSON type that was expected.' }) }),
        }),
      )
      .meta({ description: 'What is wrong with the request, one by one.' })
      .optional(),
  })
  .meta({ id: 'Error' });

/** Refusals of authentication. */
const wrappedErrorSchema = z
  .object({ error: z.object({ message: z.string(), docs, key: z.literal('Unauthorized'), trace }) })
  .meta({ id: 'AuthenticationError' });
