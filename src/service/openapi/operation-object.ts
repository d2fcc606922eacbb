/** One operation in the public description. */
import type { z } from 'zod';
import { invariant } from '#src/errors.ts';
import { errorReply } from '../http/error-reply.ts';
import { badRequest, Refusal } from '../http/refusal.ts';
import type { Operation } from '../operations/operation.ts';
import { objectOfBody } from '../operations/ready-body.ts';
import { errorSchema, wrappedErrorSchema } from './error-schemas.ts';
import type { JsonSchema, SchemaWriter } from './schema-writer.ts';

/** An object of the OpenAPI specification. The document is checked as a whole, by a validator and in tests. */
export type OpenApiObject = Readonly<Record<string, unknown>>;

/** A trace in examples. */
const exampleTrace = '0123456789abcdef';

/** `/v1/contacts/:id` as `/v1/contacts/{id}`. */
export function describedPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

export function operationObject(operation: Operation, schemas: SchemaWriter): OpenApiObject {
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
    responses: { ...successResponse(operation, schemas), ...refusalResponses(operation, schemas) },
  };
}

function pathParameters({ path, description }: Operation, schemas: SchemaWriter): readonly OpenApiObject[] {
  const name = /:(\w+)/.exec(path)?.[1];
  invariant((name === undefined) === (description.pathId === null), 'a path parameter is described where there is one');
  if (name === undefined || description.pathId === null) return [];
  return [{ name, in: 'path', required: true, ...parameterSchema(schemas.write(description.pathId, 'request')) }];
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

/** What a parameter says of itself stands beside its schema, where viewers look for it. */
function parameterSchema({ description, deprecated, ...schema }: JsonSchema): OpenApiObject {
  return {
    ...(description === undefined ? {} : { description }),
    ...(deprecated === undefined ? {} : { deprecated }),
    schema,
  };
}

function successResponse({ description }: Operation, schemas: SchemaWriter): OpenApiObject {
  const { status, about, schema, example } = description.reply;
  if (schema === null) return { [status]: { description: about } };
  const headers = takesDeprecated(description, schemas) ? { headers: warning } : {};
  return { [status]: { description: about, ...headers, content: jsonContent(schema, schemas, { example }) } };
}

/** Section 9: what is deprecated is accepted and flagged; see `http/flag-deprecated.ts`. */
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

/** Refusals that come before an operation is carried out, and the failure that nobody foresaw. */
function commonRefusals({ takesBody, description }: Operation): Readonly<Record<number, string>> {
  return {
    ...(takesBody || description.query !== null ? { 400: 'The request is not valid.' } : {}),
    401: 'The API key is missing or not known.',
    ...(takesBody
      ? { 413: 'The body is too large.', 415: 'The body is not application/json in UTF-8, or it is compressed.' }
      : {}),
    429: 'More requests in a second than the key may send.',
    500: 'The service failed.',
  };
}

function refusalResponses(operation: Operation, schemas: SchemaWriter): OpenApiObject {
  const refusals = { ...commonRefusals(operation), ...operation.description.refusals };
  const flagged = takesDeprecated(operation.description, schemas) ? operation.description.refusals : {};
  const responses: Record<string, OpenApiObject> = {};
  for (const [text, about] of Object.entries(refusals)) {
    const status = Number(text);
    responses[text] = {
      description: about,
      ...(status === 429 ? { headers: retryAfter } : {}),
      ...(text in flagged ? { headers: warning } : {}),
      content:
        status === 401
          ? jsonContent(wrappedErrorSchema, schemas, { example: refusalBody(new Refusal(401, about), operation) })
          : errorContent(operation, status, about, schemas),
    };
  }
  return responses;
}

const retryAfter = {
  'Retry-After': { required: true, description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
};

function errorContent(operation: Operation, status: number, about: string, schemas: SchemaWriter): OpenApiObject {
  const { refusalExamples = [] } = operation.description;
  const given = refusalExamples.filter((refusal) => refusal.status === status);
  const shown =
    given.length > 0
      ? { examples: Object.fromEntries(given.map((one) => [one.title, { value: refusalBody(one, operation) }])) }
      : { example: refusalBody(status === 400 ? badRequest([]) : new Refusal(status, about), operation) };
  // The status and the code of this very reply, beside what all errors have in common.
  const schema: JsonSchema = {
    ...schemas.write(errorSchema, 'reply'),
    type: 'object',
    properties: {
      status: { type: 'integer', const: status },
      code: { type: 'string', pattern: `^${operation.resource}\\d\\d${status}$` },
    },
  };
  return { 'application/json': { schema, ...shown } };
}

function refusalBody(refusal: Refusal, { resource }: Operation): unknown {
  return objectOfBody(errorReply(refusal, resource, exampleTrace).body);
}
