/**
 * The public description of the service, OpenAPI 3.1, made of the table of operations.
 *
 * Its schemas are those that check requests; those of replies are held to the replies by tests.
 */
import { createHash } from 'node:crypto';
import type { Hono } from 'hono';
import { z } from 'zod';
import type { Logger } from '#src/log.ts';
import type { ServiceEnv } from '#src/service/operations/exchange.ts';
import type { Operation, OperationTag } from '#src/service/operations/operation.ts';
import { createDescriptionPage, viewerFolder } from './description-page.ts';
import {
  createSchemaWriter,
  type DescribedBehaviour,
  type DescriptionParts,
  describedPath,
  type OpenApiObject,
  operationObject,
  type SchemaWriter,
} from './operation-object.ts';

/** The newest version of the interface (section 9). */
const interfaceVersion = '1.2.0';

export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly info: OpenApiObject;
  readonly servers: readonly OpenApiObject[];
  readonly security: readonly OpenApiObject[];
  readonly tags: readonly OpenApiObject[];
  /** By path, then by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiObject>>>>;
  readonly components: { readonly schemas: OpenApiObject; readonly securitySchemes: OpenApiObject };
}

const tags: Readonly<Record<OperationTag | 'Service', string>> = {
  Contacts: 'People and firms, by identifier or by the externalId of another system.',
  'Phone numbers': 'The phone numbers of the workspace and their users.',
  'Custom fields': 'What contacts may have beyond their default fields.',
  Calls: 'Calls and their recordings.',
  Messages: 'Text messages.',
  Service: 'The process itself.',
};

const securitySchemes: OpenApiObject = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The key alone, without a scheme before it (section 5).',
  },
};

const info: OpenApiObject = {
  title: 'Contacts and Phone Numbers Service',
  version: interfaceVersion,
  description: [
    'An HTTP JSON interface to a business-telephony workspace. Every path starts with /v1, the version of the',
    'interface; paths under /v0 are deprecated and answer 410. Lengths are counted in code points. Unknown',
    'members of a body and unknown parameters are ignored. A text that holds a NUL or a lone surrogate is refused.',
  ].join(' '),
};

/** Throws a `bug` error where the table contradicts itself. */
export function openApiDocument(operations: readonly Operation[], behaviour: DescribedBehaviour): OpenApiDocument {
  const schemas = createSchemaWriter();
  // First the paths: writing them makes the components.
  const paths = { ...operationPaths(operations, { ...behaviour, schemas }), '/healthz': healthPath(schemas) };
  return {
    openapi: '3.1.1',
    info,
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas: schemas.components(), securitySchemes },
  };
}

function operationPaths(operations: readonly Operation[], parts: DescriptionParts): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, OpenApiObject>> = {};
  for (const operation of operations) {
    const path = describedPath(operation.path);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: operationObject(operation, parts) };
  }
  return paths;
}

const healthReply = z.object({ status: z.literal('ok') });

function healthPath(schemas: SchemaWriter): OpenApiDocument['paths'][string] {
  const schema = schemas.write(healthReply, 'reply');
  return {
    get: {
      operationId: 'getHealth',
      tags: ['Service'],
      summary: 'Whether the process lives',
      security: [],
      responses: {
        200: { description: 'It does.', content: { 'application/json': { schema, example: { status: 'ok' } } } },
      },
    },
  };
}

// `GET /openapi.json`, the public description, and `GET /docs`, its page for people. Neither needs a key.

/** `document` is written at the first request: a service that is not asked need not. */
export function addDescription(app: Hono<ServiceEnv>, document: () => OpenApiDocument, log: Logger): void {
  let written: { readonly text: string; readonly etag: string } | undefined;
  app.get('/openapi.json', (context) => {
    written ??= write(document());
    const headers = { etag: written.etag, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' };
    if (hasAlready(context.req.header('if-none-match'), written.etag))
      return new Response(null, { status: 304, headers });
    return new Response(written.text, { headers: { ...headers, 'content-type': 'application/json' } });
  });
  const page = createDescriptionPage(viewerFolder, log);
  app.get('/docs', () => page.answerPage());
  app.get('/docs/:file', (context) => page.answerFile(context.req.param('file')));
}

function write(document: OpenApiDocument) {
  const text = JSON.stringify(document);
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` };
}

/**
 * An observer of every reply of the service as it was meant, before faults spoil it. Tests hold the replies to
 * the public description with it.
 */
export interface ObservedReply {
  /** In upper case; null where no operation was meant (an unknown path, a wrong method). */
  readonly method: string | null;
  /** As the description writes it, `/v1/contacts/{id}`; null where no operation was meant. */
  readonly path: string | null;
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON text; null for an empty body. */
  readonly text: string | null;
}

/** Must not throw. */
export type ObserveReply = (reply: ObservedReply) => void;

/** Called once, when the service starts. */
export type ReplyObserver = (document: OpenApiDocument) => ObserveReply;

/** `If-None-Match`: whether the client has what it asks for (RFC 9110, 13.1.2). */
const entityTag = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g;

/** `etag` is that of the present text, in quotes. Weak comparison: a mark of weakness counts for nothing. */
function hasAlready(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return [...ifNoneMatch.matchAll(entityTag)].some(([, opaque]) => opaque === etag);
}
