/**
 * The public description of the service, OpenAPI 3.1, made of the table of operations.
 *
 * Its schemas are those that check requests; those of replies are held to the replies by tests.
 */
import { z } from 'zod';
import type { Operation } from '../operations/operation.ts';
import type { OperationTag } from '../operations/operation-description.ts';
import { describedPath, type OpenApiObject, operationObject } from './operation-object.ts';
import { createSchemaWriter, type SchemaWriter } from './schema-writer.ts';

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
    'members of a body and unknown parameters are ignored.',
  ].join(' '),
};

/** Throws a `bug` error where the table contradicts itself. */
export function openApiDocument(operations: readonly Operation[]): OpenApiDocument {
  const schemas = createSchemaWriter();
  // First the paths: writing them makes the components.
  const paths = { ...operationPaths(operations, schemas), '/healthz': healthPath(schemas) };
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

function operationPaths(operations: readonly Operation[], schemas: SchemaWriter): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, OpenApiObject>> = {};
  for (const operation of operations) {
    const path = describedPath(operation.path);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: operationObject(operation, schemas) };
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
