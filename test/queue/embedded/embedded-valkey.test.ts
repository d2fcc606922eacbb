import { connect } from 'node:net';
import type { Redis } from 'ioredis';
import { describe, expect } from 'vitest';
import type { EmbeddedValkey } from '#src/queue/embedded/embedded-valkey.ts';
import { test } from './embedded-test.ts';

/** A raw connection that sends bytes, ends its side, and resolves with all that came back. */
function exchange(valkey: EmbeddedValkey, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let reply = '';
    const socket = connect({ ...valkey.connection, allowHalfOpen: true }, () => socket.end(request));
    socket.on('data', (chunk) => {
      reply += chunk.toString();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(reply));
  });
}

describe('the embedded queue as a server', () => {
  test('gives back what was written, byte for byte', async ({ shared, clientOf }) => {
    const client = clientOf(shared);
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    await client.set('bytes', bytes);
    expect(await client.getBuffer('bytes')).toEqual(bytes);
  });

  test('says where it listens and with what', async ({ start, folder }) => {
    const valkey = await start();
    expect(valkey.connection).toEqual({ path: `${folder}/valkey.sock` });
    expect(valkey.describe()).toBe(`embedded Valkey at ${folder}/valkey.sock`);
  });

  test('listens on a loopback port on request', async ({ start, clientOf }) => {
    const valkey = await start({ listen: { kind: 'port' } });
    expect(valkey.connection).toMatchObject({ host: '127.0.0.1', port: expect.any(Number) });
    expect(await clientOf(valkey).ping()).toBe('PONG');
  });

  test('hands a blocked client what another one pushes', async ({ shared, clientOf }) => {
    const popped = clientOf(shared).bzpopmin('due', 10);
    await clientOf(shared).zadd('due', 7, 'first');
    expect(await popped).toEqual(['due', 'first', '7']);
  });

  test('lets a blocked client go when its time is over', async ({ shared, clientOf }) => {
    const client = clientOf(shared);
    expect(await client.blpop('never', 0.05)).toBeNull();
    expect(await client.bzpopmin('never', 0.05)).toBeNull();
  });

  test('runs Lua scripts and reports their errors without harm', async ({ shared, clientOf }) => {
    const client = clientOf(shared);
    expect(await client.eval("return redis.call('INCRBY', KEYS[1], ARGV[1])", 1, 'count', '5')).toBe(5);
    await expect(client.eval("error('broken on purpose')", 0)).rejects.toThrow('broken on purpose');
    await expect(client.eval("return redis.call('HGET', KEYS[1], 'x')", 1, 'count')).rejects.toThrow('WRONGTYPE');
    expect(await client.get('count')).toBe('5');
  });

  test('carries a published message to a subscriber', async ({ shared, clientOf }) => {
    const subscriber = clientOf(shared);
    const heard = new Promise((resolve) => subscriber.once('message', (_channel, text) => resolve(text)));
    await subscriber.subscribe('news');
    await clientOf(shared).publish('news', 'hello');
    expect(await heard).toBe('hello');
  });

  test('answers a client that has already ended its side', async ({ shared }) => {
    expect(await exchange(shared, 'PING\r\nPING\r\n')).toBe('+PONG\r\n+PONG\r\n');
  });

  test('carries pipelines far larger than its buffers in both directions', async ({ shared, clientOf }) => {
    const client = clientOf(shared);
    const large = Buffer.alloc(2_000_000, 0xfe);
    const writes = client.pipeline();
    for (let index = 0; index < 5; index++) writes.set(`large:${index}`, large);
    expect((await writes.exec())?.every(([error]) => error === null)).toBe(true);
    const reads = client.pipeline();
    for (let index = 0; index < 10; index++) reads.getBuffer(`large:${index % 5}`);
    const replies = await reads.exec();
    expect(replies).toHaveLength(10);
    expect(replies?.every(([, value]) => Buffer.isBuffer(value) && value.equals(large))).toBe(true);
  });

  test('serves others while one client does not fetch its replies', async ({ shared, clientOf }) => {
    const client = clientOf(shared);
    await client.set('large', Buffer.alloc(4_000_000, 1));
    const lazy = connect({ ...shared.connection });
    lazy.pause();
    lazy.write('GET large\r\n'.repeat(5));
    for (let index = 0; index < 100; index++) expect(await client.ping()).toBe('PONG');
    let fetchedBytes = 0;
    const all = new Promise<void>((resolve) => {
      lazy.on('data', (chunk) => {
        fetchedBytes += chunk.length;
        if (fetchedBytes === 5 * (4_000_000 + '$4000000\r\n\r\n'.length)) resolve();
      });
    });
    lazy.resume();
    await all;
    lazy.destroy();
  });

  test('keeps answering after more connections than it has descriptors', async ({ shared, clientOf }) => {
    // It has 6,004 (`src/queue/embedded/descriptor-table.ts`).
    for (let round = 0; round < 125; round++) {
      const replies = await Promise.all(Array.from({ length: 50 }, () => exchange(shared, 'PING\r\n')));
      expect(replies.every((reply) => reply === '+PONG\r\n')).toBe(true);
    }
    const info = await clientOf(shared).info('clients');
    expect(info).toMatch(/connected_clients:[12]\r/);
  });

  test('does not let a client end it or stall it', async ({ shared, clientOf }) => {
    const client = clientOf(shared);
    await expect(client.call('SHUTDOWN', 'NOSAVE')).rejects.toThrow('NOPERM');
    await expect(client.call('DEBUG', 'SLEEP', '1')).rejects.toThrow(/NOPERM|not allowed/);
    expect(await client.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
    expect(await client.config('GET', 'save')).toEqual(['save', '']);
  });

  test('runs several times in one process, each with its own data', async ({ start, clientOf, folder }) => {
    const servers = await Promise.all([1, 2, 3].map((number) => start({ folder: `${folder}/${number}` })));
    const clients: Redis[] = servers.map((valkey) => clientOf(valkey));
    await Promise.all(clients.map((client, index) => client.set('name', index)));
    expect(await Promise.all(clients.map((client) => client.get('name')))).toEqual(['0', '1', '2']);
  });
});
