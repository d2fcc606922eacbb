/** API keys: which ones open the workspace, how they are kept, how they are revoked (section 5; `docs/contract.md`). */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLogger } from '#src/log.ts';
import { callPatchbay } from '../support/call-patchbay.ts';
import { sendRaw } from './support/raw-http.ts';
import { manualClock, openTestService, startTestService, type TestServiceOptions } from './test-service.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'service-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function statusUnder(origin: string, authorization: string): Promise<number> {
  return (await fetch(`${origin}/v1/contacts`, { headers: { authorization } })).status;
}

/** Starts the service, asks once under each key, stops it. */
async function opened(options: TestServiceOptions, keys: readonly string[]) {
  const service = await openTestService(options);
  const statuses = await Promise.all(keys.map((key) => statusUnder(service.origin, key)));
  const own = service.printedKey === null ? null : await statusUnder(service.origin, service.printedKey);
  await service.close();
  return { statuses, own, printedKey: service.printedKey };
}

describe('which keys open', () => {
  test('keys that are given open and nothing is printed', async () => {
    const { statuses, printedKey } = await opened({ apiKeys: ['one', 'two', 'one'] }, ['one', 'two', 'three']);
    expect([statuses, printedKey]).toEqual([[200, 200, 401], null]);
  });

  test('a new workspace without a key gets a random one, another at each start', async () => {
    const first = await opened({ apiKeys: [] }, ['']);
    const second = await opened({ apiKeys: [] }, [first.printedKey ?? '']);
    expect([first.statuses, first.own, second.own]).toEqual([[401], 200, 200]);
    expect(second.statuses).toEqual([401]);
    expect(first.printedKey).toMatch(/^[\w-]{24}$/);
  });

  test('a store goes on with the keys it was given, and a random one that holds until the next start', async () => {
    const store = join(newFolder(), 'service.sqlite');
    await opened({ store, apiKeys: ['one', 'two'] }, []);
    const later = await opened({ store, apiKeys: [] }, ['one', 'two', 'three']);
    expect([later.statuses, later.own]).toEqual([[200, 200, 401], 200]);
    const last = await opened({ store, apiKeys: [] }, ['one', later.printedKey ?? '']);
    expect([last.statuses, last.own]).toEqual([[200, 401], 200]);
  });

  test('keys that are given replace those before: that is how one is revoked', async () => {
    const store = join(newFolder(), 'service.sqlite');
    await opened({ store, apiKeys: ['one', 'two'] }, []);
    const { printedKey } = await opened({ store, apiKeys: [] }, []);
    const given = await opened({ store, apiKeys: ['two', 'new'] }, ['one', 'two', 'new', printedKey ?? '']);
    expect(given.statuses).toEqual([401, 200, 200, 401]);
    expect((await opened({ store, apiKeys: [] }, ['one', 'two', 'new'])).statuses).toEqual([401, 200, 200]);
  });

  test('a start that fails changes no key', async () => {
    const store = join(newFolder(), 'service.sqlite');
    await opened({ store, apiKeys: ['one'] }, []);
    const other = await startTestService();
    await expect(openTestService({ store, apiKeys: ['two'], port: other.port })).rejects.toMatchObject({
      code: 'portTaken',
    });
    expect((await opened({ store, apiKeys: [] }, ['one', 'two'])).statuses).toEqual([200, 401]);
  });

  test('each key has a rate limit of its own', async () => {
    const clock = manualClock();
    const service = await startTestService({ clock, apiKeys: ['one', 'two'], requestsPerSecond: 2 });
    const statuses: number[] = [];
    for (const key of ['one', 'one', 'one', 'two', 'two', 'two']) {
      statuses.push(await statusUnder(service.origin, key));
    }
    expect(statuses).toEqual([200, 200, 429, 200, 200, 429]);
    clock.advance(1000);
    expect([await statusUnder(service.origin, 'one'), await statusUnder(service.origin, 'two')]).toEqual([200, 200]);
  });
});

describe('what is no key', () => {
  test.each([
    ['an empty one', '', 'is empty'],
    ['one above 512 characters', 'k'.repeat(513), 'has more than 512 characters'],
    ['one with a space, which looks like a scheme', 'Bearer one', 'holds white space'],
    ['one with a line end', 'one\n', 'holds white space'],
    ['one with a control character', 'o\u0000ne', 'holds a control character'],
    ['one that a header cannot carry', 'schlüssel', 'holds a character that a header cannot carry'],
  ])('%s is refused before the store is made, and not repeated', async (_, key, problem) => {
    const folder = newFolder();
    const started = openTestService({ store: join(folder, 'service.sqlite'), apiKeys: ['fine', key] });
    await expect(started).rejects.toMatchObject({ kind: 'usage', code: 'keyMalformed' });
    const error: Error = await started.then(
      () => new Error('it started'),
      (thrown) => thrown,
    );
    expect(error.message).toBe(`API key 2 of 2 ${problem}`);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('the longest key opens', async () => {
    const key = `~!"#$%&'()*+,-./:;<=>?@[]^_\`{|}`.padEnd(512, 'k');
    expect((await opened({ apiKeys: [key] }, [key, key.slice(1)])).statuses).toEqual([200, 401]);
  });

  test.each([
    ['none', ''],
    ['an empty one', 'Authorization:\r\n'],
    ['another', 'Authorization: tow\r\n'],
    ['the beginning of one', 'Authorization: tw\r\n'],
    ['the key in another case', 'Authorization: TWO\r\n'],
    ['a scheme before the key', 'Authorization: Bearer two\r\n'],
    ['basic authentication', 'Authorization: Basic dHdvOg==\r\n'],
    ['two headers', 'Authorization: two\r\nAuthorization: two\r\n'],
    ['two headers with two keys', 'Authorization: one\r\nAuthorization: two\r\n'],
  ])('%s sent is 401 in the wrapped shape', async (_, header) => {
    const service = await startTestService({ apiKeys: ['one', 'two'] });
    const request = `GET /v1/contacts HTTP/1.1\r\nHost: localhost\r\n${header}\r\n`;
    const { replies } = await sendRaw(service.port, request);
    expect(replies[0]?.status).toBe(401);
    expect(replies[0]?.body).toEqual({
      error: {
        message: header === '' ? 'Missing authorization header' : 'Unauthorized',
        docs: 'https://quo.com/docs',
        key: 'Unauthorized',
        trace: expect.any(String),
      },
    });
  });

  test('white space around a key is no part of the header, and the header’s name has no case', async () => {
    const service = await startTestService({ apiKeys: ['one'] });
    const request = 'GET /v1/contacts HTTP/1.1\r\nHost: localhost\r\nAUTHORIZATION: \t one \t\r\n\r\n';
    expect((await sendRaw(service.port, request)).replies[0]?.status).toBe(200);
  });
});

test('neither the store nor the log holds a key; two stores with one key do not look alike', async () => {
  const folder = newFolder();
  const lines: string[] = [];
  const log = createLogger({ level: 'trace', stream: { write: (line) => void lines.push(line) } });
  const key = 'canary-key-of-the-service';
  const stores = ['a.sqlite', 'b.sqlite'].map((name) => join(folder, name));
  const printed: string[] = [];
  for (const store of stores) {
    await opened({ store, log, apiKeys: [key] }, [key, `Bearer ${key}`]);
    printed.push((await opened({ store, log, apiKeys: [] }, [key])).printedKey ?? '');
    const running = await startTestService({ store, log, apiKeys: [key] });
    // The write-ahead log is still there.
    for (const name of readdirSync(folder)) {
      const bytes = readFileSync(join(folder, name), 'latin1');
      for (const secret of [key, ...printed]) expect(bytes.includes(secret), name).toBe(false);
    }
    await running.close();
  }
  expect(lines.length).toBeGreaterThan(0);
  for (const secret of [key, ...printed]) expect(lines.join('')).not.toContain(secret);
  const hashes = stores.map((store) => {
    const database = new DatabaseSync(store, { readOnly: true });
    const rows = database.prepare('SELECT hex(hash) AS hash, hex(salt) AS salt, printed FROM api_keys').all();
    database.close();
    return rows;
  });
  expect(hashes).toMatchObject([[{ printed: 0 }], [{ printed: 0 }]]);
  expect(hashes[0]?.[0]?.hash).not.toBe(hashes[1]?.[0]?.hash);
});

describe('patchbay serve', () => {
  const words = (folder: string) => ['serve', '--json', '--port', '0', '--store', join(folder, 'service.sqlite')];

  test('says what is wrong with a key or a key file, and not which key', async () => {
    const folder = newFolder();
    const open = join(folder, 'open.txt');
    writeFileSync(open, 'secret-one\n');
    chmodSync(open, 0o644);
    const empty = join(folder, 'empty.txt');
    writeFileSync(empty, '\n', { mode: 0o600 });
    const cases = [
      [['--key', 'secret one'], 'keyMalformed'],
      [['--key', ''], 'keyMalformed'],
      [['--key-file', open], 'apiKeyFileOpen'],
      [['--key-file', empty], 'keyFileUnreadable'],
      [['--key-file', join(folder, 'none.txt')], 'keyFileUnreadable'],
    ] as const;
    const ends = await Promise.all(cases.map(([args]) => callPatchbay([...words(folder), ...args], {})));
    expect(ends.map((end) => [end.code, end.documents[0].error.code])).toEqual(cases.map(([, code]) => [2, code]));
    for (const end of ends) expect(end.stdout + end.stderr).not.toMatch(/secret[- ]one/);
  });
});
