/** What the description says of requests is what the service does with them. */
import { expect, test } from 'vitest';
import { schemasOf } from '../../support/reply-check.ts';
import { person, testKey } from '../test-service.ts';
import { describedService } from './described-service.ts';

const withItems = (member: string, ...values: unknown[]) => ({
  defaultFields: { firstName: 'Ada', [member]: values.map((value) => ({ name: 'work', value })) },
});
const withCustom = (...items: unknown[]) => ({ defaultFields: { firstName: 'Ada' }, customFields: items });

/** Bodies of create, each of which a schema can judge: nothing of it is reserved, taken or undefined. */
const bodies: unknown[] = [
  person('a'),
  person(null),
  person('é'.repeat(75)),
  person('😀'.repeat(75)),
  person('😀'.repeat(76)),
  person(''),
  { ...person('b'), more: 1 },
  {},
  null,
  [],
  'text',
  { defaultFields: {} },
  { defaultFields: { firstName: null } },
  { defaultFields: { firstName: 7 } },
  { defaultFields: { firstName: 'Ada', lastName: null, company: '', role: 'x'.repeat(500) } },
  person(null, { source: 'x'.repeat(72) }),
  person(null, { source: 'x'.repeat(73) }),
  person(null, { source: null }),
  person(null, { sourceUrl: 'https://example.com/1' }),
  person(null, { sourceUrl: 'people/1' }),
  person(null, { sourceUrl: `https://example.com/${'x'.repeat(200)}` }),
  person(null, { createdByUserId: 7 }),
  withItems('emails', 'a@example.com', 'b.c@mail.example.org'),
  withItems('emails', 'a@b'),
  withItems('emails', `${'a'.repeat(320)}@example.com`),
  withItems('emails', null),
  withItems('emails', ...Array.from({ length: 201 }, () => 'a@example.com')),
  withItems('phoneNumbers', '+14155550100'),
  withItems('phoneNumbers', '4155550100'),
  withItems('phoneNumbers', '+1415555010\n'),
  { defaultFields: { firstName: 'Ada', emails: [{ value: 'a@example.com' }] } },
  { defaultFields: { firstName: 'Ada' }, customFields: {} },
  withCustom({ key: 'seats', value: 4 }, { key: 'newsletter', value: null }),
  withCustom({ key: 'interests', value: ['tea'] }),
  withCustom({ key: 'interests', value: ['tea', 7] }),
  withCustom({ key: 'seats', value: {} }),
  withCustom({ key: 'seats' }),
  withCustom({ value: 4 }),
  // An id is no member of a create: it is ignored, whatever it is.
  ...[null, 7, 'abc', {}].map((id) => withCustom({ key: 'seats', id, value: 4 })),
  { defaultFields: { firstName: 'Ada', emails: [{ id: 5, name: 'work', value: 'a@example.com' }] } },
  withCustom('seats'),
];

/** Bodies of update, of the same kind. */
const updates: unknown[] = [
  {},
  null,
  { externalId: null, source: null, sourceUrl: null },
  { source: 'csv' },
  { source: 'x'.repeat(75) },
  { source: 'x'.repeat(76) },
  { defaultFields: { firstName: null, emails: [] } },
  { defaultFields: null },
  { defaultFields: { phoneNumbers: [{ name: 'work', value: '+14155550100' }] } },
  { defaultFields: { phoneNumbers: [{ name: 'work', value: '555' }] } },
  { defaultFields: { emails: [{ id: 7, name: 'work', value: null }] } },
  { defaultFields: { emails: [{ value: 'a@example.com' }] } },
  { customFields: [{ key: 'seats', value: null }] },
  { customFields: [{ key: 'seats', id: 7, value: 1 }] },
  { customFields: [{ key: 'seats', id: null, value: 1 }] },
];

/** Whether the description admits a body, and the status that it has. */
async function judge(method: 'POST' | 'PATCH', body: unknown): Promise<{ admitted: boolean; status: number }> {
  const { app, document } = describedService({ seedContacts: 1 });
  const headers = { authorization: testKey, 'content-type': 'application/json' };
  const listed = (await (await app.request('/v1/contacts', { headers })).json()) as { data: { id: string }[] };
  const path = method === 'POST' ? '/v1/contacts' : '/v1/contacts/{id}';
  const admits = schemasOf(document).at(
    ...['paths', path, method.toLowerCase(), 'requestBody', 'content', 'application/json', 'schema'],
  );
  const address = path.replace('{id}', listed.data[0]?.id ?? '');
  const reply = await app.request(address, { method, headers, body: JSON.stringify(body) });
  return { admitted: admits?.(body) === true, status: reply.status };
}

test.each(bodies)('create takes a body that the description admits, and refuses any other: %j', async (body) => {
  const { admitted, status } = await judge('POST', body);
  expect(status).toBe(admitted ? 201 : 400);
});

test.each(updates)('update takes a body that the description admits, and refuses any other: %j', async (body) => {
  const { admitted, status } = await judge('PATCH', body);
  expect(status).toBe(admitted ? 200 : 400);
});

test.each([
  ['POST', '/v1/contacts', 201],
  ['PATCH', '/v1/contacts/{id}', 200],
] as const)('the example of %s %s can be sent as it stands', async (method, path, status) => {
  const { document } = describedService();
  const operation = document.paths[path]?.[method.toLowerCase()] as {
    requestBody: { content: { 'application/json': { example: unknown } } };
  };
  const { example } = operation.requestBody.content['application/json'];
  expect(await judge(method, example)).toEqual({ admitted: true, status });
});

test.each([
  '',
  'maxResults=1',
  'maxResults=50',
  'maxResults=0',
  'maxResults=51',
  'externalIds=a&externalIds=b',
  'externalIds=',
  `externalIds=${'x'.repeat(76)}`,
  Array.from({ length: 20 }, (_, index) => `externalIds=${index}a`).join('&'),
  Array.from({ length: 21 }, (_, index) => `externalIds=${index}a`).join('&'),
  `sources=${'x'.repeat(75)}`,
  `sources=${'x'.repeat(76)}`,
])('a query that the description admits is answered, and any other is refused: %s', async (query) => {
  const { app, document } = describedService();
  const parameters = document.paths['/v1/contacts']?.get?.parameters as { name: string; schema: { type: string } }[];
  const schemas = schemasOf(document);
  const sent = new URLSearchParams(query);
  const admitted = parameters.every(({ name, schema }, index) => {
    if (!sent.has(name)) return true;
    const number = schema.type === 'integer' ? Number(sent.get(name)) : sent.get(name);
    const admits = schemas.at('paths', '/v1/contacts', 'get', 'parameters', String(index), 'schema');
    return admits?.(schema.type === 'array' ? sent.getAll(name) : number) === true;
  });
  const reply = await app.request(`/v1/contacts?${query}`, { headers: { authorization: testKey } });
  expect(reply.status).toBe(admitted ? 200 : 400);
});
