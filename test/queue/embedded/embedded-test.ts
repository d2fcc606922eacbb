/** The tests' own `test`: a temporary folder, servers and clients that are gone after each test. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { test as base } from 'vitest';
import { silentLogger } from '#src/log.ts';
import {
  type EmbeddedValkey,
  type EmbeddedValkeyOptions,
  startEmbeddedValkey,
} from '#src/queue/embedded/embedded-valkey.ts';

type ClientOptions = Pick<RedisOptions, 'retryStrategy' | 'maxRetriesPerRequest'>;

interface EmbeddedFixtures {
  /** An empty folder with a short path. */
  readonly folder: string;
  /** Starts a server, in `folder` unless told otherwise. It is stopped after the test. */
  readonly start: (options?: Partial<EmbeddedValkeyOptions>) => Promise<EmbeddedValkey>;
  /** An empty server that the tests of a file share; for those that neither stop nor fill it for good. */
  readonly shared: EmbeddedValkey;
  /** A client that is disconnected after the test. */
  readonly clientOf: (valkey: EmbeddedValkey, options?: ClientOptions) => Redis;
}

interface FileFixtures {
  readonly serverOfFile: EmbeddedValkey;
}

export const test = base.extend<{ readonly $test: EmbeddedFixtures; readonly $file: FileFixtures }>({
  serverOfFile: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner reads the pattern to know what a fixture needs.
    async ({}, use) => {
      const folder = await mkdtemp(join(tmpdir(), 'vk-'));
      const valkey = await startEmbeddedValkey({ folder, log: silentLogger() });
      await use(valkey);
      await valkey.stop();
      await rm(folder, { recursive: true, force: true });
    },
    { scope: 'file' },
  ],
  shared: async ({ serverOfFile }, use) => {
    const client = new Redis({ ...serverOfFile.connection });
    await client.flushall();
    client.disconnect();
    await use(serverOfFile);
  },
  // biome-ignore lint/correctness/noEmptyPattern: the runner reads the pattern to know what a fixture needs.
  folder: async ({}, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'vk-'));
    await use(folder);
    await rm(folder, { recursive: true, force: true });
  },
  start: async ({ folder }, use) => {
    const started: EmbeddedValkey[] = [];
    await use(async (options = {}) => {
      const valkey = await startEmbeddedValkey({ folder, log: silentLogger(), ...options });
      started.push(valkey);
      return valkey;
    });
    await Promise.all(started.map((valkey) => valkey.stop()));
  },
  // After `start` in the list of needs, so that clients go before servers.
  clientOf: async (
    { start: _start }: Pick<EmbeddedFixtures, 'start'>,
    use: (clientOf: EmbeddedFixtures['clientOf']) => Promise<void>,
  ) => {
    const clients: Redis[] = [];
    await use((valkey, options = {}) => {
      const client = new Redis({ ...valkey.connection, ...options });
      // A server that stops or dies cuts its clients off; those tests look elsewhere.
      client.on('error', () => undefined);
      clients.push(client);
      return client;
    });
    for (const client of clients) client.disconnect();
  },
});
