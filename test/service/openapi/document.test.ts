/** The public description as a document: valid, whole, and true to its own examples. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { schemasOf } from '../../support/reply-check.ts';
import { startTestService, testKey } from '../test-service.ts';
import { describedService } from './described-service.ts';

// biome-ignore lint/suspicious/noExplicitAny: a literal JSON document, which these tests take apart
type Json = any;

/** Every operation object with its place. */
function operationsOf(document: Json): { path: string; method: string; operation: Json }[] {
  return Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

test.each([{}, { pageNumbers: 2 }, { patchMode: 'replace' as const }])(
  'it is valid OpenAPI 3.1, whatever the service was started with: %j',
  async (overrides) => {
    const { document } = describedService(overrides);
    const result = await new Validator().validate(JSON.parse(JSON.stringify(document)));
    expect(result.errors).toBe(undefined);
    expect(result.valid).toBe(true);
  },
);

test('/openapi.json answers it without a key, and 304 to who has it', async () => {
  const service = await startTestService();
  const answer = await fetch(`${service.origin}/openapi.json`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
  expect(await answer.json()).toEqual(JSON.parse(JSON.stringify(describedService().document)));
  const known = { 'if-none-match': answer.headers.get('etag') ?? '' };
  expect((await fetch(`${service.origin}/openapi.json`, { headers: known })).status).toBe(304);
});

test('every operation that is served is described, and every operation that is described is served', async () => {
  const { app, document } = describedService();
  const paths = new Set(app.routes.map(({ path }) => path).filter((path) => /^\/(v1\/|healthz)/.test(path)));
  const served: string[] = [];
  for (const path of paths) {
    // What a path answers, it tells whoever asks it with another method.
    const refused = await app.request(path, { method: 'PUT' });
    for (const method of (refused.headers.get('allow') ?? 'none').split(', ')) {
      // What GET answers without its body is not described by itself.
      if (method !== 'HEAD') served.push(`${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    }
  }
  const described = operationsOf(document).map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(described.toSorted()).toEqual(served.toSorted());
  expect(described).toContain('PATCH /v1/contacts/{id}');
});

test('what section 9 deprecates is marked', () => {
  const document: Json = describedService().document;
  for (const path of ['/v1/calls', '/v1/messages']) {
    const since = document.paths[path].get.parameters.find((one: Json) => one.name === 'since');
    expect(since.deprecated).toBe(true);
    expect(document.paths[path].get.responses[200].headers).toHaveProperty('Warning');
  }
  expect(document.paths['/v1/messages'].post.responses[202].headers).toHaveProperty('Warning');
  expect(document.paths['/v1/contacts'].get.responses[200]).not.toHaveProperty('headers');
  expect(document.components.schemas.SendMessage.properties.phoneNumberId.deprecated).toBe(true);
});

test('it names the version of the interface, the header of the key and the root as its server', () => {
  const { document } = describedService();
  expect(document.info.version).toBe('1.2.0');
  expect(document.components.securitySchemes.apiKey).toMatchObject({
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
  });
  expect(document.servers).toEqual([{ url: '/' }]);
});

test('each operation has an id of its own, a tag that is described, and the refusals that can meet it', () => {
  const { document } = describedService();
  const all = operationsOf(document).filter(({ path }) => path.startsWith('/v1'));
  const ids = all.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const tags = document.tags.map(({ name }) => name);
  for (const { path, method, operation } of all) {
    const statuses = Object.keys(operation.responses);
    const place = `${method} ${path}`;
    expect([place, tags]).toEqual([place, expect.arrayContaining(operation.tags)]);
    expect([place, statuses]).toEqual([place, expect.arrayContaining(['401', '429', '500'])]);
    if (operation.requestBody !== undefined) expect(statuses).toEqual(expect.arrayContaining(['400', '413', '415']));
    if (path.includes('{')) expect([place, statuses]).toEqual([place, expect.arrayContaining(['404'])]);
  }
});

test('arrays among the parameters are the repeated plain key', () => {
  const arrays = operationsOf(describedService().document)
    .flatMap(({ operation }) => operation.parameters ?? [])
    .filter((parameter: Json) => parameter.schema.type === 'array');
  expect(arrays.map((one: Json) => one.name)).toEqual(expect.arrayContaining(['externalIds', 'sources']));
  for (const parameter of arrays) expect(parameter).toMatchObject({ in: 'query', style: 'form', explode: true });
});

test('the limits of section 8 can be read from it', () => {
  const document: Json = describedService().document;
  const { CreateContact: create, UpdateContact: update } = document.components.schemas;
  const text = (schema: Json) => schema.anyOf?.find((one: Json) => one.type === 'string') ?? schema;
  expect(text(create.properties.externalId)).toMatchObject({ minLength: 1, maxLength: 75 });
  expect(text(create.properties.source)).toMatchObject({ minLength: 1, maxLength: 72 });
  expect(create.properties.source.description).toMatch(/device, csv.*Reserved prefixes/);
  expect(text(update.properties.source)).toMatchObject({ minLength: 1, maxLength: 75 });
  expect(text(update.properties.sourceUrl)).toMatchObject({ minLength: 1, maxLength: 200, format: 'uri' });
  const phone = create.properties.defaultFields.properties.phoneNumbers.items.properties.value;
  expect(phone.pattern).toBe('^\\+[1-9]\\d{1,14}$');
  expect(create.properties.customFields.maxItems).toBe(200);
  const parameters = document.paths['/v1/contacts'].get.parameters;
  expect(parameters.find((one: Json) => one.name === 'maxResults').schema).toMatchObject({
    type: 'integer',
    minimum: 1,
    maximum: 50,
    default: 10,
  });
  expect(parameters.find((one: Json) => one.name === 'externalIds').schema.maxItems).toBe(20);
});

test('a custom field item of a body has five options', () => {
  const document: Json = describedService().document;
  for (const [name, members] of [
    ['NewCustomFieldItem', ['key', 'value']],
    ['CustomFieldItem', ['key', 'id', 'value']],
  ] as const) {
    const { anyOf } = document.components.schemas[name];
    expect(anyOf.map((option: Json) => option.title)).toEqual([
      'Option 1: multi-select',
      'Option 2: address, string or url',
      'Option 3: boolean',
      'Option 4: date',
      'Option 5: number',
    ]);
    for (const option of anyOf) {
      expect(Object.keys(option.properties)).toEqual(members);
      expect(JSON.stringify(option.properties.value)).toContain('"null"');
    }
  }
});

test('what no schema says of texts and dates is said in words', () => {
  const document: Json = describedService().document;
  expect(document.info.description).toContain('NUL or a lone surrogate');
  for (const name of ['NewCustomFieldItem', 'CustomFieldItem']) {
    const date = document.components.schemas[name].anyOf.find(({ title }: Json) => title === 'Option 4: date');
    expect(JSON.stringify(date)).toContain('at most 9 digits behind the second');
  }
});

test('the reserved words are those that the service was started with', () => {
  const { document } = describedService({ unnamedReservedSources: { words: ['brand'], prefixes: [] } });
  const schemas: Json = document.components.schemas;
  expect(schemas.CreateContact.properties.source.description).toContain('brand');
});

test('phone numbers have pages in it where the service pages them', () => {
  const names = (document: Json) =>
    document.paths['/v1/phone-numbers'].get.parameters.map((one: Json) => one.name) as string[];
  expect(names(describedService().document)).toEqual(['userId']);
  expect(names(describedService({ pageNumbers: 2 }).document)).toEqual(['userId', 'pageToken']);
  const refused = (document: Json) => document.paths['/v1/phone-numbers'].get.responses[400].description as string;
  expect(refused(describedService().document)).not.toContain('token');
  expect(refused(describedService({ pageNumbers: 2 }).document)).toContain('token');
});

test('every example is as its own schema says', () => {
  const { document } = describedService();
  const schemas = schemasOf(document);
  const problems: string[] = [];
  let count = 0;
  const check = (media: Json, ...steps: string[]) => {
    const validate = schemas.at(...steps, 'content', 'application/json', 'schema');
    const shown = 'examples' in media ? Object.values<Json>(media.examples).map((one) => one.value) : [media.example];
    for (const example of shown) {
      count += 1;
      if (validate?.(example) !== true) problems.push(`${steps.join(' ')}: ${JSON.stringify(validate?.errors)}`);
    }
  };
  for (const { path, method, operation } of operationsOf(document)) {
    const place = ['paths', path, method];
    if (operation.requestBody !== undefined) {
      check(operation.requestBody.content['application/json'], ...place, 'requestBody');
    }
    for (const [status, response] of Object.entries<Json>(operation.responses)) {
      if (response.content !== undefined) check(response.content['application/json'], ...place, 'responses', status);
    }
  }
  expect(problems).toEqual([]);
  expect(count).toBeGreaterThan(50);
});

test('every component is used', () => {
  const text = JSON.stringify(describedService().document);
  const names = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map((match) => match[1]);
  const { schemas } = describedService().document.components;
  expect([...new Set(names)].toSorted()).toEqual(Object.keys(schemas).toSorted());
});

test('the health of the process is as it says', async () => {
  const { app, document } = describedService();
  const reply = await app.request('/healthz', { headers: { authorization: testKey } });
  const validate = schemasOf(document).at(
    ...['paths', '/healthz', 'get', 'responses', '200', 'content', 'application/json', 'schema'],
  );
  expect(validate?.(await reply.json())).toBe(true);
});
