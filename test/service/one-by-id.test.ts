/** One call, one message and one phone number by its id (`docs/facts.md`, "Phone numbers" and "Later findings"). */
import { describe, expect, test } from 'vitest';
import { listing, startActiveService } from './activity.ts';
import { startTestService } from './test-service.ts';

const kinds = [
  { path: '/v1/calls', about: 'call', name: 'callId', begins: 'AC', resource: '01', counted: 'calls' },
  { path: '/v1/messages', about: 'message', name: 'id', begins: 'AC', resource: '02', counted: 'messages' },
  {
    path: '/v1/phone-numbers',
    about: 'phone number',
    name: 'phoneNumberId',
    begins: 'PN',
    resource: '04',
    counted: 'numbers',
  },
] as const;

describe.each(kinds)('one $about', ({ path, name, begins, resource, counted }) => {
  test('an id of another kind is 400, as its description says, and an absent one is 404', async () => {
    const service = await startTestService();
    const malformed = await service.call('GET', `${path}/zz`);
    expect([malformed.status, malformed.body.code]).toEqual([400, `${resource}00400`]);
    expect(malformed.body.errors).toEqual([
      { path: name, message: `must begin with ${begins}`, schema: { type: 'string' } },
    ]);
    const absent = await service.call('GET', `${path}/${begins}absent`);
    expect([absent.status, absent.body.code]).toEqual([404, `${resource}00404`]);
    expect(absent.body.message).toContain(`${begins}absent`);
    const { body } = await service.call('GET', '/openapi.json');
    const described = body.paths[`${path}/{${name}}`].get;
    expect(described.parameters[0].schema.pattern).toBe(`^${begins}`);
    expect(Object.keys(described.responses)).toEqual(['200', '400', '401', '404', '429', '500']);
  });

  test('faults and counts know it by the name of its listing', async () => {
    const service = await startTestService({ faults: [`${counted}:status=503`] });
    expect((await service.call('GET', `${path}/${begins}1`)).status).toBe(503);
    expect(service.counts()).toMatchObject({ [counted]: 1 });
  });
});

test('a call and a message are as the listing has them, of any user', async () => {
  const service = await startActiveService();
  for (const path of ['/v1/calls', '/v1/messages'] as const) {
    const { phoneNumber, person: participants, secondId: userId } = service;
    const listed = await service.call('GET', listing(path, { phoneNumberId: phoneNumber.id, participants, userId }));
    expect(listed.body.data.length).toBeGreaterThan(0);
    for (const item of listed.body.data) {
      const one = await service.call('GET', `${path}/${item.id}`);
      expect([one.status, one.body]).toEqual([200, { data: item }]);
    }
  }
});

test('a call is no message, and a message no call', async () => {
  const service = await startActiveService();
  const { phoneNumber, person } = service;
  const sent = await service.call('POST', '/v1/messages', { content: 'Hello', from: phoneNumber.id, to: [person] });
  const { id } = sent.body.data;
  expect((await service.call('GET', `/v1/messages/${id}`)).body).toEqual(sent.body);
  expect((await service.call('GET', `/v1/calls/${id}`)).status).toBe(404);
});
