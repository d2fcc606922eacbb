/** Update under both readings of 4.3 (`docs/facts.md`, "Consequence"). */

import { describe, expect, test } from 'vitest';
import { fieldLimits } from '#src/service/contacts/contact-bodies.ts';
import { recordBytesMax } from '#src/service/workspace-file/scan-sections.ts';
import type { LiteralJson } from '#test/support/literal-json.ts';
import { type Answer, manualClock, person, startTestService, type TestService } from './test-service.ts';

interface Full {
  readonly service: TestService;
  readonly path: string;
  readonly contact: LiteralJson;
}

async function fullContact(patchMode: 'merge' | 'replace'): Promise<Full> {
  const service = await startTestService({ patchMode });
  const { body } = await service.call('POST', '/v1/contacts', {
    externalId: 'crm-1',
    source: 'crm',
    sourceUrl: 'https://crm.example.com/1',
    defaultFields: {
      firstName: 'Ada',
      lastName: 'Grove',
      company: 'Harbor Tea',
      role: 'Buyer',
      emails: [
        { name: 'work', value: 'ada@example.com' },
        { name: 'home', value: 'ada@example.org' },
      ],
      phoneNumbers: [
        { name: 'mobile', value: '+14155550100' },
        { name: 'desk', value: '+14155550101' },
      ],
    },
    customFields: [
      { key: 'seats', value: 4 },
      { key: 'newsletter', value: true },
    ],
  });
  return { service, path: `/v1/contacts/${body.data.id}`, contact: body.data };
}

const values = (answer: Answer, list: 'emails' | 'phoneNumbers') =>
  answer.body.data.defaultFields[list].map((item: { value: string }) => item.value);
const fields = (answer: Answer) =>
  Object.fromEntries(answer.body.data.customFields.map((one: { key: string; value: unknown }) => [one.key, one.value]));

describe.each(['merge', 'replace'] as const)('in the mode %s', (mode) => {
  test('a complete body changes, adds and removes as it says', async () => {
    const { service, path, contact } = await fullContact(mode);
    const [work, home] = contact.defaultFields.emails;
    const [mobile, desk] = contact.defaultFields.phoneNumbers;
    const answer = await service.call('PATCH', path, {
      defaultFields: {
        firstName: 'Ada',
        lastName: null,
        company: 'Lantern Works',
        role: 'Buyer',
        emails: [
          { id: work.id, name: 'office', value: 'ada.grove@example.com' },
          { id: home.id, name: 'home', value: null },
          { name: 'club', value: 'club@example.org' },
        ],
        phoneNumbers: [
          { id: mobile.id, name: 'mobile', value: '+14155550100' },
          { id: desk.id, name: 'desk', value: null },
        ],
      },
      customFields: [
        { key: 'seats', value: 5 },
        { key: 'newsletter', value: null },
        { key: 'interests', value: ['tea'] },
      ],
    });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({
      ...contact,
      defaultFields: {
        firstName: 'Ada',
        lastName: null,
        company: 'Lantern Works',
        role: 'Buyer',
        emails: [
          { id: work.id, name: 'office', value: 'ada.grove@example.com' },
          { id: expect.stringMatching(/^[0-9a-f]{24}$/), name: 'club', value: 'club@example.org' },
        ],
        phoneNumbers: [mobile],
      },
      customFields: [
        { key: 'seats', name: 'Seats', type: 'number', value: 5 },
        { key: 'interests', name: 'Interests', type: 'multi-select', value: ['tea'] },
      ],
      updatedAt: expect.any(String),
    });
    const read = await service.call('GET', path);
    expect(read.body.data.customFields[0].id).toBe(contact.customFields[0].id);
  });

  test('externalId, source and sourceUrl change only where the body has them; null clears', async () => {
    const { service, path } = await fullContact(mode);
    const kept = await service.call('PATCH', path, { defaultFields: { firstName: 'Ada' } });
    expect(kept.body.data).toMatchObject({
      externalId: 'crm-1',
      source: 'crm',
      sourceUrl: 'https://crm.example.com/1',
    });
    const cleared = await service.call('PATCH', path, { externalId: null, source: null, sourceUrl: null });
    expect(cleared.body.data).toMatchObject({ externalId: null, source: null, sourceUrl: null });
  });

  test('an unknown id, an id twice and null without an id are refused, and nothing changes', async () => {
    const { service, path, contact } = await fullContact(mode);
    const { id } = contact.defaultFields.emails[0];
    for (const emails of [
      [{ id: '0123456789abcdef01234567', name: 'x', value: 'x@example.com' }],
      [{ id: '0123456789abcdef01234567', name: 'x', value: null }],
      [
        { id, name: 'work', value: 'x@example.com' },
        { id, name: 'work', value: null },
      ],
      [{ name: 'x', value: null }],
    ]) {
      const { status, body } = await service.call('PATCH', path, { defaultFields: { emails } });
      expect(status).toBe(400);
      expect(body.errors[0].path).toMatch(/^defaultFields\.emails\.\d\.id$/);
    }
    expect((await service.call('GET', path)).body.data).toEqual(contact);
  });

  test('a custom field goes by key; an id is optional, but must be its own', async () => {
    const { service, path, contact } = await fullContact(mode);
    const [seats, newsletter] = contact.customFields;
    const right = await service.call('PATCH', path, { customFields: [{ key: 'seats', id: seats.id, value: 9 }] });
    expect(fields(right)).toMatchObject({ seats: 9 });
    const wrong = await service.call('PATCH', path, { customFields: [{ key: 'seats', id: newsletter.id, value: 9 }] });
    expect(wrong.body.code).toBe('0801400');
  });

  test('another contact’s externalId is refused with 409, its own is not', async () => {
    const { service, path } = await fullContact(mode);
    await service.call('POST', '/v1/contacts', { externalId: 'crm-2', defaultFields: { firstName: 'B' } });
    expect((await service.call('PATCH', path, { externalId: 'crm-2' })).body.code).toBe('0800409');
    expect((await service.call('PATCH', path, { externalId: 'crm-1' })).status).toBe(200);
  });

  test('an absent contact is 404', async () => {
    const { service } = await fullContact(mode);
    expect((await service.call('PATCH', '/v1/contacts/0123456789abcdef01234567', {})).status).toBe(404);
  });

  test('updatedAt moves and createdAt stays', async () => {
    const clock = manualClock();
    const service = await startTestService({ patchMode: mode, clock });
    const { body } = await service.call('POST', '/v1/contacts', { defaultFields: { firstName: 'A' } });
    clock.advance(1000);
    const patched = await service.call('PATCH', `/v1/contacts/${body.data.id}`, {});
    expect(patched.body.data.createdAt).toBe('2026-11-21T00:00:00.000Z');
    expect(patched.body.data.updatedAt).toBe('2026-11-21T00:00:01.000Z');
  });
});

describe('merge', () => {
  test('what the body leaves out stays', async () => {
    const { service, path, contact } = await fullContact('merge');
    const answer = await service.call('PATCH', path, { defaultFields: { role: 'Owner' } });
    expect(answer.body.data.defaultFields).toEqual({ ...contact.defaultFields, role: 'Owner' });
    expect(fields(answer)).toEqual({ seats: 4, newsletter: true });
  });

  test('a list names the items that change, and an empty list names none', async () => {
    const { service, path, contact } = await fullContact('merge');
    const removed = contact.defaultFields.emails[0].id;
    const answer = await service.call('PATCH', path, {
      defaultFields: { emails: [{ id: removed, name: 'work', value: null }], phoneNumbers: [] },
      customFields: [],
    });
    expect(values(answer, 'emails')).toEqual(['ada@example.org']);
    expect(values(answer, 'phoneNumbers')).toEqual(['+14155550100', '+14155550101']);
    expect(fields(answer)).toEqual({ seats: 4, newsletter: true });
  });
});

describe('replace', () => {
  test('lists and scalars that a given defaultFields leaves out are emptied', async () => {
    const { service, path } = await fullContact('replace');
    const answer = await service.call('PATCH', path, { defaultFields: { role: 'Owner' } });
    expect(answer.body.data.defaultFields).toEqual({
      firstName: null,
      lastName: null,
      company: null,
      role: 'Owner',
      emails: [],
      phoneNumbers: [],
    });
    expect(answer.body.data.customFields).toEqual([]);
  });

  test('without defaultFields the scalars stay, and the lists are emptied', async () => {
    const { service, path } = await fullContact('replace');
    const answer = await service.call('PATCH', path, { externalId: 'crm-9' });
    expect(answer.body.data.defaultFields).toMatchObject({
      firstName: 'Ada',
      role: 'Buyer',
      emails: [],
      phoneNumbers: [],
    });
    expect(answer.body.data.customFields).toEqual([]);
  });

  test('items that a given list leaves out are deleted, and an empty list empties', async () => {
    const { service, path, contact } = await fullContact('replace');
    const [kept] = contact.defaultFields.emails;
    const answer = await service.call('PATCH', path, {
      defaultFields: { firstName: 'Ada', emails: [kept], phoneNumbers: [] },
      customFields: [{ key: 'newsletter', value: true }],
    });
    expect(answer.body.data.defaultFields.emails).toEqual([kept]);
    expect(values(answer, 'phoneNumbers')).toEqual([]);
    expect(fields(answer)).toEqual({ newsletter: true });
  });
});

test('a contact that grows update by update never grows beyond what can be loaded again from a dump', async () => {
  // No character of JSON takes more than three bytes.
  expect(3 * fieldLimits.contactLengthMax).toBeLessThan(recordBytesMax);
  const service = await startTestService({ patchMode: 'merge', requestBodyBytesMax: 6_000_000 });
  const path = `/v1/contacts/${(await service.call('POST', '/v1/contacts', person('big'))).body.data.id}`;
  const update = (defaultFields: unknown) => service.call('PATCH', path, { defaultFields });
  expect((await update({ company: 'a'.repeat(5_000_000) })).status).toBe(200);
  const refused = await update({ lastName: 'a'.repeat(4_000_000) });
  expect([refused.status, refused.body.message]).toEqual([
    400,
    'The request is not valid. The contact would hold more than 8388608 characters, written as JSON.',
  ]);
  expect((await service.call('GET', path)).body.data.defaultFields.lastName).toBe(null);
});

test('a contact that is longer than that already can be updated, and does not grow', async () => {
  const service = await startTestService({ patchMode: 'merge', requestBodyBytesMax: 10_000_000 });
  const long = 'a'.repeat(fieldLimits.contactLengthMax + 1_000);
  const body = { ...person('long'), defaultFields: { firstName: 'Ada', company: long } };
  const path = `/v1/contacts/${(await service.call('POST', '/v1/contacts', body)).body.data.id}`;
  const update = async (defaultFields: unknown) => (await service.call('PATCH', path, { defaultFields })).status;
  expect(await update({ company: `${long}a` })).toBe(400);
  expect(await update({ firstName: 'Eve' })).toBe(200);
  expect(await update({ company: long.slice(1) })).toBe(200);
  expect(await update({ company: long })).toBe(400);
  const { firstName, company } = (await service.call('GET', path)).body.data.defaultFields;
  expect([firstName, company.length]).toEqual(['Eve', long.length - 1]);
});
