/** Words and prefixes that `source` must not be on create (4.1, section 8), and how an operator replaces them. */
import { expect, test } from 'vitest';
import { parseReservedSources } from '#src/service/contacts/reserved-sources.ts';
import { person, startTestService } from './test-service.ts';

async function statuses(reserved: readonly string[] | null, sources: readonly string[]) {
  const service = await startTestService(
    reserved === null ? {} : { unnamedReservedSources: parseReservedSources(reserved) },
  );
  const answers = await Promise.all(
    sources.map((source) => service.call('POST', '/v1/contacts', person(null, { source }))),
  );
  return answers.map((answer) => answer.status);
}

test('without words of its own the service reserves those of the facts', async () => {
  const words = ['openphone', 'device', 'csv', 'zapier', 'google-people', 'other', 'csv-of-may', 'openphone2', 'CSV'];
  expect(await statuses(null, words)).toEqual(words.map(() => 400));
  expect(await statuses(null, ['my-device', 'others', 'a csv'])).toEqual([201, 201, 201]);
});

test('words and prefixes that are given replace those that the interface leaves unnamed, without regard to case', async () => {
  const sources = ['Partner', 'partners', 'CRM', 'crm-two', 'acrm', 'openphone', 'zapier', 'google-people'];
  expect(await statuses(['partner', 'Crm*'], sources)).toEqual([400, 201, 400, 400, 201, 201, 201, 201]);
});

test('those that the interface names are reserved whatever is given', async () => {
  const sources = ['device', 'csv', 'other', 'csv-1', 'Other'];
  expect(await statuses(['partner'], sources)).toEqual(sources.map(() => 400));
});

test('the public description says all that is reserved, each entry once', async () => {
  const service = await startTestService({ unnamedReservedSources: parseReservedSources(['partner', 'CSV', 'csv*']) });
  const { body } = await service.call('GET', '/openapi.json');
  expect(body.components.schemas.CreateContact.properties.source.description).toContain(
    'Reserved words, without regard to case: device, csv, other, partner. Reserved prefixes: csv.',
  );
});

test('an update may use them', async () => {
  const service = await startTestService({ unnamedReservedSources: parseReservedSources(['partner']) });
  const { body } = await service.call('POST', '/v1/contacts', person(null));
  const updated = await service.call('PATCH', `/v1/contacts/${body.data.id}`, { source: 'partner' });
  expect([updated.status, updated.body.data.source]).toEqual([200, 'partner']);
});

test.each([
  ['', 'reserves nothing, or everything'],
  ['*', 'reserves nothing, or everything'],
  ['a*b', 'has a * elsewhere than at its end'],
  ['a**', 'has a * elsewhere than at its end'],
  [' a', 'has white space at its ends or a control character'],
  ['a\u0000', 'has white space at its ends or a control character'],
  ['a'.repeat(73), 'has more than 72 characters'],
])('%j cannot be reserved', (entry, problem) => {
  expect(() => parseReservedSources(['fine', entry])).toThrow(
    expect.objectContaining({
      kind: 'usage',
      code: 'reservedSourceMalformed',
      message: expect.stringContaining(problem),
    }),
  );
});
