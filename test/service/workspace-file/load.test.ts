/** Files that people write by hand are loaded, and what is missing is made. */
import { expect, test } from 'vitest';
import { fixedClock } from './fixed-clock.ts';
import { filesOfTest, load, loadError, loadText } from './workspace-files.ts';

const ada = { defaultFields: { firstName: 'Ada' } };

test('a contact needs no more than its name; ids, instants and creator are made', async () => {
  const files = filesOfTest();
  const file = files.write('a.json', {
    contacts: [{ defaultFields: { firstName: 'Ada', emails: [{ name: 'work', value: 'ada@example.com' }] } }],
  });
  const service = await load(file, { clock: fixedClock('2026-11-21T10:00:00.000Z') });
  expect(service.loaded).toMatchObject({ contacts: 1, users: 1, customFields: 7, phoneNumbers: 0 });
  const [contact] = (await service.call('GET', '/v1/contacts')).body.data;
  expect(contact).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    externalId: null,
    source: null,
    sourceUrl: null,
    defaultFields: {
      company: null,
      firstName: 'Ada',
      lastName: null,
      role: null,
      emails: [{ id: expect.stringMatching(/^[0-9a-f]{24}$/), name: 'work', value: 'ada@example.com' }],
      phoneNumbers: [],
    },
    customFields: [],
    createdAt: '2026-11-21T10:00:00.000Z',
    updatedAt: '2026-11-21T10:00:00.000Z',
    createdByUserId: expect.stringMatching(/^US/),
  });
});

test('an empty object is a workspace with an owner, seven custom fields and nothing else', async () => {
  const service = await load(filesOfTest().write('a.json', '\ufeff{ }\n'));
  expect(service.loaded).toMatchObject({ contacts: 0, users: 1, customFields: 7 });
  expect((await service.call('GET', '/v1/contact-custom-fields')).body.data).toHaveLength(7);
});

test('without custom fields a contact may have those of a new workspace, also where the section comes later', async () => {
  const files = filesOfTest();
  const seats = { ...ada, customFields: [{ key: 'seats', value: 3 }] };
  const [first] = (await (await load(files.write('a.json', { contacts: [seats] }))).call('GET', '/v1/contacts')).body
    .data;
  expect(first.customFields).toMatchObject([{ key: 'seats', name: 'Seats', type: 'number', value: 3 }]);

  const shoe = { ...ada, customFields: [{ key: 'shoe', value: '42' }] };
  const file = files.write('b.json', {
    contacts: [shoe],
    customFields: [{ key: 'shoe', name: 'Shoe', type: 'string' }],
  });
  const second = await load(file);
  expect(second.loaded?.customFields).toBe(1);
  expect((await second.call('GET', '/v1/contacts')).body.data[0].customFields).toMatchObject([
    { key: 'shoe', value: '42' },
  ]);
});

test('a contact may be in a file as a reply shows it, too', async () => {
  const files = filesOfTest();
  const seats = { ...ada, source: 'crm', customFields: [{ key: 'seats', value: 3 }] };
  const first = await load(files.write('a.json', { contacts: [seats] }));
  const { data } = (await first.call('GET', '/v1/contacts')).body;
  const second = await load(files.write('b.json', { contacts: data }));
  expect((await second.call('GET', '/v1/contacts')).body.data).toEqual(data);
});

test('a reserved source is kept: a workspace holds contacts that other integrations made', async () => {
  const service = await load(filesOfTest().write('a.json', { contacts: [{ ...ada, source: 'google-people' }] }));
  expect((await service.call('GET', '/v1/contacts?sources=google-people')).body.data).toHaveLength(1);
});

test('instants are kept in UTC', async () => {
  const createdAt = '2026-01-02T03:04:05+02:00';
  const service = await load(filesOfTest().write('a.json', { contacts: [{ ...ada, createdAt }] }));
  const [contact] = (await service.call('GET', '/v1/contacts')).body.data;
  expect(contact).toMatchObject({ createdAt: '2026-01-02T01:04:05.000Z', updatedAt: '2026-01-02T01:04:05.000Z' });
});

const user = (id: string, role: string) => ({
  id,
  email: 'ada@example.com',
  firstName: 'Ada',
  lastName: null,
  role,
  groupId: 'GR1',
});
const regions = { CA: 'unrestricted', Intl: 'restricted', US: 'unrestricted' };
const number = (id: string, users: unknown[], digits = '+14155550100') => ({
  id,
  groupId: 'GR2',
  portRequestId: null,
  formattedNumber: null,
  forward: null,
  name: 'Main',
  number: digits,
  portingStatus: null,
  symbol: null,
  users,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  restrictions: { calling: regions, messaging: regions },
});

test('the owner is who the file names, else who has the role, else the first user', async () => {
  const files = filesOfTest();
  const users = [user('US1', 'member'), user('US2', 'owner'), user('US3', 'admin')];
  const creator = async (workspace: Record<string, unknown>) => {
    const service = await load(files.write('a.json', { contacts: [ada], ...workspace }));
    return (await service.call('GET', '/v1/contacts')).body.data[0].createdByUserId;
  };
  expect(await creator({ users, workspace: { ownerUserId: 'US3' } })).toBe('US3');
  expect(await creator({ users })).toBe('US2');
  expect(await creator({ users: [users[2], users[0]] })).toBe('US3');
});

test('without users in the file they are those of its phone numbers', async () => {
  const service = await load(
    filesOfTest().write('a.json', {
      phoneNumbers: [
        number('PN1', [user('US1', 'member'), user('US2', 'owner')]),
        number('PN2', [user('US1', 'member')], '+14155550101'),
      ],
    }),
  );
  expect(service.loaded).toMatchObject({ users: 2, phoneNumbers: 2 });
  expect((await service.call('GET', '/v1/phone-numbers?userId=US1')).body.data).toHaveLength(2);
});

test('through a pipe a section must come after those that it needs', async () => {
  expect((await loadText('{"contacts":[{"defaultFields":{"firstName":"Ada"}}]}')).loaded?.contacts).toBe(1);
  await expect(loadText('{"contacts":[],\n"customFields":[]}')).rejects.toMatchObject({
    code: 'workspaceFileMalformed',
    message: expect.stringContaining('line 2, column 1: customFields must come before contacts'),
  });
});

test('a store that is there keeps its content, and a load into it is refused', async () => {
  const files = filesOfTest();
  const store = files.at('store.sqlite');
  const file = files.write('a.json', { contacts: [ada] });
  await (await load(file, { store })).close();
  const error = await loadError(file, { store });
  expect(error).toMatchObject({ code: 'storeNotNew', kind: 'usage', message: expect.stringContaining(store) });
  const service = await load(file);
  expect((await service.call('GET', '/v1/contacts')).body.data).toHaveLength(1);
});
