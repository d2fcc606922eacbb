/** What create and update refuse (4.1, 4.3, sections 7 and 8). */
import { describe, expect, test } from 'vitest';
import { person, shareTestService, startTestService, type TestService } from './test-service.ts';

const shared = shareTestService();

async function createStatus(service: TestService, body: unknown): Promise<number> {
  return (await service.call('POST', '/v1/contacts', body)).status;
}

const withEmail = (value: unknown) => ({ defaultFields: { firstName: 'A', emails: [{ name: 'work', value }] } });
const withPhone = (value: unknown) => ({ defaultFields: { firstName: 'A', phoneNumbers: [{ name: 'work', value }] } });

describe('limits of section 8', () => {
  test.each([
    ['externalId', 75],
    ['source', 72],
  ])('%s may have 1 to %i characters on create, counted in code points', async (member, lengthMax) => {
    const service = shared();
    expect(await createStatus(service, person(null, { [member]: '😀'.repeat(lengthMax) }))).toBe(201);
    expect(await createStatus(service, person(null, { [member]: '😀'.repeat(lengthMax + 1) }))).toBe(400);
    expect(await createStatus(service, person(null, { [member]: '' }))).toBe(400);
  });

  test('source may have 75 characters on update, and be a reserved word', async () => {
    const service = shared();
    const { body } = await service.call('POST', '/v1/contacts', person(null));
    const path = `/v1/contacts/${body.data.id}`;
    expect((await service.call('PATCH', path, { source: 'x'.repeat(75) })).status).toBe(200);
    expect((await service.call('PATCH', path, { source: 'x'.repeat(76) })).status).toBe(400);
    expect((await service.call('PATCH', path, { source: 'csv' })).body.data.source).toBe('csv');
    expect((await service.call('PATCH', path, { source: null })).body.data.source).toBe(null);
  });

  test('sourceUrl is a URI of up to 200 characters', async () => {
    const service = shared();
    const url = (length: number) => `https://example.com/${'x'.repeat(length - 20)}`;
    expect(await createStatus(service, person(null, { sourceUrl: url(200) }))).toBe(201);
    expect(await createStatus(service, person(null, { sourceUrl: url(201) }))).toBe(400);
    for (const sourceUrl of ['', 'example.com', '/people/1', 'https://exa mple.com', null]) {
      expect(await createStatus(service, person(null, { sourceUrl }))).toBe(400);
    }
  });

  test('sourceUrl is a URI by RFC 3986: ASCII, its escapes whole, its brackets round the numbers of a host', async () => {
    const service = shared();
    const statusOf = (sourceUrl: string) => createStatus(service, person(null, { sourceUrl }));
    for (const good of [
      'https://crm.example.com/people/17?tab=a,b&q=%C3%BC#top',
      'HTTPS://ada:secret@example.com:8443/;v=1/*(x)!',
      'http://[2001:db8::1]:80/a',
      'mailto:ada@example.com',
      'urn:example:person:17',
      'crm://people/17',
      'http://a:99999999/',
      'http://a:65536/x',
      'http://256.256.256.256/',
      'http://[v1.a:b]/',
    ]) {
      expect(await statusOf(good), good).toBe(201);
    }
    const inPath = [
      'ü',
      ' ',
      '<',
      '>',
      '"',
      '{',
      '}',
      '|',
      '\\',
      '^',
      '`',
      '[',
      ']',
      '%',
      '%4',
      '%zz',
      '#a#b',
      '\u0007',
    ];
    for (const bad of [
      ...inPath.map((piece) => `https://example.com/a${piece}`),
      'https://exämple.com/',
      'https://[::1/',
      'https://a@b@example.com/',
      'foo:',
      'HTTP:',
      'foo:?a#b',
      'http://[1:2]/',
      'http://[v1.]/',
      '1http://example.com/',
    ]) {
      expect(await statusOf(bad), bad).toBe(400);
    }
  });

  test.each(['openphone', 'device', 'csv', 'zapier', 'google-people', 'other', 'CSV', 'csv-2026', 'OpenPhone import'])(
    'source %j is reserved on create',
    async (source) => {
      const service = shared();
      const { status, body } = await service.call('POST', '/v1/contacts', person(null, { source }));
      expect(status).toBe(400);
      expect(body.errors[0].path).toBe('source');
    },
  );

  test.each(['devices', 'another', 'my-csv', 'public-api'])('source %j is free', async (source) => {
    const service = shared();
    expect(await createStatus(service, person(null, { source }))).toBe(201);
  });

  test('the reserved words can be configured', async () => {
    const service = await startTestService({ unnamedReservedSources: { words: ['brand'], prefixes: [] } });
    expect(await createStatus(service, person(null, { source: 'Brand' }))).toBe(400);
    expect(await createStatus(service, person(null, { source: 'zapier' }))).toBe(201);
  });
});

describe('fields', () => {
  test('defaultFields and in it firstName are required on create', async () => {
    const service = shared();
    const missing = await service.call('POST', '/v1/contacts', {});
    expect(missing.status).toBe(400);
    expect(missing.body).toMatchObject({ code: '0800400', title: 'Bad Request', status: 400 });
    expect(missing.body.errors).toEqual([
      { path: 'defaultFields', message: 'is required and must be an object', schema: { type: 'object' } },
    ]);
    expect(await createStatus(service, { defaultFields: { lastName: 'Grove' } })).toBe(400);
    expect(await createStatus(service, { defaultFields: { firstName: null } })).toBe(201);
  });

  test.each(['+14155550100', '+12', '+123456789012345'])('phone number %j is E.164', async (value) => {
    const service = shared();
    expect(await createStatus(service, withPhone(value))).toBe(201);
  });

  test.each([
    '4155550100',
    '+0415555',
    '+1 415 555 0100',
    '+1234567890123456',
    '+',
    '',
    null,
    14155550100,
    '+1415555010\n',
  ])('phone number %j is refused', async (value) => {
    const service = shared();
    const { status, body } = await service.call('POST', '/v1/contacts', withPhone(value));
    expect(status).toBe(400);
    expect(body.errors[0].path).toBe('defaultFields.phoneNumbers.0.value');
  });

  test.each(['a@example.com', 'a.b+c@mail.example.org', 'ü@exämple.com'])('e-mail %j is plausible', async (value) => {
    const service = shared();
    expect(await createStatus(service, withEmail(value))).toBe(201);
  });

  test.each(['', 'a', 'a@b', '@example.com', 'a@@example.com', 'a b@example.com', 'a@example.', 'a@.com', null])(
    'e-mail %j is refused',
    async (value) => {
      const service = shared();
      expect(await createStatus(service, withEmail(value))).toBe(400);
    },
  );

  test('an item needs its name, on update also to be removed', async () => {
    const service = shared();
    expect(
      await createStatus(service, { defaultFields: { firstName: 'A', emails: [{ value: 'a@example.com' }] } }),
    ).toBe(400);
    const { body } = await service.call('POST', '/v1/contacts', withEmail('a@example.com'));
    const { id } = body.data.defaultFields.emails[0];
    const patch = { defaultFields: { emails: [{ id, value: null }] } };
    expect((await service.call('PATCH', `/v1/contacts/${body.data.id}`, patch)).status).toBe(400);
  });

  test('a lone surrogate and a NUL are refused', async () => {
    const service = shared();
    expect(await createStatus(service, { defaultFields: { firstName: '\ud800' } })).toBe(400);
    expect(await createStatus(service, { defaultFields: { firstName: 'a\0b' } })).toBe(400);
  });

  test('a list holds at most 200 items, also when an update adds to it', async () => {
    const service = await startTestService({ patchMode: 'merge' });
    const items = (count: number) => Array.from({ length: count }, () => ({ name: 'work', value: 'a@example.com' }));
    expect(await createStatus(service, { defaultFields: { firstName: 'A', emails: items(201) } })).toBe(400);
    const { body } = await service.call('POST', '/v1/contacts', {
      defaultFields: { firstName: 'A', emails: items(200) },
    });
    const patch = { defaultFields: { emails: items(1) } };
    expect((await service.call('PATCH', `/v1/contacts/${body.data.id}`, patch)).status).toBe(400);
  });

  test('every problem of a body is told', async () => {
    const service = shared();
    const { body } = await service.call('POST', '/v1/contacts', {
      externalId: '',
      defaultFields: { firstName: 7, phoneNumbers: [{ name: 'a', value: 'x' }] },
    });
    expect(body.errors.map((one: { path: string }) => one.path).toSorted()).toEqual([
      'defaultFields.firstName',
      'defaultFields.phoneNumbers.0.value',
      'externalId',
    ]);
  });
});

describe('custom fields', () => {
  test.each([
    ['office_address', '1 Harbor Road'],
    ['newsletter', false],
    ['customer_since', '2026-11-21T00:00:00.000Z'],
    ['customer_since', '2026-11-21T01:00:00+01:00'],
    ['customer_since', '2026-11-21T00:00:00.123456789Z'],
    ['interests', ['tea']],
    ['interests', []],
    ['seats', 2.5],
    ['account_manager', 'Greta'],
    ['portal', 'https://portal.example.com'],
  ])('%s takes %j and gives it back', async (key, value) => {
    const service = shared();
    const { status, body } = await service.call(
      'POST',
      '/v1/contacts',
      person(null, { customFields: [{ key, value }] }),
    );
    expect(status).toBe(201);
    expect(body.data.customFields).toMatchObject([{ key, value }]);
  });

  test.each([
    ['office_address', 7],
    ['newsletter', 'true'],
    ['customer_since', '2026-11-21'],
    ['customer_since', 'yesterday'],
    ['customer_since', '2026-02-30T00:00:00Z'],
    ['customer_since', '2026-11-21T00:00:00.1234567890Z'],
    ['interests', 'tea'],
    ['interests', ['tea', 7]],
    ['seats', '4'],
    ['account_manager', ['Greta']],
    ['portal', true],
    ['no_such_key', 'x'],
    ['__proto__', 'x'],
  ])('%s refuses %j as an invalid custom field item', async (key, value) => {
    const service = shared();
    const { status, body } = await service.call(
      'POST',
      '/v1/contacts',
      person(null, { customFields: [{ key, value }] }),
    );
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: '0801400', status: 400, title: 'Invalid Custom Field Item' });
    expect(body.errors[0].path).toMatch(/^customFields\.0\.(key|value|value\.1)$/);
  });

  test('an infinite number, a missing key and a repeated key are refused', async () => {
    const service = shared();
    const title = async (json: string) => {
      const response = await fetch(`${service.origin}/v1/contacts`, {
        method: 'POST',
        headers: { authorization: 'key-for-tests', 'content-type': 'application/json' },
        body: `{"defaultFields":{"firstName":"A"},"customFields":${json}}`,
      });
      return ((await response.json()) as { title: string }).title;
    };
    expect(await title('[{"key":"seats","value":1e400}]')).toBe('Invalid Custom Field Item');
    expect(await title('[{"value":1}]')).toBe('Invalid Custom Field Item');
    expect(await title('["seats"]')).toBe('Invalid Custom Field Item');
    expect(await title('[{"key":"seats","value":1},{"key":"seats","value":2}]')).toBe('Invalid Custom Field Item');
    expect(await title('{}')).toBe('Bad Request');
  });

  test('a number beyond 2^53 - 1 is refused, since its digits could be lost', async () => {
    const service = shared();
    const answerTo = (value: number) =>
      service.call('POST', '/v1/contacts', person(null, { customFields: [{ key: 'seats', value }] }));
    for (const value of [Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 0.1, -1e-300]) {
      expect((await answerTo(value)).body.data.customFields).toMatchObject([{ value }]);
    }
    for (const value of ['9007199254740992', '-9007199254740992', '1e300', '1e400', '-1e400']) {
      const response = await fetch(`${service.origin}/v1/contacts`, {
        method: 'POST',
        headers: { authorization: 'key-for-tests', 'content-type': 'application/json' },
        body: `{"defaultFields":{"firstName":"A"},"customFields":[{"key":"seats","value":${value}}]}`,
      });
      const [status, body] = [response.status, (await response.json()) as { code: string; errors: unknown }];
      expect([status, body.code]).toEqual([400, '0801400']);
      expect(body.errors).toEqual([
        {
          path: 'customFields.0.value',
          message: 'must lie between -9007199254740991 and 9007199254740991; a greater number would lose digits',
          schema: { type: 'number' },
        },
      ]);
    }
  });

  test('null on create keeps nothing', async () => {
    const service = shared();
    const { body } = await service.call(
      'POST',
      '/v1/contacts',
      person(null, { customFields: [{ key: 'seats', value: null }] }),
    );
    expect(body.data.customFields).toEqual([]);
  });

  test('are refused on update in the same way, and nothing of the update is kept', async () => {
    const service = shared();
    const { body } = await service.call('POST', '/v1/contacts', person('kept'));
    const path = `/v1/contacts/${body.data.id}`;
    const patch = { externalId: 'moved', customFields: [{ key: 'seats', value: 'x' }] };
    expect((await service.call('PATCH', path, patch)).body.code).toBe('0801400');
    expect((await service.call('GET', path)).body).toEqual(body);
  });
});
