/** A store that is replaced or removed while its service runs: no write is told as kept, and the new file is not harmed. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createLogger } from '#src/log.ts';
import { openTestService, person, send, startTestService } from '../test-service.ts';
import { filesOfTest } from '../workspace-file/workspace-files.ts';

/** A service with one contact, and a backup with one other. */
async function running() {
  const files = filesOfTest();
  mkdirSync(files.at('data'));
  const store = files.at('data/store.sqlite');
  const backup = files.at('backup.sqlite');
  const old = await openTestService({ store: backup });
  await send(old.origin, 'POST', '/v1/contacts', person('of the backup'));
  await old.close();
  const lines: string[] = [];
  const log = createLogger({ level: 'error', stream: { write: (line) => void lines.push(line) } });
  const service = await openTestService({ store, log });
  await send(service.origin, 'POST', '/v1/contacts', person('before'));
  const write = async (externalId: string) =>
    (await send(service.origin, 'POST', '/v1/contacts', person(externalId))).status;
  return { files, store, backup, service, lines, write };
}

async function externalIdsOf(store: string): Promise<readonly string[]> {
  const service = await startTestService({ store });
  const { body } = await service.call('GET', '/v1/contacts');
  await service.close();
  return body.data.map((one: { externalId: string }) => one.externalId);
}

function integrityOf(store: string): unknown {
  const database = new DatabaseSync(store, { readOnly: true });
  const found = database.prepare('PRAGMA integrity_check').all();
  database.close();
  return found;
}

test('behind a backup that was moved over the store no write is kept, and the backup stays whole', async () => {
  const { store, backup, service, lines, write } = await running();
  renameSync(backup, store);
  expect([await write('lost'), await write('lost too')]).toEqual([500, 500]);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'error',
    error: expect.stringMatching(/store\.sqlite .*replaced.*start again/),
  });
  // Reads go on, of what was there.
  expect((await send(service.origin, 'GET', '/v1/contacts')).body.data).toMatchObject([{ externalId: 'before' }]);
  await service.close();
  expect(readdirSync(dirname(store))).toEqual(['store.sqlite']);
  expect(integrityOf(store)).toEqual([{ integrity_check: 'ok' }]);
  expect(await externalIdsOf(store)).toEqual(['of the backup']);
});

test('a store that was moved away keeps every write that was told as kept, and is served again when it is back', async () => {
  const { files, store, backup, service, write } = await running();
  renameSync(store, files.at('away.sqlite'));
  copyFileSync(backup, store);
  expect(await write('refused')).toBe(500);
  expect(integrityOf(files.at('away.sqlite'))).toEqual([{ integrity_check: 'ok' }]);
  renameSync(files.at('away.sqlite'), store);
  expect(await write('back')).toBe(201);
  await service.close();
  expect(await externalIdsOf(store)).toEqual(['before', 'back']);
});

test('a service that ends without a write after its store was replaced leaves its journal to nobody', async () => {
  const { files, store, backup, service } = await running();
  renameSync(store, files.at('away.sqlite'));
  renameSync(backup, store);
  await service.close();
  expect(readdirSync(dirname(store))).toEqual(['store.sqlite']);
  expect(await externalIdsOf(store)).toEqual(['of the backup']);
  expect(await externalIdsOf(files.at('away.sqlite'))).toEqual(['before']);
});

test.each<[string, (store: string) => void]>([
  ['store', (store) => unlinkSync(store)],
  ['journal', (store) => unlinkSync(`${store}-wal`)],
  ['folder', (store) => rmSync(dirname(store), { recursive: true })],
])('writes are refused when the %s was removed, and the service still ends', async (name, remove) => {
  const { store, service, write } = await running();
  remove(store);
  expect(await write('lost')).toBe(500);
  await service.close();
  // With its file in place nothing that was told as kept is lost.
  if (name === 'journal') expect(await externalIdsOf(store)).toEqual(['before']);
  else expect(existsSync(store)).toBe(false);
});

test('a service whose folder was replaced leaves the lock and the journal of the next one alone', async () => {
  const { files, store, service } = await running();
  renameSync(dirname(store), files.at('old-data'));
  const next = await startTestService({ store });
  expect((await next.call('POST', '/v1/contacts', person('new'))).status).toBe(201);
  await service.close();
  expect(readdirSync(dirname(store)).toSorted()).toEqual([
    'store.sqlite',
    'store.sqlite-lock',
    'store.sqlite-shm',
    'store.sqlite-wal',
  ]);
  await expect(openTestService({ store })).rejects.toMatchObject({ code: 'storeInUse' });
  expect((await next.call('POST', '/v1/contacts', person('newer'))).status).toBe(201);
});
