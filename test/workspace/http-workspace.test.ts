import { describe, expect, test } from 'vitest';
import type { PhoneNumber } from '#src/wire/phone-number.ts';
import { parseOrigin, walkPages } from '#src/workspace/http-workspace.ts';
import type { PhoneNumberOptions, Workspace } from '#src/workspace/port.ts';
import { listJson, refusalJson } from './support/contact-json.ts';
import { reply, reset } from './support/scripted-server.ts';
import { openTestWorkspace } from './support/test-workspace.ts';

describe("the service's address", () => {
  test.each([
    ['https://api.example.com', 'https://api.example.com'],
    ['https://api.example.com/', 'https://api.example.com'],
    ['http://127.0.0.1:4010', 'http://127.0.0.1:4010'],
    ['http://[::1]:4010', 'http://[::1]:4010'],
  ])('%s is taken', (baseUrl, origin) => {
    expect(parseOrigin(baseUrl)).toBe(origin);
  });

  test.each([
    'api.example.com',
    '',
    'ftp://api.example.com',
    'https://api.example.com/v1',
    'https://api.example.com/?key=1',
    'https://api.example.com/#top',
    'https://user:secretpass@api.example.com',
    'not a url user:secretpass@host',
  ])('%j is refused, and nothing that may be a password is repeated', (baseUrl) => {
    const refused = (() => {
      try {
        return parseOrigin(baseUrl);
      } catch (error) {
        return error;
      }
    })();
    expect(refused).toMatchObject({ kind: 'usage', code: 'baseUrlInvalid' });
    expect(String(refused)).not.toContain('secretpass');
  });
});

/** Walks a list whose pages carry these tokens; gives the page numbers seen and the tokens asked for. */
async function walk(tokens: readonly unknown[], pagesMax = 10) {
  const asked: (string | null)[] = [];
  const seen: number[] = [];
  const pages = walkPages(
    async (token) => {
      asked.push(token);
      return { data: asked.length, nextPageToken: tokens[asked.length - 1] };
    },
    { pagesMax },
  );
  const failure = await (async () => {
    for await (const page of pages) seen.push(page);
  })().catch((error: unknown) => error);
  return { asked, seen, failure };
}

describe('the page walker', () => {
  test.each([[null], [undefined]])('%s ends the walk', async (end) => {
    expect(await walk(['a', 'b', end])).toEqual({ asked: [null, 'a', 'b'], seen: [1, 2, 3], failure: undefined });
  });

  test.each([
    ['a', 'a'],
    ['a', 'b', 'a'],
  ])('a token that came before is refused', async (...tokens) => {
    const { failure } = await walk(tokens);
    expect(failure).toMatchObject({ kind: 'unreachable', code: 'pageTokenRepeated' });
  });

  test.each([0, 7, true, {}, ['a']])('the token %j is refused', async (token) => {
    const { failure, seen } = await walk(['a', token]);
    expect(failure).toMatchObject({ kind: 'unreachable', code: 'pageTokenNotText' });
    expect(seen).toEqual([1]);
  });

  test('an empty string is a token like any other', async () => {
    expect((await walk(['', null])).asked).toEqual([null, '']);
  });

  test('a list with exactly as many pages as allowed is whole; one more fails', async () => {
    expect(await walk(['a', 'b', null], 3)).toMatchObject({ seen: [1, 2, 3], failure: undefined });
    const { failure, asked } = await walk(['a', 'b', 'c', null], 3);
    expect(failure).toMatchObject({ kind: 'unreachable', code: 'tooManyPages' });
    expect(asked).toHaveLength(3);
  });

  test('what the fetch throws passes through', async () => {
    const pages = walkPages(() => Promise.reject(new Error('gone')), { pagesMax: 3 });
    await expect(pages.next()).rejects.toThrow('gone');
  });
});

async function pagesOf(
  workspace: Workspace,
  options?: PhoneNumberOptions,
): Promise<readonly (readonly PhoneNumber[])[]> {
  const pages: (readonly PhoneNumber[])[] = [];
  for await (const one of workspace.listPhoneNumberPages(options)) pages.push(one);
  return pages;
}
const failureOf = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);
const page = (ids: readonly string[], token: string): string =>
  `{"data":[${ids.map((id) => `{"id":"${id}"}`).join(',')}],"totalItems":1,"nextPageToken":${token}}`;

test('each page is read when it is asked for, with the filter and its own token', async () => {
  const { server, workspace } = await openTestWorkspace();
  server.script(reply(200, page(['PN1'], '"t 1"')), reply(200, page(['PN2', 'PN3'], 'null')));
  expect(await pagesOf(workspace, { userId: 'US1' })).toEqual([[{ id: 'PN1' }], [{ id: 'PN2' }, { id: 'PN3' }]]);
  expect(server.seen.map(({ url }) => url)).toEqual([
    '/v1/phone-numbers?userId=US1',
    '/v1/phone-numbers?userId=US1&pageToken=t%201',
  ]);
});

test('all contacts are listed without a filter, 50 a page, each page with its own token', async () => {
  const { server, workspace } = await openTestWorkspace();
  server.script(reply(200, listJson(['a', 'b'], '"t 1"')), reset, reply(200, listJson(['c'], 'null')));
  const kinds: string[] = [];
  const keys: (string | null)[][] = [];
  for await (const one of workspace.listContactPages({ onRequest: (kind) => kinds.push(kind) }))
    keys.push(one.map(({ externalId }) => externalId));
  expect(keys).toEqual([['a', 'b'], ['c']]);
  const second = '/v1/contacts?maxResults=50&pageToken=t%201';
  expect(server.seen.map(({ url }) => url)).toEqual(['/v1/contacts?maxResults=50', second, second]);
  expect(kinds.toSorted()).toEqual(['get', 'get', 'get', 'retried']);
});

test('a number keeps all that the reply held, whatever its form; without an id the reply means nothing', async () => {
  const { server, workspace } = await openTestWorkspace();
  const odd = { id: 'PN1', number: null, users: 'none', restrictions: [], name: 7, more: { deep: [1] } };
  server.script(reply(200, JSON.stringify({ data: [odd, { id: 'PN2' }] })));
  expect(await pagesOf(workspace)).toEqual([[odd, { id: 'PN2' }]]);
  for (const data of [[{ number: '+14155550101' }], [{ id: '' }], [7], null]) {
    server.script(reply(200, JSON.stringify({ data })));
    expect(await failureOf(pagesOf(workspace))).toMatchObject({ code: 'serviceAnswersOddly' });
  }
});

test('a page that fails for a while is asked for again, those before it are not', async () => {
  const { server, workspace } = await openTestWorkspace();
  server.script(reply(200, page(['PN1'], '"a"')), reset, reply(503, '{}'), reply(200, page(['PN2'], 'null')));
  expect(await pagesOf(workspace)).toHaveLength(2);
  expect(server.seen.map(({ url }) => url.split('=')[1])).toEqual([undefined, 'a', 'a', 'a']);
});

test('a reply of some megabytes is a list of thousands of numbers, and is taken', async () => {
  const { server, workspace } = await openTestWorkspace();
  const data = Array.from({ length: 5_000 }, (_, index) => ({ id: `PN${index}`, name: 'x'.repeat(600) }));
  server.script(reply(200, JSON.stringify({ data })));
  const [all] = await pagesOf(workspace);
  expect(all).toHaveLength(5_000);
});

test('a service without the list, a user whom it does not know, and a refusal are told apart', async () => {
  const { server, workspace } = await openTestWorkspace();
  server.script(reply(404, '{}'), reply(404, '{}'), reply(400, refusalJson));
  const code = 'noPhoneNumberList';
  expect(await failureOf(pagesOf(workspace))).toMatchObject({ kind: 'unreachable', code, facts: { user: null } });
  expect(await failureOf(pagesOf(workspace, { userId: 'US9' }))).toMatchObject({ code, facts: { user: 'US9' } });
  expect(await failureOf(pagesOf(workspace, { userId: 'US9' }))).toMatchObject({ code: 'requestRefused' });
});

test('whoever gives up ends the walk with the reason', async () => {
  const { server, workspace } = await openTestWorkspace();
  const giveUp = new AbortController();
  server.script(reply(200, page(['PN1'], '"a"')), () => giveUp.abort(new Error('enough')));
  expect(await failureOf(pagesOf(workspace, { signal: giveUp.signal }))).toMatchObject({ message: 'enough' });
});
