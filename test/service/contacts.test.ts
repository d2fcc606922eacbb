/** Create, get, delete (4.1, 4.2; `docs/facts.md`), with literal JSON. */
import { describe, expect, test } from 'vitest';
import { manualClock, person, startTestService } from './test-service.ts';

const hexId = expect.stringMatching(/^[0-9a-f]{24}$/);

describe('create', () => {
  test('answers 201 with the whole contact', async () => {
    const service = await startTestService({ clock: manualClock() });
    const answer = await service.call('POST', '/v1/contacts', {
      externalId: 'crm-1',
      source: 'crm',
      sourceUrl: 'https://crm.example.com/people/1',
      createdByUserId: 'USsomebody',
      defaultFields: {
        firstName: 'Ada',
        lastName: 'Grove',
        company: 'Harbor Tea',
        role: 'Buyer',
        emails: [{ name: 'work', value: 'ada@example.com' }],
        phoneNumbers: [{ name: 'mobile', value: '+14155550100' }],
      },
      customFields: [
        { key: 'interests', value: ['tea', 'ports'] },
        { key: 'seats', value: 4 },
      ],
    });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.body).toEqual({
      data: {
        id: hexId,
        externalId: 'crm-1',
        source: 'crm',
        sourceUrl: 'https://crm.example.com/people/1',
        defaultFields: {
          company: 'Harbor Tea',
          firstName: 'Ada',
          lastName: 'Grove',
          role: 'Buyer',
          emails: [{ id: hexId, name: 'work', value: 'ada@example.com' }],
          phoneNumbers: [{ id: hexId, name: 'mobile', value: '+14155550100' }],
        },
        customFields: [
          { id: hexId, key: 'interests', name: 'Interests', type: 'multi-select', value: ['tea', 'ports'] },
          { id: hexId, key: 'seats', name: 'Seats', type: 'number', value: 4 },
        ],
        createdAt: '2026-11-21T00:00:00.000Z',
        updatedAt: '2026-11-21T00:00:00.000Z',
        createdByUserId: 'USsomebody',
      },
    });
  });

  test('fills in source, creator and empty members', async () => {
    const service = await startTestService();
    const { body } = await service.call('POST', '/v1/contacts', { defaultFields: { firstName: null } });
    expect(body.data).toMatchObject({
      externalId: null,
      source: 'public-api',
      sourceUrl: null,
      defaultFields: { company: null, firstName: null, lastName: null, role: null, emails: [], phoneNumbers: [] },
      customFields: [],
      createdByUserId: expect.stringMatching(/^US/),
    });
  });

  test('ignores unknown members and ids of items', async () => {
    const service = await startTestService();
    const { status, body } = await service.call(
      'POST',
      '/v1/contacts',
      JSON.parse(
        '{"__proto__":{"source":"x"},"id":"mine","colour":"red","defaultFields":{"firstName":"Ada","emails":[{"id":"mine","name":"work","value":"a@example.com"}]}}',
      ),
    );
    expect(status).toBe(201);
    expect(body.data.id).not.toBe('mine');
    expect(body.data.source).toBe('public-api');
    expect(body.data.defaultFields.emails[0].id).not.toBe('mine');
  });

  test('refuses a second contact with the same externalId and names no field', async () => {
    const service = await startTestService();
    await service.call('POST', '/v1/contacts', person('twice'));
    const second = await service.call('POST', '/v1/contacts', person('twice', { source: 'elsewhere' }));
    expect(second.status).toBe(409);
    expect(second.body).toEqual({
      message: expect.any(String),
      code: '0800409',
      status: 409,
      docs: expect.any(String),
      title: 'Conflict',
      trace: expect.any(String),
    });
  });

  test('lets exactly one of many simultaneous creates with one externalId through', async () => {
    const service = await startTestService();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => service.call('POST', '/v1/contacts', person('race'))),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(19);
  });

  test('gives ids in the order of creation, also within a millisecond', async () => {
    const service = await startTestService({ clock: manualClock() });
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      ids.push((await service.call('POST', '/v1/contacts', person(null))).body.data.id);
    }
    expect(ids.toSorted()).toEqual(ids);
  });
});

describe('get', () => {
  test('answers the contact as create did', async () => {
    const service = await startTestService();
    const created = await service.call(
      'POST',
      '/v1/contacts',
      person('a', { customFields: [{ key: 'newsletter', value: true }] }),
    );
    const read = await service.call('GET', `/v1/contacts/${created.body.data.id}`);
    expect(read.status).toBe(200);
    expect(read.body).toEqual(created.body);
  });

  test('answers 404 with a descriptive message for an absent contact', async () => {
    const service = await startTestService();
    const { status, body } = await service.call('GET', '/v1/contacts/0123456789abcdef01234567');
    expect(status).toBe(404);
    expect(body).toMatchObject({ code: '0800404', status: 404, title: 'Not Found' });
    expect(body.message).toContain('0123456789abcdef01234567');
  });
});

describe('delete', () => {
  test('answers 204 with an empty body, then 404, and frees the externalId', async () => {
    const service = await startTestService();
    const { body } = await service.call('POST', '/v1/contacts', person('again'));
    const path = `/v1/contacts/${body.data.id}`;
    const removed = await service.call('DELETE', path);
    expect([removed.status, removed.body]).toEqual([204, null]);
    expect((await service.call('DELETE', path)).status).toBe(404);
    expect((await service.call('GET', path)).status).toBe(404);
    expect((await service.call('POST', '/v1/contacts', person('again'))).status).toBe(201);
  });
});
