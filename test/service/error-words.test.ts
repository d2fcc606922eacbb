/** What a refusal says: the JSON type that was expected, a title for every status, and plain words (section 7). */
import { describe, expect, test } from 'vitest';
import { type Answer, person, shareTestService, startTestService, type TestService, testKey } from './test-service.ts';

const shared = shareTestService();

type Told = readonly [path: string, message: string, type: string];

const told = (answer: Answer): readonly Told[] =>
  answer.body.errors.map((one: { path: string; message: string; schema: { type: string } }) => [
    one.path,
    one.message,
    one.schema.type,
  ]);

const create = (service: TestService, body: unknown) => service.call('POST', '/v1/contacts', body);
const withFields = (customFields: unknown) => person(null, { customFields });
const texts = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);

describe('each problem names the JSON type that was expected', () => {
  test.each<readonly [unknown, readonly Told[]]>([
    [7, [['', 'The body must be an object.', 'object']]],
    [[], [['', 'The body must be an object.', 'object']]],
    [{}, [['defaultFields', 'is required and must be an object', 'object']]],
    [{ defaultFields: [] }, [['defaultFields', 'must be an object', 'object']]],
    [{ defaultFields: {} }, [['defaultFields.firstName', 'is required; it may be null', 'string']]],
    [{ defaultFields: { firstName: 7 } }, [['defaultFields.firstName', 'must be a text or null', 'string']]],
    [person(null, { source: null }), [['source', 'must be a text', 'string']]],
    [person(null, { source: 'CSV' }), [['source', 'must not be the reserved word csv', 'string']]],
    [person(null, { source: 'csv-2' }), [['source', 'must not begin with the reserved prefix csv', 'string']]],
    [
      { defaultFields: { firstName: null, emails: 'a@example.com' } },
      [['defaultFields.emails', 'must be a list', 'array']],
    ],
    [{ defaultFields: { firstName: null, emails: [7] } }, [['defaultFields.emails.0', 'must be an object', 'object']]],
    [
      { defaultFields: { firstName: null, phoneNumbers: [{ name: 'a', value: true }] } },
      [['defaultFields.phoneNumbers.0.value', 'must be a text', 'string']],
    ],
    [
      { defaultFields: { firstName: null, emails: texts(201).map((name) => ({ name, value: 'a@example.com' })) } },
      [['defaultFields.emails', 'must hold at most 200 items', 'array']],
    ],
    [withFields({}), [['customFields', 'must be a list', 'array']]],
    [withFields(texts(201)), [['customFields', 'must hold at most 200 items', 'array']]],
  ])('create %j', async (body, problems) => {
    expect(told(await create(shared(), body))).toEqual(problems);
  });

  test.each<readonly [unknown, readonly Told[]]>([
    ['seats', [['', 'must be an object with key and value', 'object']]],
    [null, [['', 'must be an object with key and value', 'object']]],
    [[], [['', 'must be an object with key and value', 'object']]],
    [{ value: 1 }, [['.key', 'is required and must be a text', 'string']]],
    [{ key: 7, value: 1 }, [['.key', 'must be a text', 'string']]],
    [{ key: 'nobody', value: 1 }, [['.key', 'no custom field has this key', 'string']]],
    [{ key: 'seats' }, [['.value', 'is required; it may be null', 'number']]],
    [{ key: 'seats', value: '4' }, [['.value', 'must be a number, or null', 'number']]],
    [{ key: 'newsletter', value: 'yes' }, [['.value', 'must be true or false, or null', 'boolean']]],
    [{ key: 'portal', value: 7 }, [['.value', 'must be a text, or null', 'string']]],
    [{ key: 'portal', value: 'a\0' }, [['.value', 'holds a lone surrogate or a NUL', 'string']]],
    [
      { key: 'customer_since', value: 'today' },
      [['.value', 'must be a date-time with an offset, as 2026-11-21T00:00:00Z, or null', 'string']],
    ],
    [{ key: 'interests', value: 'tea' }, [['.value', 'must be a list of texts, or null', 'array']]],
    [{ key: 'interests', value: ['tea', 7] }, [['.value.1', 'must be a text', 'string']]],
    [{ key: 'interests', value: texts(201) }, [['.value', 'must hold at most 200 items', 'array']]],
  ])('the custom field item %j', async (item, problems) => {
    const answer = await create(shared(), withFields([item]));
    expect([answer.body.code, answer.body.title]).toEqual(['0801400', 'Invalid Custom Field Item']);
    expect(told(answer)).toEqual(problems.map(([path, ...rest]) => [`customFields.0${path}`, ...rest]));
  });

  test.each<readonly [string, readonly Told[]]>([
    ['maxResults=x', [['maxResults', 'must be a whole number', 'number']]],
    ['maxResults=51', [['maxResults', 'must be a number from 1 to 50', 'number']]],
    ['externalIds=', [['externalIds.0', 'must be 1 to 75 characters long', 'string']]],
    [
      texts(21)
        .map((id) => `externalIds=${id}`)
        .join('&'),
      [['externalIds', 'must hold at most 20 ids', 'array']],
    ],
    ['pageToken=x', [['pageToken', 'is not a token that this listing gave', 'string']]],
  ])('list contacts with %s', async (query, problems) => {
    const service = shared();
    expect(told(await service.call('GET', `/v1/contacts?${query}`))).toEqual(problems);
  });

  test('calls, messages, recordings and phone numbers', async () => {
    const service = await startTestService({ seedPhoneNumbers: 1 });
    const get = async (path: string) => told(await service.call('GET', path));
    expect(await get('/v1/calls?phoneNumberId=PN1')).toEqual([
      ['participants', 'is required and must be a list', 'array'],
    ]);
    expect(await get('/v1/messages?phoneNumberId=7&participants=%2B14155550102')).toEqual([
      ['phoneNumberId', 'must begin with PN', 'string'],
    ]);
    expect(await get('/v1/call-recordings/7')).toEqual([['callId', 'must begin with AC', 'string']]);
    expect(await get('/v1/phone-numbers?userId=7')).toEqual([['userId', 'must begin with US', 'string']]);
    expect(told(await service.call('POST', '/v1/messages', { content: 7, from: '+14155550100', to: '7' }))).toEqual([
      ['content', 'must be a text', 'string'],
      ['to', 'must be a list', 'array'],
    ]);
  });

  test('update: an id that no item has, one that stands twice, and none where an item is to go', async () => {
    const service = shared();
    const emails = [{ name: 'work', value: 'ada@example.com' }];
    const { data } = (await create(service, { defaultFields: { firstName: 'Ada', emails } })).body;
    const [email] = data.defaultFields.emails;
    const list = [email, email, { ...email, id: 'x' }, { name: 'a', value: null }];
    const path = `/v1/contacts/${data.id}`;
    expect(told(await service.call('PATCH', path, { defaultFields: { emails: list } }))).toEqual([
      ['defaultFields.emails.1.id', 'is in the list twice', 'string'],
      ['defaultFields.emails.2.id', 'no item of this contact has this id', 'string'],
      ['defaultFields.emails.3.id', 'is needed to remove an item', 'string'],
    ]);
    const idProblem = async (id: unknown) =>
      told(await service.call('PATCH', path, { customFields: [{ key: 'seats', id, value: 1 }] }));
    expect(await idProblem('x')).toEqual([
      ['customFields.0.id', 'is not the id of this field in this contact', 'string'],
    ]);
    expect(await idProblem(7)).toEqual([['customFields.0.id', 'must be a text', 'string']]);
  });

  test('update: both lists at once, and what a list would grow to', async () => {
    const service = shared();
    const path = `/v1/contacts/${(await create(service, person(null))).body.data.id}`;
    const emails = [{ id: 'x', name: 'work', value: 'ada@example.com' }];
    const phoneNumbers = [
      { id: 'y', name: 'mobile', value: '+14155550142' },
      { name: 'mobile', value: null },
    ];
    expect(told(await service.call('PATCH', path, { defaultFields: { emails, phoneNumbers } }))).toEqual([
      ['defaultFields.emails.0.id', 'no item of this contact has this id', 'string'],
      ['defaultFields.phoneNumbers.0.id', 'no item of this contact has this id', 'string'],
      ['defaultFields.phoneNumbers.1.id', 'is needed to remove an item', 'string'],
    ]);
    const merging = await startTestService({ patchMode: 'merge' });
    const many = texts(200).map((name) => ({ name, value: 'ada@example.com' }));
    const { data } = (await create(merging, { defaultFields: { firstName: 'Ada', emails: many } })).body;
    const grown = { emails: many.slice(0, 1), phoneNumbers };
    expect(told(await merging.call('PATCH', `/v1/contacts/${data.id}`, { defaultFields: grown }))).toEqual([
      ['defaultFields.emails', 'would hold more than 200 items', 'array'],
      ['defaultFields.phoneNumbers.0.id', 'no item of this contact has this id', 'string'],
      ['defaultFields.phoneNumbers.1.id', 'is needed to remove an item', 'string'],
    ]);
  });

  test('a message that lacks everything lacks its sender, too', async () => {
    const service = shared();
    const sender = ['from', 'is required: the number to send from, or its identifier', 'string'];
    expect(told(await service.call('POST', '/v1/messages', {}))).toEqual([
      ['content', 'is required and must be a text', 'string'],
      ['to', 'is required and must be a list', 'array'],
      sender,
    ]);
    expect(told(await service.call('POST', '/v1/messages', { content: 'a', to: ['+14155550110'] }))).toEqual([sender]);
    expect(told(await service.call('POST', '/v1/messages', []))).toEqual([
      ['', 'The body must be an object.', 'object'],
    ]);
    expect(told(await service.call('POST', '/v1/messages', { from: 7, content: 'a', to: ['+14155550110'] }))).toEqual([
      ['from', 'must be a text', 'string'],
    ]);
  });

  test.each([
    ['e-mails', { defaultFields: { firstName: 'Ada', emails: texts(200).map((name) => ({ name, value: 'x' })) } }, 200],
    ['custom fields', withFields(texts(60).map((key) => ({ key, value: 1 }))), 60],
    ['texts of one custom field', withFields([{ key: 'interests', value: Array(200).fill(7) }]), 200],
  ])('of many problems with %s the first 50 are listed, and the message counts them all', async (_, body, count) => {
    const refused = await create(shared(), body);
    expect([refused.status, told(refused).length]).toEqual([400, 50]);
    expect(refused.body.message).toContain(`(the first of ${count} problems; 50 are listed)`);
    expect(refused.body.message.length).toBeLessThan(300);
  });

  test.each([
    ['{"a":', 'The body is not JSON.'],
    ['', 'The body is not JSON.'],
    [`${'['.repeat(33)}${']'.repeat(33)}`, 'The body is nested deeper than 32 levels.'],
    [Uint8Array.of(0x22, 0xff, 0x22), 'The body is not UTF-8.'],
  ])('the body %j that cannot be read', async (body, message) => {
    const service = shared();
    const headers = { authorization: testKey, 'content-type': 'application/json' };
    const response = await fetch(`${service.origin}/v1/contacts`, { method: 'POST', headers, body });
    expect(await response.json()).toMatchObject({
      message: `The request is not valid. ${message}`,
      errors: [{ path: '', message, schema: { type: 'object' } }],
    });
  });

  test('the control takes a list of faults', async () => {
    const service = await startTestService({ control: true });
    for (const body of [[], {}, { faults: 'x' }, { faults: texts(101) }]) {
      expect(told(await service.call('POST', '/__control', body))).toEqual([
        ['faults', 'must be a list of at most 100 texts', 'array'],
      ]);
    }
  });
});

test('a conflict names neither the field nor the other contact', async () => {
  const service = shared();
  await create(service, person('taken'));
  const { body } = await create(service, person('taken'));
  expect(body).toMatchObject({ code: '0800409', title: 'Conflict' });
  expect(body.message).toBe('The contact conflicts with another contact of this workspace.');
  expect(body).not.toHaveProperty('errors');
});

test.each([
  [400, '0800400', 'Bad Request'],
  [402, '0800402', 'Payment Required'],
  [403, '0800403', 'Forbidden'],
  [429, '0800429', 'Too Many Requests'],
  [499, '0800499', 'Client Error'],
  [500, '0801500', 'Unknown'],
  [502, '0800502', 'Bad Gateway'],
  [504, '0800504', 'Gateway Timeout'],
  [599, '0800599', 'Server Error'],
])('a fault of the status %i has its code and its title', async (status, code, title) => {
  const service = await startTestService({ faults: [`list:status=${status}`] });
  const answer = await service.call('GET', '/v1/contacts');
  expect([answer.status, answer.body.code, answer.body.title]).toEqual([status, code, title]);
});

test('a path that there is not: under /v1 the description helps, elsewhere the version', async () => {
  const service = shared();
  const messageOf = async (path: string) => (await service.call('GET', path)).body.message;
  for (const path of ['/v1', '/v1/contact', '/v1/contacts/1/2']) {
    expect(await messageOf(path)).toBe('There is no such path. GET /openapi.json lists those that there are.');
  }
  for (const path of ['/', '/contacts', '/v10/contacts', '/v2']) {
    expect(await messageOf(path)).toBe('There is no such path. Every path starts with /v1.');
  }
});
