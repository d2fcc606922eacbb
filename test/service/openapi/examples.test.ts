/** The examples of the public description are what the service really answers to the bodies that they show. */
import { describe, expect, test } from 'vitest';
import type { LiteralJson } from '#test/support/literal-json.ts';
import { startTestService } from '../test-service.ts';

/** Identifiers, instants and users are each service's own. */
function comparable(reply: LiteralJson): unknown {
  const own = /^(?:id|createdAt|updatedAt|createdByUserId|userId|phoneNumberId|conversationId)$/;
  return JSON.parse(JSON.stringify(reply, (name, value) => (own.test(name) ? typeof value : value)));
}

function exampleOf(media: LiteralJson): LiteralJson {
  return media.content['application/json'].example;
}

describe.each(['replace', 'merge'] as const)('PATCH in the mode %s', (patchMode) => {
  test('the contact of the examples can be made, read, listed and updated as they show', async () => {
    const service = await startTestService({ patchMode });
    const { paths } = (await service.call('GET', '/openapi.json')).body;
    const [all, one] = [paths['/v1/contacts'], paths['/v1/contacts/{id}']];
    const created = await service.call('POST', '/v1/contacts', exampleOf(all.post.requestBody));
    expect(comparable(created.body)).toEqual(comparable(exampleOf(all.post.responses[201])));
    const path = `/v1/contacts/${created.body.data.id}`;
    const read = await service.call('GET', path);
    expect(comparable(read.body)).toEqual(comparable(exampleOf(one.get.responses[200])));
    const listed = await service.call('GET', '/v1/contacts');
    expect(comparable(listed.body)).toEqual(comparable(exampleOf(all.get.responses[200])));
    const updated = await service.call('PATCH', path, exampleOf(one.patch.requestBody));
    expect(comparable(updated.body)).toEqual(comparable(exampleOf(one.patch.responses[200])));
  });
});

test('the message of the examples can be sent, read and listed as they show', async () => {
  const service = await startTestService({ seedPhoneNumbers: 1 });
  const { paths } = (await service.call('GET', '/openapi.json')).body;
  const all = paths['/v1/messages'];
  const body = exampleOf(all.post.requestBody);
  const sent = await service.call('POST', '/v1/messages', body);
  expect(comparable(sent.body)).toEqual(comparable(exampleOf(all.post.responses[202])));
  const { id, phoneNumberId } = sent.body.data;
  const read = await service.call('GET', `/v1/messages/${id}`);
  expect(comparable(read.body)).toEqual(comparable(exampleOf(paths['/v1/messages/{id}'].get.responses[200])));
  const query = new URLSearchParams([
    ['phoneNumberId', phoneNumberId],
    ['participants', body.to[0]],
  ]);
  const listed = await service.call('GET', `/v1/messages?${query}`);
  expect(comparable(listed.body)).toEqual(comparable(exampleOf(all.get.responses[200])));
});
