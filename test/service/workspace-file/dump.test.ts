/** A dump is one picture of a store, whole or not there, and leaves the store as it is. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openSnapshot } from '#src/service/store/open-snapshot.ts';
import { migrations } from '#src/service/store/schema.ts';
import { createDumpLines, dumpWorkspace } from '#src/service/workspace-file/dump-workspace.ts';
import { openTestService, person, startTestService } from '../test-service.ts';
import { filesOfTest, load } from './workspace-files.ts';

const stdout = () => process.stdout;

async function closedStore(seedContacts = 5) {
  const files = filesOfTest();
  const store = files.at('store.sqlite');
  await (await openTestService({ store, seedContacts, seedPhoneNumbers: 1 })).close();
  return { files, store };
}

test('a dump beside a running service has what was answered, and nothing of what comes while it is taken', async () => {
  const files = filesOfTest();
  const store = files.at('store.sqlite');
  const service = await startTestService({ store, seedContacts: 3, seedPhoneNumbers: 1 });
  await service.call('POST', '/v1/contacts', person('before'));
  const snapshot = openSnapshot(store);
  const lines = createDumpLines(snapshot.tables, snapshot.ownerUserId).lines()[Symbol.iterator]();
  const first = lines.next();
  await service.call('POST', '/v1/contacts', person('meanwhile'));
  const rest = [...{ [Symbol.iterator]: () => lines }];
  snapshot.close();
  const { contacts } = JSON.parse([first.value, ...rest].join(''));
  expect(contacts).toHaveLength(4);
  expect(contacts[3].externalId).toBe('before');
  expect((await service.call('POST', '/v1/contacts', person('after'))).status).toBe(201);
});

test('a dump changes nothing of a store, whether it is at rest or was left by a crash', async () => {
  const { files, store } = await closedStore();
  const bytes = readFileSync(store);
  await files.dump(store);
  expect(readFileSync(store).equals(bytes)).toBe(true);
  expect(readdirSync(dirname(store)).toSorted()).toEqual(['dump.json', 'store.sqlite']);

  // What a killed service leaves: the last commits are in the journal.
  const service = await startTestService({ store });
  await service.call('POST', '/v1/contacts', person('late'));
  const copy = files.at('copy.sqlite');
  for (const end of ['', '-wal']) writeFileSync(copy + end, readFileSync(store + end));
  await files.dump(copy, 'copy.json');
  for (const end of ['', '-wal']) expect(readFileSync(copy + end).equals(readFileSync(store + end))).toBe(true);
  expect(JSON.parse(readFileSync(files.at('copy.json'), 'utf8')).contacts).toHaveLength(6);
});

test('a store that is not there is refused and not made', async () => {
  const files = filesOfTest();
  const store = files.at('absent.sqlite');
  await expect(files.dump(store)).rejects.toMatchObject({ kind: 'usage', code: 'storeMissing' });
  expect(readdirSync(dirname(store))).toEqual([]);
});

test('what is no store of ours, and a newer one, are refused', async () => {
  const { files, store } = await closedStore();
  await expect(
    files.dump(files.write('text', 'no database, and long enough to be looked at as one, page by page')),
  ).rejects.toMatchObject({ code: 'storeUnreadable' });
  await expect(files.dump(files.write('empty', ''))).rejects.toMatchObject({ code: 'storeUnreadable' });
  await expect(files.dump(dirname(store))).rejects.toMatchObject({ code: 'storeUnreadable' });
  const database = new DatabaseSync(store);
  database.exec('PRAGMA user_version = 99');
  database.close();
  await expect(files.dump(store)).rejects.toMatchObject({ code: 'storeNewer' });
});

test('a store of the first version is dumped without being brought up to date', async () => {
  const files = filesOfTest();
  const store = files.at('old.sqlite');
  const database = new DatabaseSync(store);
  database.exec(migrations[0] ?? '');
  database.exec("PRAGMA user_version = 1; INSERT INTO workspace VALUES (1, 'US1')");
  database.close();
  const bytes = readFileSync(store);
  const dump = await files.dump(store);
  const { workspace, users, contacts } = JSON.parse(readFileSync(dump, 'utf8'));
  expect({ workspace, contacts }).toEqual({ workspace: { format: 1, ownerUserId: 'US1' }, contacts: [] });
  // No number named the owner: a user takes that role, so that the dump refers to nothing that is not in it.
  expect(users).toMatchObject([{ id: 'US1', role: 'owner', firstName: null }]);
  await load(dump);
  expect(readFileSync(store).equals(bytes)).toBe(true);
  expect(readFileSync(await files.dump(store, 'again.json')).equals(readFileSync(dump))).toBe(true);
});

test('a dump replaces the one before, also behind a link', async () => {
  const { files, store } = await closedStore();
  files.write('real.json', 'of yesterday');
  symlinkSync(files.at('real.json'), files.at('link.json'));
  await files.dump(store, 'link.json');
  expect(JSON.parse(readFileSync(files.at('real.json'), 'utf8')).contacts).toHaveLength(5);
});

test('a dump that cannot be written leaves the one before, and no half one', async () => {
  const { files, store } = await closedStore();
  mkdirSync(files.at('folder'));
  for (const file of ['absent/dump.json', 'folder', 'store.sqlite']) {
    await expect(files.dump(store, file)).rejects.toMatchObject({ kind: 'usage', code: 'dumpNotWritten' });
  }
  await expect(dumpWorkspace({ store, file: '/dev/full', stdout })).rejects.toMatchObject({
    code: 'dumpNotWritten',
    message: expect.stringContaining('no space left'),
  });
  expect(readdirSync(dirname(store)).toSorted()).toEqual(['folder', 'store.sqlite']);
  expect(readdirSync(files.at('folder'))).toEqual([]);
});

test('a dump that is interrupted leaves nothing', async () => {
  const { files, store } = await closedStore();
  const reason = new Error('enough');
  await expect(
    dumpWorkspace({ store, file: files.at('dump.json'), stdout, signal: AbortSignal.abort(reason) }),
  ).rejects.toBe(reason);
  expect(readdirSync(dirname(store))).toEqual(['store.sqlite']);
});

test('a dump to standard output waits for a slow reader, and its text can be loaded', async () => {
  const { files, store } = await closedStore(2_000);
  const pipe = new PassThrough({ highWaterMark: 1_024 });
  const reading = text(pipe);
  const counts = await dumpWorkspace({ store, file: '-', stdout: () => pipe });
  pipe.end();
  expect(counts).toMatchObject({ contacts: 2_000, phoneNumbers: 1 });
  expect((await load(files.write('piped.json', await reading))).loaded).toEqual(counts);
});

test('a reader who goes away ends the dump', async () => {
  const { store } = await closedStore(2_000);
  const closing = new Writable({ write: (_chunk, _encoding, done) => done(new Error('gone')) });
  await expect(dumpWorkspace({ store, file: '-', stdout: () => closing })).rejects.toMatchObject({
    code: 'dumpNotWritten',
  });
});
