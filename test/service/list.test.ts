/** List contacts (4.5, 4.6; `docs/facts.md`, "List contacts"). */
import { expect, test } from 'vitest';
import { type Answer, person, startTestService, type TestService } from './test-service.ts';

async function withContacts(count: number): Promise<TestService> {
  const service = await startTestService();
  for (let index = 0; index < count; index += 1) {
    await service.call('POST', '/v1/contacts', person(`key-${index}`, { source: index % 2 === 0 ? 'even' : 'odd' }));
  }
  return service;
}

const keys = (answer: Answer) => answer.body.data.map((one: { externalId: string }) => one.externalId);

test('answers ten by default, in order of creation, with a token while there is more', async () => {
  const service = await withContacts(12);
  const first = await service.call('GET', '/v1/contacts');
  expect(first.status).toBe(200);
  expect(Object.keys(first.body)).toEqual(['data', 'totalItems', 'nextPageToken']);
  expect(keys(first)).toEqual(Array.from({ length: 10 }, (_, index) => `key-${index}`));
  expect(first.body.totalItems).toEqual(expect.any(Number));
  expect(first.body.nextPageToken).toEqual(expect.any(String));
  const second = await service.call('GET', `/v1/contacts?pageToken=${first.body.nextPageToken}`);
  expect(keys(second)).toEqual(['key-10', 'key-11']);
  expect(second.body.nextPageToken).toBe(null);
});

test('a full last page has no token', async () => {
  const service = await withContacts(3);
  expect((await service.call('GET', '/v1/contacts?maxResults=3')).body.nextPageToken).toBe(null);
});

test('an item of the list is what get answers', async () => {
  const service = await startTestService();
  const created = await service.call(
    'POST',
    '/v1/contacts',
    person('a', { customFields: [{ key: 'seats', value: 1 }] }),
  );
  expect((await service.call('GET', '/v1/contacts')).body.data).toEqual([created.body.data]);
});

test('externalIds and sources: OR within one, AND between the two', async () => {
  const service = await withContacts(6);
  const list = async (query: string) => keys(await service.call('GET', `/v1/contacts?${query}`));
  expect(await list('externalIds=key-4&externalIds=key-1')).toEqual(['key-1', 'key-4']);
  expect(await list('sources=even')).toEqual(['key-0', 'key-2', 'key-4']);
  expect(await list('sources=even&sources=odd')).toHaveLength(6);
  expect(await list('externalIds=key-1&externalIds=key-2&sources=even')).toEqual(['key-2']);
  expect(await list('externalIds=KEY-1')).toEqual([]);
});

test('a comma list is one id', async () => {
  const service = await withContacts(3);
  expect(keys(await service.call('GET', '/v1/contacts?externalIds=key-0,key-1'))).toEqual([]);
});

test('brackets and unknown parameters are ignored, and strangers come back', async () => {
  const service = await withContacts(3);
  expect(keys(await service.call('GET', '/v1/contacts?externalIds[]=key-1&phone=x'))).toHaveLength(3);
});

test.each([
  ['externalIds=%ff', 'externalIds'],
  ['externalIds=%C3%28%ED%A0%80&externalIds=%80', 'externalIds'],
  ['externalIds=a&sources=%c3', 'sources'],
  ['pageToken=x%C0%AF', 'pageToken'],
])('the query %s is not UTF-8: 400, and no contact that really has U+FFFD comes back', async (query, path) => {
  const service = await startTestService();
  for (const externalId of ['\ufffd', '\ufffd(\ufffd\ufffd\ufffd', 'a']) {
    await service.call('POST', '/v1/contacts', person(externalId, { source: '\ufffd' }));
  }
  const { status, body } = await service.call('GET', `/v1/contacts?${query}`);
  expect([status, body.code]).toEqual([400, '0800400']);
  expect(body.errors).toEqual([{ path, message: 'is not UTF-8, percent-encoded', schema: { type: 'string' } }]);
  expect((await service.call('GET', '/v1/contacts?externalIds=%EF%BF%BD')).body.data).toHaveLength(1);
});

test('an escape that is none stands for itself', async () => {
  const service = await startTestService();
  await service.call('POST', '/v1/contacts', person('100%'));
  expect((await service.call('GET', '/v1/contacts?externalIds=100%')).body.data).toHaveLength(1);
});

test('twenty ids are taken, twenty-one are refused', async () => {
  const service = await withContacts(1);
  const query = (count: number) => Array.from({ length: count }, (_, index) => `externalIds=key-${index}`).join('&');
  expect(keys(await service.call('GET', `/v1/contacts?${query(20)}`))).toEqual(['key-0']);
  const refused = await service.call('GET', `/v1/contacts?${query(21)}`);
  expect([refused.status, refused.body.code]).toEqual([400, '0800400']);
});

test.each([
  'maxResults=0',
  'maxResults=51',
  'maxResults=x',
  'maxResults=',
  'externalIds=',
  'pageToken=x',
  'pageToken=',
])('%s is refused', async (query) => {
  const service = await startTestService();
  expect((await service.call('GET', `/v1/contacts?${query}`)).status).toBe(400);
});

test('an id of 75 characters is looked for, one of 76 refused', async () => {
  const service = await startTestService();
  const key = encodeURIComponent('é'.repeat(75));
  await service.call('POST', '/v1/contacts', person('é'.repeat(75)));
  expect(keys(await service.call('GET', `/v1/contacts?externalIds=${key}`))).toHaveLength(1);
  expect((await service.call('GET', `/v1/contacts?externalIds=${key}x`)).status).toBe(400);
});

test('a walk meets every contact once while others are created and deleted', async () => {
  const service = await withContacts(12);
  const seen: string[] = [];
  let token: string | null = null;
  let pageCount = 0;
  do {
    const page: Answer = await service.call(
      'GET',
      `/v1/contacts?maxResults=5${token === null ? '' : `&pageToken=${token}`}`,
    );
    seen.push(...keys(page));
    token = page.body.nextPageToken;
    pageCount += 1;
    if (pageCount < 3) await service.call('POST', '/v1/contacts', person(`later-${pageCount}`));
    // One that was seen goes: the place does not shift.
    if (pageCount === 1) await service.call('DELETE', `/v1/contacts/${page.body.data[0].id}`);
  } while (token !== null && pageCount < 10);
  expect(seen).toEqual([...Array.from({ length: 12 }, (_, index) => `key-${index}`), 'later-1', 'later-2']);
});

test('twenty sources are taken, twenty-one are refused', async () => {
  const service = await withContacts(2);
  const query = (count: number) => ['odd', ...Array.from({ length: count - 1 }, (_, index) => `s${index}`)];
  const list = (sources: string[]) =>
    service.call('GET', `/v1/contacts?${sources.map((one) => `sources=${one}`).join('&')}`);
  expect(keys(await list(query(20)))).toEqual(['key-1']);
  const refused = await list(query(21));
  expect([refused.status, refused.body.code, refused.body.errors[0].path]).toEqual([400, '0800400', 'sources']);
});
