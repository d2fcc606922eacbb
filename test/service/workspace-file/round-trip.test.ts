/** A workspace goes out and comes in again, and nothing is lost on the way. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openTestService, person, send, startTestService } from '../test-service.ts';
import { filesOfTest, load, loadText } from './workspace-files.ts';

/** A store in which something of everything happened, and a dump of it. */
async function livedInStore() {
  const files = filesOfTest();
  const store = files.at('first.sqlite');
  const service = await openTestService({ store, seedContacts: 20, seedPhoneNumbers: 4 });
  const customFields = [
    { key: 'office_address', value: '1 Quay "East" \\ Zoë\u2028' },
    { key: 'newsletter', value: true },
    { key: 'customer_since', value: '2026-01-02T03:04:05+02:00' },
    { key: 'interests', value: ['tea', ''] },
    { key: 'seats', value: -9007199254740991 },
  ];
  const emails = [{ name: 'work', value: 'ada@example.com' }];
  const body = person('90071992547409931', { source: 'crm', sourceUrl: 'https://example.com/1', customFields });
  await send(service.origin, 'POST', '/v1/contacts', { ...body, defaultFields: { firstName: null, emails } });
  const { data } = (await send(service.origin, 'GET', '/v1/contacts')).body;
  await send(service.origin, 'PATCH', `/v1/contacts/${data[0].id}`, { defaultFields: { lastName: 'Changed' } });
  await send(service.origin, 'DELETE', `/v1/contacts/${data[1].id}`);
  await service.close();
  return { files, store, dump: await files.dump(store) };
}

test('a dump that is loaded and dumped again is the same, byte for byte', async () => {
  const { files, dump } = await livedInStore();
  const second = files.at('second.sqlite');
  const service = await load(dump, { store: second });
  expect(service.loaded).toMatchObject({ contacts: 20, phoneNumbers: 4, customFields: 7 });
  expect(service.loaded?.calls).toBeGreaterThan(0);
  const again = await files.dump(second, 'again.json');
  expect(readFileSync(again, 'utf8')).toBe(readFileSync(dump, 'utf8'));
});

test('a loaded workspace answers as the one that was dumped', async () => {
  const { store, dump } = await livedInStore();
  const first = await startTestService({ store });
  const second = await load(dump);
  for (const path of ['/v1/contacts?maxResults=50', '/v1/phone-numbers', '/v1/contact-custom-fields']) {
    expect((await second.call('GET', path)).body).toEqual((await first.call('GET', path)).body);
  }
  const [number] = (await first.call('GET', '/v1/phone-numbers')).body.data;
  const calls: { participants: string[]; userId: string }[] = JSON.parse(readFileSync(dump, 'utf8')).calls;
  const other = calls[0]?.participants.find((one) => one !== number.number) ?? '';
  for (const list of ['calls', 'messages']) {
    const path = `/v1/${list}?phoneNumberId=${number.id}&participants=${encodeURIComponent(other)}&maxResults=100`;
    expect((await second.call('GET', path)).body).toEqual((await first.call('GET', path)).body);
  }
});

test('a loaded workspace is worked with like any other', async () => {
  const { dump } = await livedInStore();
  const service = await load(dump);
  const { ownerUserId } = JSON.parse(readFileSync(dump, 'utf8')).workspace;
  expect((await service.call('POST', '/v1/contacts', person('90071992547409931'))).status).toBe(409);
  const created = await service.call('POST', '/v1/contacts', person('new'));
  expect(created.body.data.createdByUserId).toBe(ownerUserId);
  expect((await service.call('GET', '/v1/contacts?externalIds=new')).body.data).toHaveLength(1);
});

test('a dump is one JSON document, with each record on a line of its own', async () => {
  const { dump } = await livedInStore();
  const text = readFileSync(dump, 'utf8');
  const workspace = JSON.parse(text);
  expect(Object.keys(workspace)).toEqual([
    ...['workspace', 'users', 'customFields', 'phoneNumbers', 'contacts', 'calls', 'recordings', 'messages'],
  ]);
  const records = text.split('\n').filter((line) => line.startsWith('{"id":"'));
  const parsed = records.map((line) => JSON.parse(line.replace(/,$/, '')));
  for (const contact of workspace.contacts) expect(parsed).toContainEqual(contact);
});

test('a dump holds no API key', async () => {
  const files = filesOfTest();
  const store = files.at('store.sqlite');
  await startTestService({ store, apiKeys: ['a-key-that-is-secret'] });
  expect(readFileSync(await files.dump(store), 'utf8')).not.toMatch(/secret|key-that|hash|salt/);
});

test('a dump whose name ends in .gz is packed, and is loaded whatever its name', async () => {
  const { files, store, dump } = await livedInStore();
  const packed = readFileSync(await files.dump(store, 'dump.json.gz'));
  expect(gunzipSync(packed).toString()).toBe(readFileSync(dump, 'utf8'));
  const service = await load(files.write('renamed', packed));
  expect(service.loaded?.contacts).toBe(20);
});

test('a dump comes through a pipe', async () => {
  const { dump } = await livedInStore();
  expect((await loadText(readFileSync(dump, 'utf8'))).loaded?.contacts).toBe(20);
});

test('the sections may be in any order in a file', async () => {
  const { files, dump } = await livedInStore();
  const workspace = JSON.parse(readFileSync(dump, 'utf8'));
  const turned = Object.fromEntries(Object.entries(workspace).reverse());
  const second = files.at('second.sqlite');
  await load(files.write('turned.json', JSON.stringify(turned, null, 3)), { store: second });
  expect(readFileSync(await files.dump(second, 'again.json'), 'utf8')).toBe(readFileSync(dump, 'utf8'));
});

test('nothing stays beside the stores and the dumps, and both are their owner’s alone', async () => {
  const { files, dump } = await livedInStore();
  const second = files.at('second.sqlite');
  await (await load(dump, { store: second })).close();
  await files.dump(second);
  expect(readdirSync(dirname(dump)).toSorted()).toEqual(['dump.json', 'first.sqlite', 'second.sqlite']);
  for (const file of [dump, second]) expect(statSync(file).mode & 0o077).toBe(0);
});

test('many contacts are loaded in order', async () => {
  const files = filesOfTest();
  const contacts = Array.from({ length: 20_000 }, (_, index) => person(`n-${index}`, { source: 'bulk' }));
  const service = await load(files.write('many.json', { contacts }), { store: files.at('store.sqlite') });
  expect(service.loaded?.contacts).toBe(20_000);
  const { body } = await service.call('GET', '/v1/contacts?maxResults=2');
  expect(body.data.map((one: { externalId: string }) => one.externalId)).toEqual(['n-0', 'n-1']);
  expect((await service.call('GET', '/v1/contacts?externalIds=n-19999')).body.data).toHaveLength(1);
});
