/** A worker process finds the queue of its engine, or says that it is configured for another one. */
import { describe, expect, it } from 'vitest';
import { attachQueueServer } from '#src/queue/connection.ts';

describe('the queue of an engine in another process', () => {
  it('is connected to where its embedded server listens', async () => {
    const socket = await attachQueueServer({ redisUrl: null, place: { kind: 'socket', path: '/data/valkey.sock' } });
    expect(socket.worker).toMatchObject({ path: '/data/valkey.sock', maxRetriesPerRequest: null });
    const port = await attachQueueServer({ redisUrl: null, place: { kind: 'port', host: '127.0.0.1', port: 6_390 } });
    expect(port.producer).toMatchObject({ host: '127.0.0.1', port: 6_390, enableOfflineQueue: false });
  });

  it('is refused where this process is configured for another one', async () => {
    const place = { kind: 'socket', path: '/data/valkey.sock' } as const;
    await expect(attachQueueServer({ redisUrl: 'redis://127.0.0.1:9', place })).rejects.toMatchObject({
      kind: 'usage',
      code: 'otherQueue',
    });
    await expect(attachQueueServer({ redisUrl: null, place: { kind: 'redis' } })).rejects.toMatchObject({
      kind: 'usage',
      code: 'otherQueue',
    });
  });
});
