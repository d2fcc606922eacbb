/**
 * Where the queue is: the Redis of `REDIS_URL`, or the embedded Valkey. BullMQ's queues and workers open and close their
 * own connections with these options.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisOptions } from 'bullmq';
import { PatchbayError } from '#src/errors.ts';
import type { QueuePlace } from '#src/ledger/engine-presence.ts';
import type { Logger } from '#src/log.ts';
import { type EmbeddedConnection, startEmbeddedValkey } from './embedded/embedded-valkey.ts';
import { QuietRedis } from './quiet-redis.ts';
import {
  askRedis,
  evictionWords,
  greet,
  parseRedisUrl,
  refusalOf,
  remoteOptions,
  settingRefused,
} from './redis-answers.ts';

/** The longest wait between two attempts to reconnect (`docs/design.md`, "BullMQ"). */
const retryDelayMaxMs = 2_000;
const connectTimeoutMs = 5_000;
/** How long a refused connection takes. */
const refusalMs = 100;

export interface QueueServer {
  /** For producers: commands fail at once while Redis is away. */
  readonly producer: RedisOptions;
  /** For workers: commands wait until Redis is back. */
  readonly worker: RedisOptions;
  /** For people: `embedded Valkey`, or the address without its password. */
  readonly description: string;
  /** For other processes. */
  readonly place: QueuePlace;
  onDeath(listener: (error: Error) => void): void;
  /**
   * Must be called before queues and workers are closed. A connection that waits for Redis cannot be closed; after this
   * call it ends at its next attempt, and the commands that wait on it fail. Resolves after the pending attempts.
   */
  giveUp(): Promise<void>;
  stop(): Promise<void>;
}

export interface QueueServerOptions {
  readonly redisUrl: string | null;
  /** Whether other hosts may be on the ledger, which cannot use an embedded one. */
  readonly isShared: boolean;
  /** Where the embedded one keeps its files. */
  readonly folder: string;
  readonly log: Logger;
}

/** How long Redis may take to answer at the start; later it may be away for any time. */
const firstAnswerMs = 10_000;
/** It has just answered. */
const rightsMsMax = 2_000;

/**
 * @throws PatchbayError `unreachable` `queueUnreachable` if Redis does not answer; `usage`: `queueLoginRefused`, `queueDatabaseMissing`; `usage`,
 *   `unreachable` if the embedded server does not start.
 */
export async function openQueueServer(options: QueueServerOptions): Promise<QueueServer> {
  if (options.redisUrl !== null) return await openRemote(options.redisUrl, adviceOn(options), options.log);
  const valkey = await startEmbeddedValkey({ folder: options.folder, log: options.log });
  return {
    ...embeddedServer(valkey.connection),
    onDeath: (listener) => valkey.onDeath(listener),
    stop: () => valkey.stop(),
  };
}

export interface QueueAddress {
  readonly redisUrl: string | null;
  readonly place: QueuePlace;
}

/**
 * The queue of an engine in another process. An embedded queue that does not answer is waited for when it is used.
 * @throws PatchbayError `usage`: `otherQueue` if this process is configured for another queue than the engine, `queueLoginRefused`,
 *   `queueDatabaseMissing`; `unreachable` `queueUnreachable` if Redis does not answer.
 */
export async function attachQueueServer({ redisUrl, place }: QueueAddress): Promise<QueueServer> {
  if (redisUrl !== null && place.kind === 'redis') return await openRemote(redisUrl, adviceWhereUsed);
  if (redisUrl !== null || place.kind === 'redis') {
    const message =
      redisUrl === null
        ? 'the queue of the running engine is in a Redis, and REDIS_URL is not set here'
        : 'the running engine uses its embedded queue, and REDIS_URL names another one';
    throw new PatchbayError('usage', 'otherQueue', message, {
      hint: 'Start the worker with the same configuration and environment variables as the engine.',
    });
  }
  return embeddedServer(place.kind === 'port' ? { host: place.host, port: place.port } : { path: place.path });
}

/** Its opener stops it. */
function embeddedServer(connection: EmbeddedConnection): QueueServer {
  return {
    ...connectionsOf(connection),
    description: 'embedded Valkey',
    place: 'path' in connection ? { kind: 'socket', ...connection } : { kind: 'port', ...connection },
    onDeath: () => undefined,
    stop: async () => undefined,
  };
}

/** The running engine uses that Redis, so there is no other. */
const adviceWhereUsed = 'Check REDIS_URL, and whether that Redis runs.';

function adviceOn({ isShared }: Pick<QueueServerOptions, 'isShared'>): string {
  return isShared
    ? 'Check REDIS_URL, and whether that Redis runs: every host on this ledger needs the same one.'
    : 'Check REDIS_URL, or unset it to use the embedded queue.';
}

/** @param log absent: the process that opened it for the engine has said what is to be said. */
async function openRemote(redisUrl: string, advice: string, log?: Logger): Promise<QueueServer> {
  const server = remoteServer(redisUrl);
  await ask(server, `${advice} Nothing was lost.`);
  // One that goes away now, or takes no writes for a while, is waited for by the work.
  const { refusal, policy } = await askRedis(redisUrl, rightsMsMax);
  const lacking = refusal === null ? null : settingRefused(refusal, server.description);
  if (lacking !== null) throw lacking;
  const reason = evictionWords(policy, server.description);
  if (reason !== null) log?.warn({ code: 'queueEvicts', reason }, 'Redis may evict jobs');
  return server;
}

function remoteServer(redisUrl: string): QueueServer {
  const url = parseRedisUrl(redisUrl);
  return {
    ...connectionsOf(remoteOptions(url)),
    description: `Redis at ${url.host}`,
    place: { kind: 'redis' },
    onDeath: () => undefined,
    stop: async () => undefined,
  };
}

/**
 * One PING, so that a wrong address is reported at once. A Redis that is there and takes nothing now, as with a failing disk, is met, named and
 * waited for by the work.
 */
async function ask(server: QueueServer, hint: string): Promise<void> {
  const redis = new QuietRedis({
    ...server.producer,
    lazyConnect: true,
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
  });
  redis.on('error', () => undefined);
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const message = `${server.description} does not answer`;
      reject(new PatchbayError('unreachable', 'queueUnreachable', message, { hint }));
    }, firstAnswerMs);
  });
  try {
    const answered = greet(redis);
    // If the time-out wins the race, a late rejection is ignored.
    answered.catch(() => undefined);
    await Promise.race([answered, tooLate]);
  } catch (error) {
    const refusal = refusalOf(error, server.description, hint);
    if (refusal !== null) throw refusal;
  } finally {
    clearTimeout(timer);
    redis.disconnect();
  }
}

function connectionsOf(server: RedisOptions): Pick<QueueServer, 'producer' | 'worker' | 'giveUp'> {
  let givenUp = false;
  let lastAttemptAtMs = 0;
  // Null: no further attempt.
  const retryStrategy = (attempt: number): number | null => {
    if (givenUp) return null;
    const delayMs = Math.min(attempt * 100, retryDelayMaxMs);
    lastAttemptAtMs = Math.max(lastAttemptAtMs, performance.now() + delayMs);
    return delayMs;
  };
  const connection: RedisOptions = { ...server, connectTimeout: connectTimeoutMs, retryStrategy };
  return {
    producer: { ...connection, maxRetriesPerRequest: 1, enableOfflineQueue: false },
    worker: { ...connection, maxRetriesPerRequest: null },
    giveUp: async () => {
      givenUp = true;
      const waitMs = lastAttemptAtMs + refusalMs - performance.now();
      if (waitMs > 0) await sleep(waitMs);
    },
  };
}
