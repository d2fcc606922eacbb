/**
 * Calls and messages that an earlier version stored or dumped: replies show them with the members of the newest public
 * description (`docs/facts.md`, "Later findings"), and a dump of them is loaded again.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { LiteralJson } from '#test/support/literal-json.ts';
import { listing } from '../activity.ts';
import { openTestService, startTestService, type TestService } from '../test-service.ts';
import { filesOfTest, load, problemsOf } from '../workspace-file/workspace-files.ts';

const files = () => {
  const made = filesOfTest();
  return { ...made, store: made.at('store.sqlite') };
};

/** As they were: without the later members, and incoming messages `delivered`. */
const asBefore = `
UPDATE calls SET document = json_remove(document, '$.callRoute', '$.aiHandled');
UPDATE messages SET document = json_remove(document, '$.conversationId');
UPDATE messages SET document = json_set(document, '$.status', 'delivered') WHERE document ->> 'direction' = 'incoming';
`;

async function olderStore(store: string): Promise<void> {
  await (await openTestService({ store, seedPhoneNumbers: 2, seedContacts: 5 })).close();
  const database = new DatabaseSync(store);
  database.exec(asBefore);
  const holds = (text: string) =>
    database
      .prepare(`SELECT count(*) AS n FROM calls, messages WHERE calls.document || messages.document LIKE ?`)
      .get(`%${text}%`)?.n;
  expect(['callRoute', 'aiHandled', 'conversationId', 'received'].map(holds)).toEqual([0, 0, 0, 0]);
  database.close();
}

/** What the owner of the first number and the first contact wrote and said. */
async function activityOf(service: TestService): Promise<Record<'calls' | 'messages', readonly LiteralJson[]>> {
  const [number] = (await service.call('GET', '/v1/phone-numbers')).body.data;
  const query = { phoneNumberId: number.id, participants: '+12015550100', maxResults: 100 };
  const [calls, messages] = await Promise.all(
    (['/v1/calls', '/v1/messages'] as const).map((path) => service.call('GET', listing(path, query))),
  );
  return { calls: calls?.body.data, messages: messages?.body.data };
}

test('a store of before opens, and its calls and messages have what newer ones have', async () => {
  const { store } = files();
  await olderStore(store);
  const service = await startTestService({ store });
  const { calls, messages } = await activityOf(service);
  expect(calls.length).toBeGreaterThan(1);
  for (const call of calls) {
    expect(call.callRoute).toBe(call.direction === 'incoming' ? 'phone-number' : null);
    expect(call.aiHandled).toBeNull();
  }
  expect(messages.length).toBeGreaterThan(1);
  for (const message of messages) {
    expect(message.conversationId).toBe(messages[0]?.conversationId);
    expect(message.status).toBe(message.direction === 'incoming' ? 'received' : 'delivered');
  }
  const [{ from, to }] = messages.filter(({ direction }) => direction === 'outgoing') as [LiteralJson];
  const sent = await service.call('POST', '/v1/messages', { content: 'Hello', from, to });
  expect(sent.body.data.conversationId).toBe(messages[0]?.conversationId);
  const group = await service.call('POST', '/v1/messages', { content: 'Hello', from, to: [...to, '+14155550177'] });
  expect(group.body.data.conversationId).toMatch(/^CN[0-9a-f]{24}$/);
  expect(group.body.data.conversationId).not.toBe(messages[0]?.conversationId);
});

test('a workspace file of before is loaded, and its dump is loaded as it is', async () => {
  const { store, dump, at } = files();
  await olderStore(store);
  const before = JSON.parse(readFileSync(await dump(store), 'utf8'));
  for (const call of before.calls) for (const member of ['callRoute', 'aiHandled']) delete call[member];
  for (const message of before.messages) {
    delete message.conversationId;
    if (message.status === 'received') message.status = 'delivered';
  }
  writeFileSync(at('before.json'), JSON.stringify(before));
  const loaded = await load(at('before.json'), { store: at('loaded.sqlite') });
  const shown = await activityOf(loaded);
  await loaded.close();
  expect(shown).toEqual(await activityOf(await startTestService({ store })));
  const again = await dump(at('loaded.sqlite'), 'again.json');
  await (await load(again, { store: at('again.sqlite') })).close();
  expect(readFileSync(await dump(at('again.sqlite'), 'third.json'), 'utf8')).toBe(readFileSync(again, 'utf8'));
});

test('a conversation that is not the one of the number and the others is refused', async () => {
  const { store, dump, write } = files();
  await olderStore(store);
  const workspace = JSON.parse(readFileSync(await dump(store), 'utf8'));
  const { conversationId } = workspace.messages[0];
  workspace.messages[0].conversationId = 'CN0';
  expect(await problemsOf(write('wrong.json', workspace))).toEqual([
    expect.stringContaining(`messages[0].conversationId (line 1): must be ${conversationId}, as it follows`),
  ]);
});
