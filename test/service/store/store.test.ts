/** The store: what was answered is kept, a seed fills a new store only, a foreign file is refused. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { openTestService, person, send, startTestService } from '../test-service.ts';

function storePath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'service-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'deeper', 'service.sqlite');
}

test('a reopened store holds the contacts, their order and the workspace', async () => {
  const store = storePath();
  const first = await openTestService({ store, seedContacts: 2, seedPhoneNumbers: 2 });
  const created = await send(first.origin, 'POST', '/v1/contacts', person('kept', { source: 'crm' }));
  const contacts = await send(first.origin, 'GET', '/v1/contacts');
  const numbers = await send(first.origin, 'GET', '/v1/phone-numbers');
  await first.close();

  const second = await startTestService({ store, seedContacts: 50, seedPhoneNumbers: 50 });
  expect((await second.call('GET', '/v1/contacts')).body).toEqual(contacts.body);
  expect((await second.call('GET', '/v1/phone-numbers')).body).toEqual(numbers.body);
  expect((await second.call('GET', '/v1/contacts?externalIds=kept&sources=crm')).body.data).toEqual([
    created.body.data,
  ]);
  expect((await second.call('POST', '/v1/contacts', person('kept'))).status).toBe(409);
});

test('a service killed in the middle of its work loses nothing that it answered', async () => {
  const store = storePath();
  const child = fork(join(import.meta.dirname, 'service-process.ts'), [store], { execArgv: [] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [origin] = await once(child, 'message');
  const answered: string[] = [];
  const write = async (lane: number) => {
    // Ends with the kill.
    for (let index = 0; ; index += 1) {
      const { status } = await send(String(origin), 'POST', '/v1/contacts', person(`${lane}-${index}`));
      expect(status).toBe(201);
      answered.push(`${lane}-${index}`);
      if (answered.length === 60) child.kill('SIGKILL');
    }
  };
  await Promise.allSettled(Array.from({ length: 5 }, (_, lane) => write(lane)));

  const service = await startTestService({ store });
  expect(answered.length).toBeGreaterThanOrEqual(60);
  for (const externalId of answered) {
    const { body } = await service.call('GET', `/v1/contacts?externalIds=${externalId}`);
    expect(body.data).toMatchObject([{ externalId }]);
  }
});

test('seeded contacts are people entered by hand, with fictional numbers', async () => {
  const service = await startTestService({ seedContacts: 60 });
  const { body } = await service.call('GET', '/v1/contacts?maxResults=50');
  expect(body.data).toHaveLength(50);
  expect(body.data[0]).toMatchObject({ externalId: null, source: null, defaultFields: { firstName: 'Ada' } });
  for (const contact of body.data) {
    expect(contact.defaultFields.phoneNumbers[0].value).toMatch(/^\+120155501\d\d$/);
    expect(contact.defaultFields.emails[0].value).toMatch(/@example\.com$/);
    expect(Date.parse(contact.createdAt)).toBeLessThan(Date.now());
  }
  const ids = body.data.map((one: { id: string }) => one.id);
  expect(ids.toSorted()).toEqual(ids);
});

test('the file is readable by its owner alone', async () => {
  const store = storePath();
  await startTestService({ store });
  expect(statSync(store).mode & 0o077).toBe(0);
});

test('a file that is no store, another program’s database and a newer store are refused and left alone', async () => {
  const text = storePath();
  await (await openTestService({ store: text })).close();
  writeFileSync(text, 'this is no database, whatever its name says; it is long enough to be looked at');
  await expect(openTestService({ store: text })).rejects.toMatchObject({ code: 'storeUnreadable' });

  const foreign = join(text, '..', 'foreign.sqlite');
  const other = new DatabaseSync(foreign);
  other.exec('CREATE TABLE theirs (a)');
  other.close();
  await expect(openTestService({ store: foreign })).rejects.toMatchObject({ code: 'storeUnreadable' });

  const newer = join(text, '..', 'newer.sqlite');
  await (await openTestService({ store: newer })).close();
  const raised = new DatabaseSync(newer);
  raised.exec('PRAGMA user_version = 99');
  raised.close();
  await expect(openTestService({ store: newer })).rejects.toMatchObject({ code: 'storeNewer' });
});

test('a seed out of range is refused and leaves no store behind', async () => {
  await expect(openTestService({ seedPhoneNumbers: 10_001 })).rejects.toMatchObject({
    code: 'seedTooLarge',
  });
  await expect(openTestService({ seedContacts: -1 })).rejects.toMatchObject({ code: 'seedTooLarge' });
});
