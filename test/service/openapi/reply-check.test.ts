/** The check that holds replies to the public description can fail, and no test goes around it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ObservedReply } from '#src/service/openapi/openapi-document.ts';
import { createReplyCheck } from '../../support/reply-check.ts';
import { testKey } from '../test-service.ts';
import { describedService } from './described-service.ts';

const asked = { headers: { authorization: testKey } };

async function replyTo(path: string, request: RequestInit = asked): Promise<ObservedReply> {
  const service = describedService({ seedContacts: 1, seedPhoneNumbers: 1 });
  await service.app.request(path, request);
  const [reply] = service.replies;
  if (reply === undefined) throw new Error('a reply was observed');
  return reply;
}

function misfitsOf(reply: ObservedReply): readonly string[] {
  const check = createReplyCheck();
  check.observer(describedService().document)(reply);
  return check.misfits;
}

describe('a reply as the service gives it', () => {
  test('fits', async () => {
    expect(misfitsOf(await replyTo('/v1/contacts'))).toEqual([]);
    expect(misfitsOf(await replyTo('/v1/contacts', {}))).toEqual([]);
    expect(misfitsOf(await replyTo('/v1/nowhere'))).toEqual([]);
    expect(misfitsOf(await replyTo('/v1/contacts/absent'))).toEqual([]);
  });

  test.each<[string, (reply: ObservedReply) => ObservedReply, string]>([
    ['an unknown member', (one) => ({ ...one, text: `{"more":1,${one.text?.slice(1)}` }), 'additional properties'],
    ['a member too few', (one) => ({ ...one, text: '{"data":[],"totalItems":0}' }), "'nextPageToken'"],
    [
      'a wrong type',
      (one) => ({ ...one, text: one.text?.replace(/"totalItems":\d+/, '"totalItems":"1"') ?? null }),
      'integer',
    ],
    [
      'an unknown member in a contact',
      (one) => ({ ...one, text: one.text?.replace('"company"', '"firm"') ?? null }),
      'company',
    ],
    ['an undescribed status', (one) => ({ ...one, status: 203 }), 'does not list this status'],
    ['no body', (one) => ({ ...one, text: null }), 'no body'],
  ])('does not fit with %s', async (_, spoil, problem) => {
    expect(misfitsOf(spoil(await replyTo('/v1/contacts'))).join()).toContain(problem);
  });

  test('does not fit under the code of another resource, or without Retry-After', async () => {
    const absent = await replyTo('/v1/contacts/absent');
    expect(misfitsOf({ ...absent, text: absent.text?.replace('0800404', '0400404') ?? null }).join()).toContain(
      '/code',
    );
    const limited = { ...absent, status: 429, text: absent.text?.replaceAll('404', '429') ?? null };
    expect(misfitsOf(limited).join()).toContain('Retry-After');
    expect(misfitsOf({ ...limited, headers: { 'retry-after': '1' } })).toEqual([]);
  });

  test('fails the test that asked for it', async () => {
    const check = createReplyCheck();
    check.requireFit();
    check.observer(describedService().document)({ ...(await replyTo('/v1/contacts')), text: '{}' });
    expect(check.requireFit).toThrow(/GET \/v1\/contacts 200: .*data/);
  });
});

test('no test makes a service whose replies are not checked', () => {
  const root = join(import.meta.dirname, '../..');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    // Measurements are no tests, and the proofs of the model read every reply in their own way.
    .filter((name) => name.endsWith('.ts') && !/^(bench|model)\//.test(name))
    .map((name) => ({ name, text: readFileSync(join(root, name), 'utf8') }));
  const namesOf = (pattern: RegExp) => files.filter(({ text }) => pattern.test(text)).map(({ name }) => name);
  expect(namesOf(/service\/start-service\.ts'/).toSorted()).toEqual([
    'service/store/service-process.ts',
    'service/support/service-apart.ts',
    'service/test-service.ts',
    'support/journey-service.ts',
  ]);
  // The options of the tests carry the check.
  const checked = namesOf(/createReplyCheck\(|dieOfMisfit,|serviceOptions\(/);
  expect(checked).toEqual(expect.arrayContaining(namesOf(/service\/(start-service|service-app)\.ts'/)));
});
