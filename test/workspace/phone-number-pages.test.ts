import { expect, test } from 'vitest';
import type { PhoneNumber } from '#src/wire/phone-number.ts';
import type { PhoneNumberOptions, Workspace } from '#src/workspace/port.ts';
import { refusalJson } from './support/contact-json.ts';
import { reply, reset } from './support/scripted-server.ts';
import { openTestWorkspace } from './support/test-workspace.ts';

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
