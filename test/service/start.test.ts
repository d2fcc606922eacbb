/** A start that fails leaves nothing behind, and one store has one service. */
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { openTestService, person, startTestService } from './test-service.ts';
import { filesOfTest, load, loadError } from './workspace-file/workspace-files.ts';

const ada = { contacts: [{ defaultFields: { firstName: 'Ada' } }] };

test('a load that finds the port taken leaves no store, and the same command works on a free port', async () => {
  const files = filesOfTest();
  const file = files.write('a.json', ada);
  const store = files.at('store.sqlite');
  const { port } = await startTestService();
  expect(await loadError(file, { store, port })).toMatchObject({ code: 'portTaken' });
  expect(readdirSync(dirname(store))).toEqual(['a.json']);
  expect((await load(file, { store })).loaded?.contacts).toBe(1);
});

test('a load with a malformed limit leaves no store, and the same command works with a right one', async () => {
  const files = filesOfTest();
  const file = files.write('a.json', ada);
  const store = files.at('store.sqlite');
  expect(await loadError(file, { store, requestsPerSecond: 0 })).toMatchObject({ code: 'limitMalformed' });
  // It is told before the file is looked at, which may take long.
  expect(await loadError(files.at('absent.json'), { store, pageNumbers: 0 })).toMatchObject({ code: 'limitMalformed' });
  expect(readdirSync(dirname(store))).toEqual(['a.json']);
  expect((await load(file, { store, requestsPerSecond: 1 })).loaded?.contacts).toBe(1);
});

test('a load whose start fails behind the loading leaves no store', async () => {
  const files = filesOfTest();
  const store = files.at('store.sqlite');
  const replyObserver = () => {
    throw new Error('no observer today');
  };
  await expect(load(files.write('a.json', ada), { store, replyObserver })).rejects.toThrow('no observer today');
  expect(readdirSync(dirname(store))).toEqual(['a.json']);
});

test('a start that finds the port taken makes no store, so that the next one may ask for another content', async () => {
  const files = filesOfTest();
  const store = files.at('store.sqlite');
  const { port } = await startTestService();
  await expect(openTestService({ store, port, seedContacts: 1 })).rejects.toMatchObject({ code: 'portTaken' });
  expect(readdirSync(dirname(store))).toEqual([]);
  const service = await startTestService({ store, seedContacts: 2 });
  expect((await service.call('GET', '/v1/contacts')).body.data).toHaveLength(2);
});

test('a store on which a service works is refused to a second one, and its keys stay', async () => {
  const files = filesOfTest();
  const store = files.at('store.sqlite');
  const first = await openTestService({ store, apiKeys: [] });
  symlinkSync(store, files.at('link.sqlite'));
  for (const name of ['store.sqlite', 'link.sqlite']) {
    await expect(openTestService({ store: files.at(name), apiKeys: ['other'] })).rejects.toMatchObject({
      kind: 'usage',
      code: 'storeInUse',
    });
  }
  await files.dump(store);
  const asked = { headers: { authorization: first.printedKey ?? '' } };
  expect((await fetch(`${first.origin}/v1/contacts`, asked)).status).toBe(200);
  await first.close();
  const second = await startTestService({ store });
  expect((await second.call('GET', '/v1/contacts')).status).toBe(200);
  await second.close();
  expect(readdirSync(dirname(store)).toSorted()).toEqual(['dump.json', 'link.sqlite', 'store.sqlite']);
});

test.each([
  ['another program’s database', 'CREATE TABLE theirs (a)', 'storeUnreadable'],
  ['one that counts its versions as ours does', 'CREATE TABLE theirs (a); PRAGMA user_version = 1', 'storeUnreadable'],
  ['a newer store', 'CREATE TABLE workspace (a); PRAGMA user_version = 99', 'storeNewer'],
])('%s is refused and stays as it is, byte for byte', async (_name, sql, code) => {
  const files = filesOfTest();
  const store = files.at('foreign.sqlite');
  const database = new DatabaseSync(store);
  database.exec(sql);
  database.close();
  const bytes = readFileSync(store);
  await expect(openTestService({ store })).rejects.toMatchObject({ code });
  expect(readFileSync(store).equals(bytes)).toBe(true);
  expect(readdirSync(dirname(store))).toEqual(['foreign.sqlite']);
});

test('the journal that a crash left of another program’s database stays as it is', async () => {
  const files = filesOfTest();
  const living = new DatabaseSync(files.at('living.sqlite'));
  onTestFinished(() => living.close());
  living.exec('PRAGMA journal_mode = WAL; CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)');
  mkdirSync(files.at('left'));
  const store = files.at('left/foreign.sqlite');
  for (const end of ['', '-wal']) writeFileSync(store + end, readFileSync(files.at('living.sqlite') + end));
  const journal = readFileSync(`${store}-wal`);
  expect(journal.byteLength).toBeGreaterThan(0);
  await expect(openTestService({ store })).rejects.toMatchObject({ code: 'storeUnreadable' });
  expect(existsSync(`${store}-wal`)).toBe(true);
  expect(readFileSync(`${store}-wal`).equals(journal)).toBe(true);
});

test('a dump never takes the place of the store, of its journal or of its lock, under whatever name', async () => {
  const files = filesOfTest();
  const store = files.at('store.sqlite');
  const service = await startTestService({ store });
  await service.call('POST', '/v1/contacts', person('kept'));
  mkdirSync(files.at('links'));
  const kept = ['store.sqlite', 'store.sqlite-wal', 'store.sqlite-shm', 'store.sqlite-lock'];
  for (const name of kept) {
    symlinkSync(files.at(name), files.at(`links/soft-${name}`));
    linkSync(files.at(name), files.at(`links/hard-${name}`));
  }
  symlinkSync(dirname(store), files.at('links/folder'));
  // The index of the journal belongs to whoever reads, and a dump reads.
  const contents = () =>
    kept.filter((name) => !name.endsWith('-shm')).map((name) => readFileSync(files.at(name), 'hex'));
  const before = contents();
  const targets = [
    ...kept,
    'store.sqlite-journal',
    'links/folder/store.sqlite-journal',
    'links/folder/store.sqlite-wal',
  ];
  for (const name of kept) targets.push(`links/soft-${name}`, `links/hard-${name}`);
  for (const target of targets) {
    await expect(files.dump(store, target), target).rejects.toMatchObject({ code: 'dumpNotWritten' });
  }
  expect(contents()).toEqual(before);
});

test('drafts that a killed dump left are removed by the next one of the same target; those at work stay', async () => {
  const files = filesOfTest();
  const store = files.at('store.sqlite');
  await (await openTestService({ store })).close();
  // No process has this number: it is beyond what the system gives.
  const dead = 2 ** 30;
  for (const name of [`dump.json.part-${dead}`, `dump.json.part-${dead}-0123456789ab`, `other.json.part-${dead}`]) {
    files.write(name, 'half');
  }
  const atWork = `dump.json.part-${process.ppid}-0123456789ab`;
  files.write(atWork, 'half');
  await files.dump(store);
  expect(readdirSync(dirname(store)).toSorted()).toEqual([
    'dump.json',
    atWork,
    `other.json.part-${dead}`,
    'store.sqlite',
  ]);
});

test('a dump follows no link that stands where its draft would be written', async () => {
  const files = filesOfTest();
  const store = files.at('store.sqlite');
  await (await openTestService({ store })).close();
  files.write('precious.txt', 'precious');
  const planted = `dump.json.part-${process.pid}`;
  symlinkSync(files.at('precious.txt'), files.at(planted));
  await files.dump(store);
  expect(readFileSync(files.at('precious.txt'), 'utf8')).toBe('precious');
});
