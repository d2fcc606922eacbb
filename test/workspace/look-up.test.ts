/** Whether one key is at fault or the service, over real requests (`docs/rules.md`, "Retries, rate, outages"). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import { createBreakers, type OpenedBreaker } from '#src/workspace/classify.ts';
import { askControlKey, isAboutOneContact, lookUpChunks, lookUpKeys, lookUpQuery } from '#src/workspace/look-up.ts';
import { listJson, refusalJson } from './support/contact-json.ts';
import { reply, reset, type Step } from './support/scripted-server.ts';
import { openTestWorkspace } from './support/test-workspace.ts';

const controlKey = 'patchbay-probe';
const keysOf = (url: string): readonly string[] => new URL(`http://x${url}`).searchParams.getAll('externalIds');

/** Every key has its contact, but for the control key; a look-up that names a bad one is answered by `bad`. */
async function openLists(badKeys: readonly string[], bad: Step) {
  const opened: OpenedBreaker[] = [];
  const breakers = createBreakers({ clock: systemClock(), onOpen: (breaker) => void opened.push(breaker) });
  const { server, workspace } = await openTestWorkspace({ breakers });
  server.always((response, request) => {
    const keys = keysOf(request.url);
    const isBad = keys.some((key) => badKeys.includes(key));
    const found = keys.filter((key) => key !== controlKey);
    (isBad ? bad : reply(200, listJson(found, 'null')))(response, request);
  });
  const asked = (): readonly string[] => server.seen.map(({ url }) => keysOf(url).join(' '));
  return { server, workspace, opened, asked };
}

const failing = reply(503, '{"message":"out of order"}');

describe('a look-up of many keys', () => {
  test('is one request where all is well', async () => {
    const { workspace, asked } = await openLists([], failing);
    const { contacts, failures } = await lookUpKeys(workspace, ['a', 'b']);
    expect(contacts.map((contact) => contact.externalId)).toEqual(['a', 'b']);
    expect([...failures]).toEqual([]);
    expect(asked()).toEqual(['a b']);
  });

  test.each([
    ['fails', failing, 'serviceFailing'],
    ['is answered oddly', reply(200, '{"data":5}'), 'serviceAnswersOddly'],
    ['is refused', reply(422, refusalJson), 'requestRefused'],
  ])('names the keys for which it %s, side by side or not, and opens no breaker', async (_, bad, code) => {
    const { workspace, opened } = await openLists(['a', 'b', 'd'], bad);
    const { contacts, failures, readAtMs } = await lookUpKeys(workspace, ['a', 'b', 'c', 'd']);
    expect(contacts.map((contact) => contact.externalId)).toEqual(['c']);
    expect([...failures].map(([key, failure]) => [key, failure.code])).toEqual(
      ['a', 'b', 'd'].map((key) => [key, code]),
    );
    expect(Number.isFinite(readAtMs)).toBe(true);
    expect(opened).toEqual([]);
  });

  test('asks for a lone key that fails once, and for the control key', async () => {
    const { workspace, opened, asked } = await openLists(['a'], failing);
    const { failures } = await lookUpKeys(workspace, ['a']);
    expect([...failures.keys()]).toEqual(['a']);
    expect(asked()).toEqual(['a', 'a', 'a', 'a', controlKey]);
    expect(opened).toEqual([]);
  });

  test('blames no key where the control key fails too', async () => {
    const { workspace, opened, asked } = await openLists(['a', 'b', controlKey], failing);
    await expect(lookUpKeys(workspace, ['a', 'b'])).rejects.toMatchObject({ code: 'serviceFailing' });
    expect(asked().filter((keys) => keys === 'a')).toEqual([]);
    expect(opened).toHaveLength(1);
  });

  test('blames no key for a lost connection', async () => {
    const { workspace, asked } = await openLists(['a'], reset);
    await expect(lookUpKeys(workspace, ['a', 'b'])).rejects.toMatchObject({ code: 'serviceUnreachable' });
    expect(asked()).not.toContain(controlKey);
  });

  test('uses no answer that holds nothing but strangers', async () => {
    const { server, workspace } = await openLists([], failing);
    server.always(reply(200, listJson(['stranger'], 'null')));
    await expect(lookUpKeys(workspace, ['a', 'b'])).rejects.toMatchObject({ code: 'strangersReturned' });
    await expect(askControlKey(workspace, {})).rejects.toMatchObject({ code: 'strangersReturned' });
  });

  test('ends with the signal', async () => {
    const cut = new AbortController();
    const { workspace } = await openLists(['a'], (response, request) => {
      cut.abort();
      failing(response, request);
    });
    await expect(lookUpKeys(workspace, ['a', 'b'], { signal: cut.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
  });
});

describe('a read that failed', () => {
  const error = (kind: 'auth' | 'rejected' | 'unreachable', code: string) => new PatchbayError(kind, code, code);

  test.each([
    error('unreachable', 'serviceFailing'),
    error('unreachable', 'serviceAnswersOddly'),
    error('rejected', 'requestRefused'),
    error('auth', 'keyRefused'),
  ])('is about one contact where the control key passes: $code', async (failure) => {
    const { workspace, asked } = await openLists([], failing);
    expect(await isAboutOneContact(workspace, failure, {})).toBe(true);
    expect(asked()).toEqual([controlKey]);
  });

  test.each([error('unreachable', 'serviceUnreachable'), error('unreachable', 'rateLimited'), new Error('another')])(
    'is not, and asks nothing: $message',
    async (failure) => {
      const { workspace, asked } = await openLists([], failing);
      expect(await isAboutOneContact(workspace, failure, {})).toBe(false);
      expect(asked()).toEqual([]);
    },
  );

  test('is about the key where the control key is refused: its error goes up', async () => {
    const { workspace } = await openLists([controlKey], reply(401, '{"message":"Unauthorized"}'));
    await expect(isAboutOneContact(workspace, error('auth', 'keyRefused'), {})).rejects.toMatchObject({ kind: 'auth' });
  });
});

describe('the query of a look-up', () => {
  test('repeats the plain key and encodes what is special', () => {
    expect(lookUpQuery(['a&b=c', '1+1', 'x y', 'é', '#?/%', '💡'], null)).toBe(
      'externalIds=a%26b%3Dc&externalIds=1%2B1&externalIds=x%20y&externalIds=%C3%A9&externalIds=%23%3F%2F%25' +
        '&externalIds=%F0%9F%92%A1&maxResults=50',
    );
    expect(lookUpQuery(['a'], 't&k')).toBe('externalIds=a&maxResults=50&pageToken=t%26k');
  });

  test('refuses none, more than 20 and more than 4 KB as a bug', () => {
    const bug = expect.objectContaining({ kind: 'bug' });
    expect(() => lookUpQuery([], null)).toThrow(bug);
    expect(() => lookUpQuery(Array(21).fill('a'), null)).toThrow(bug);
    expect(() => lookUpQuery(Array(20).fill('é'.repeat(75)), null)).toThrow(bug);
    expect(() => lookUpQuery(['\ud800'], null)).toThrow(bug);
    expect(() => lookUpQuery(Array(20).fill('a'.repeat(75)), null)).not.toThrow();
  });

  test('a cut list keeps every key in order, and each piece fits one call', () => {
    const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 75 }).filter((text) => text.isWellFormed());
    const bounded = key.map((text) => [...text].slice(0, 75).join(''));
    fc.assert(
      fc.property(fc.array(bounded, { maxLength: 120 }), (keys) => {
        const chunks = lookUpChunks(keys);
        expect(chunks.flat()).toEqual(keys);
        for (const chunk of chunks) expect(lookUpQuery(chunk, null).length).toBeLessThanOrEqual(4_096);
      }),
    );
  });

  test('short keys fill each call with 20', () => {
    const keys = Array.from({ length: 45 }, (_, index) => `crm-${index}`);
    expect(lookUpChunks(keys).map((chunk) => chunk.length)).toEqual([20, 20, 5]);
  });
});
