/** A start that cannot be: what is told of it, and that nothing is left behind. */
import { closeSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openStore } from '#src/service/store/open-store.ts';
import { openTestService } from '../test-service.ts';
import { filesOfTest, load } from '../workspace-file/workspace-files.ts';

test('a damaged store is unreadable, for a start as for a dump', async () => {
  const files = filesOfTest();
  const store = files.at('store.sqlite');
  await (await openTestService({ store, seedContacts: 500 })).close();
  const { size } = statSync(store);
  const handle = openSync(store, 'r+');
  // All but the first page, with the tables' names.
  writeSync(handle, Buffer.alloc(size - 4096, 0xaa), 0, size - 4096, 4096);
  closeSync(handle);
  await expect(openTestService({ store })).rejects.toMatchObject({ kind: 'usage', code: 'storeUnreadable' });
  await expect(files.dump(store)).rejects.toMatchObject({ kind: 'usage', code: 'storeUnreadable' });
});

test.each([
  ['its one row of the workspace', 'DELETE FROM workspace'],
  ['a table that is read at the start', 'DROP TABLE custom_fields'],
  ['a table that is written at the start', 'DROP TABLE api_keys'],
])('a store without %s is unreadable', async (_name, sql) => {
  const files = filesOfTest();
  const store = files.at('store.sqlite');
  await (await openTestService({ store })).close();
  const database = new DatabaseSync(store);
  database.exec(sql);
  database.close();
  await expect(openTestService({ store })).rejects.toMatchObject({ kind: 'usage', code: 'storeUnreadable' });
});

test('a store that cannot be filled, as on a full disk, leaves no file', () => {
  const files = filesOfTest();
  const store = files.at('store.sqlite');
  const fill = () => {
    throw new Error('database or disk is full');
  };
  expect(() => openStore(store, fill)).toThrow(expect.objectContaining({ code: 'storeUnreadable' }));
  expect(readdirSync(dirname(store))).toEqual([]);
});

test.runIf(process.platform === 'linux')(
  'a folder that cannot be made is told, instead of being tried for ever',
  async () => {
    const files = filesOfTest();
    const file = files.write('a.json', { contacts: [] });
    for (const store of ['/proc/x/y/store.sqlite', files.at('a.json/store.sqlite')]) {
      await expect(openTestService({ store })).rejects.toMatchObject({ code: 'storeUnreadable' });
      await expect(load(file, { store })).rejects.toMatchObject({ code: 'storeUnreadable' });
      expect(() => openStore(store, () => 'US1')).toThrow(expect.objectContaining({ code: 'storeUnreadable' }));
    }
  },
);
