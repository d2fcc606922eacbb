/** A store without room: what is told as failed is not kept, and writes work again when there is room. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { createLogger } from '#src/log.ts';
import { workspaceSeed } from '#src/service/seed/seed-workspace.ts';
import { createServiceApp } from '#src/service/service-app.ts';
import { createGroupCommit } from '#src/service/store/group-commit.ts';
import { openStore, storeOf } from '#src/service/store/open-store.ts';
import { person, serviceOptions, testKey } from '../test-service.ts';

const noReads = () => undefined;

function fileOfTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'full-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'store.sqlite');
}

/** SQLite refuses to grow a file beyond so many pages, as a full disk does. */
function leaveRoomFor(database: DatabaseSync, pageCount: number): void {
  const { page_count: now } = database.prepare('PRAGMA page_count').get() ?? {};
  database.exec(`PRAGMA max_page_count = ${Number(now) + pageCount}`);
}

test('when SQLite ends the transaction by itself, every work of it is told so and nothing of it is kept', async () => {
  const database = new DatabaseSync(fileOfTest());
  onTestFinished(() => database.close());
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE kept (text TEXT) STRICT');
  leaveRoomFor(database, 6);
  const insert = database.prepare('INSERT INTO kept VALUES (?)');
  const group = createGroupCommit(database, noReads);
  const works = [10, 10, 200_000, 10].map((length) => group.write(() => insert.run('x'.repeat(length))));
  const outcomes = await Promise.allSettled(works);
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'database or disk is full' } });
  }
  expect(database.prepare('SELECT * FROM kept').all()).toEqual([]);
  await group.write(() => insert.run('small'));
  expect(database.prepare('SELECT * FROM kept').all()).toEqual([{ text: 'small' }]);
});

test('a rollback that fails leaves no caller without an answer', async () => {
  const database = new DatabaseSync(':memory:');
  const group = createGroupCommit(database, noReads);
  const outcomes = await Promise.allSettled([
    // From here on not even the state of the transaction can be asked for.
    group.write(() => database.close()),
    group.write(() => 1),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('on a full disk writes are 500, their cause is in the log, and nothing of them is found', async () => {
  const lines: string[] = [];
  const log = createLogger({ level: 'error', stream: { write: (line) => void lines.push(line) } });
  const options = serviceOptions({ log });
  const path = fileOfTest();
  openStore(path, workspaceSeed(options, options.clock)).close();
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL');
  const store = storeOf(database);
  const { app, close } = createServiceApp(options, store);
  onTestFinished(async () => {
    await close();
    store.close();
  });
  const headers = { authorization: testKey, 'content-type': 'application/json' };
  const create = async (externalId: string, nameLength: number) => {
    const fields = { defaultFields: { firstName: 'x'.repeat(nameLength) } };
    const body = JSON.stringify(person(externalId, fields));
    return await app.request('/v1/contacts', { method: 'POST', headers, body });
  };
  const found = async () => {
    const reply = await app.request('/v1/contacts', { headers });
    const { data } = (await reply.json()) as { data: { externalId: string }[] };
    return data.map(({ externalId }) => externalId);
  };
  leaveRoomFor(database, 6);
  const replies = await Promise.all([
    create('before', 1),
    create('large', 200_000),
    create('after', 1),
    create('last', 1),
  ]);
  expect(replies.map(({ status }) => status)).toEqual([500, 500, 500, 500]);
  expect(await found()).toEqual([]);
  const traces: string[] = [];
  for (const reply of replies) {
    const { code, trace } = (await reply.json()) as { code: string; trace: string };
    expect(code).toBe('0801500');
    traces.push(trace);
  }
  // One cause has one line at once, and one for those that follow within its second.
  await expect.poll(() => lines.length, { timeout: 10_000 }).toBe(2);
  const logged = lines.map((line) => JSON.parse(line));
  expect(logged.flatMap(({ trace, traces: held = [] }) => [trace ?? [], held].flat()).toSorted()).toEqual(
    traces.toSorted(),
  );
  expect(logged.map(({ error, count }) => [error, count])).toEqual([
    ['database or disk is full', undefined],
    ['database or disk is full', 3],
  ]);

  leaveRoomFor(database, 1_000);
  expect((await create('later', 200_000)).status).toBe(201);
  expect(await found()).toEqual(['later']);
});
