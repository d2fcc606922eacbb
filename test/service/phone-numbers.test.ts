/** Phone numbers (2.4, 4.4) and custom-field definitions (`docs/facts.md`). */
import { expect, test } from 'vitest';
import { type Answer, startTestService } from './test-service.ts';

const ids = (answer: Answer): string[] => answer.body.data.map((one: { id: string }) => one.id);

test('list answers all of them, without paging', async () => {
  const service = await startTestService({ seedPhoneNumbers: 120 });
  const { status, body } = await service.call('GET', '/v1/phone-numbers');
  expect(status).toBe(200);
  expect(Object.keys(body)).toEqual(['data']);
  expect(body.data).toHaveLength(120);
});

test('a phone number has the members of section 2.4', async () => {
  const service = await startTestService({ seedPhoneNumbers: 4 });
  const { body } = await service.call('GET', '/v1/phone-numbers');
  const regions = { CA: 'unrestricted', Intl: expect.stringMatching(/restricted/), US: 'unrestricted' };
  expect(body.data[3]).toEqual({
    id: expect.stringMatching(/^PN/),
    groupId: expect.stringMatching(/^GR/),
    portRequestId: expect.any(String),
    formattedNumber: '(415) 555-0103',
    forward: null,
    name: expect.any(String),
    number: '+14155550103',
    portingStatus: 'completed',
    symbol: expect.any(String),
    users: expect.any(Array),
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    restrictions: { calling: regions, messaging: regions },
  });
  expect(body.data[0].users[0]).toEqual({
    id: expect.stringMatching(/^US/),
    email: 'hedda.ames.1@example.com',
    firstName: 'Hedda',
    lastName: 'Ames',
    role: 'owner',
    groupId: expect.stringMatching(/^GR/),
  });
});

test('every number is a fictional one, and none comes twice', async () => {
  const service = await startTestService({ seedPhoneNumbers: 1000 });
  const { body } = await service.call('GET', '/v1/phone-numbers');
  const numbers: string[] = body.data.map((one: { number: string }) => one.number);
  expect(new Set(numbers).size).toBe(1000);
  expect(numbers.filter((number) => !/^\+1[2-9]\d\d55501\d\d$/.test(number))).toEqual([]);
});

test('userId filters by user; another form is refused; a stranger has none', async () => {
  const service = await startTestService({ seedPhoneNumbers: 10 });
  const all = await service.call('GET', '/v1/phone-numbers');
  const userId = all.body.data[0].users[0].id;
  const filtered = await service.call('GET', `/v1/phone-numbers?userId=${userId}`);
  const expected = all.body.data.filter((one: { users: { id: string }[] }) =>
    one.users.some((user) => user.id === userId),
  );
  expect(filtered.body.data).toEqual(expected);
  expect(expected.length).toBeLessThan(10);
  expect((await service.call('GET', '/v1/phone-numbers?userId=nobody')).body.code).toBe('0400400');
  expect((await service.call('GET', '/v1/phone-numbers?userId=USnobody')).body.data).toEqual([]);
});

test('with a page size the walk ends with a null token', async () => {
  const service = await startTestService({ seedPhoneNumbers: 5, pageNumbers: 2 });
  const seen: string[] = [];
  let path = '/v1/phone-numbers';
  for (let page = 0; page < 3; page += 1) {
    const answer = await service.call('GET', path);
    seen.push(...ids(answer));
    expect(answer.body).toHaveProperty('totalItems');
    expect(answer.body.nextPageToken).toEqual(page < 2 ? expect.any(String) : null);
    path = `/v1/phone-numbers?pageToken=${answer.body.nextPageToken}`;
  }
  expect(new Set(seen).size).toBe(5);
});

test('one number is answered by its id, an absent one with 404', async () => {
  const service = await startTestService({ seedPhoneNumbers: 2 });
  const all = await service.call('GET', '/v1/phone-numbers');
  const one = await service.call('GET', `/v1/phone-numbers/${ids(all)[1]}`);
  expect(one.body.data).toEqual(all.body.data[1]);
  const absent = await service.call('GET', '/v1/phone-numbers/PNabsent');
  expect([absent.status, absent.body.code]).toEqual([404, '0400404']);
});

test('two workspaces have no id in common', async () => {
  const [one, other] = await Promise.all([
    startTestService({ seedPhoneNumbers: 3 }),
    startTestService({ seedPhoneNumbers: 3 }),
  ]);
  const first = ids(await one.call('GET', '/v1/phone-numbers'));
  const second = ids(await other.call('GET', '/v1/phone-numbers'));
  expect(first.filter((id) => second.includes(id))).toEqual([]);
});

test('a new workspace defines one custom field of each type', async () => {
  const service = await startTestService();
  const { status, body } = await service.call('GET', '/v1/contact-custom-fields');
  expect(status).toBe(200);
  expect(body).toEqual({
    data: [
      { name: 'Office address', key: 'office_address', type: 'address' },
      { name: 'Newsletter', key: 'newsletter', type: 'boolean' },
      { name: 'Customer since', key: 'customer_since', type: 'date' },
      { name: 'Interests', key: 'interests', type: 'multi-select' },
      { name: 'Seats', key: 'seats', type: 'number' },
      { name: 'Account manager', key: 'account_manager', type: 'string' },
      { name: 'Portal', key: 'portal', type: 'url' },
    ],
  });
});
