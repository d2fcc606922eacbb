/**
 * Where the queue is: the Redis of `REDIS_URL`, or the embedded Valkey. BullMQ's queues and workers open and close their
 * own connections with these options.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisOptions } from 'bullmq';
import { Redis } from 'ioredis';
import { timedOut, within } from '#src/clock.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import type { QueuePlace } from '#src/ledger/engine-presence.ts';
import type { Logger } from '#src/log.ts';
import { type EmbeddedConnection, startEmbeddedValkey } from './embedded/embedded-valkey.ts';

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

/**
 * @throws PatchbayError `unreachable` `queueUnreachable` if Redis does not answer; `usage`: `queueLoginRefused`, `queueDatabaseMissing`; `usage`,
 *   `unreachable` if the embedded server does not start.
 */
export async function openQueueServer(options: QueueServerOptions): Promise<QueueServer> {
  if (options.redisUrl !== null) return await openRemote(options.redisUrl, adviceOn(options));
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

async function openRemote(redisUrl: string, advice: string): Promise<QueueServer> {
  const server = remoteServer(redisUrl);
  await ask(server, `${advice} Nothing was lost.`);
  return server;
}

function remoteServer(redisUrl: string): QueueServer {
  const url = parse(redisUrl);
  return {
    ...connectionsOf(remoteOptions(url)),
    description: `Redis at ${url.host}`,
    place: { kind: 'redis' },
    onDeath: () => undefined,
    stop: async () => undefined,
  };
}

function remoteOptions(url: URL): RedisOptions {
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 6379 : Number(url.port),
    db: Number(url.pathname.slice(1) || 0),
    ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
    ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
  };
}

/**
 * One PING, so that a wrong address is reported at once. A Redis that is there and takes nothing now, as with a failing disk, is met, named and
 * waited for by the work.
 */
async function ask(server: QueueServer, hint: string): Promise<void> {
  const redis = new Redis({
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

/** A database that is not there is refused: a connection whose own SELECT fails goes on in database 0. */
async function greet(redis: Redis): Promise<void> {
  const { db = 0 } = redis.options;
  if (db !== 0) await redis.select(db);
  await redis.ping();
}

/** An error that is an answer of Redis. */
function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

/** Null where waiting helps. Pure. */
function refusalOf(error: unknown, description: string, hint: string): PatchbayError | null {
  if (error instanceof PatchbayError) return error;
  if (isReply(error)) return settingRefused(error.message, description);
  const words = messageOf(error).replace(/\.? Please report this\.$/, '');
  const message = `${description} does not answer as a Redis: ${words}`;
  return new PatchbayError('unreachable', 'queueUnreachable', message, { hint, cause: error });
}

/**
 * What in REDIS_URL a Redis refuses, by its words: `usage` `queueLoginRefused`, `queueDatabaseMissing`; null where they are about nothing that is set
 * there, as `MISCONF …`. Pure.
 */
export function settingRefused(words: string, description: string): PatchbayError | null {
  const said = words.replace(/\.$/, '');
  // Before version 6: `ERR invalid password`.
  if (/^(?:WRONGPASS|NOAUTH|NOPERM) |^ERR .*\binvalid password/i.test(words)) {
    // What it says for want of a password is about its protocol.
    const isBare = words.startsWith('NOAUTH ');
    const message = isBare
      ? `${description} asks for a password, and REDIS_URL has none`
      : `${description} refuses the user or the password: ${said}`;
    const hint = 'Check user and password in REDIS_URL, and what that user may do.';
    return new PatchbayError('usage', 'queueLoginRefused', message, { hint });
  }
  // `DB index is out of range`, `SELECT is not allowed in cluster mode`.
  if (!/^ERR .*\b(DB index|SELECT)\b/i.test(words)) return null;
  const message = `${description} refuses the database: ${said}`;
  const hint = 'Name one of its databases in REDIS_URL: 0 is always there.';
  return new PatchbayError('usage', 'queueDatabaseMissing', message, { hint });
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

function parse(redisUrl: string): URL {
  try {
    return new URL(redisUrl);
  } catch (error) {
    throw new PatchbayError('usage', 'redisUrlInvalid', 'REDIS_URL is not a URL of the form redis://host:port', {
      cause: error,
    });
  }
}

// Asks a Redis whether it is there.

export interface RedisAnswer {
  /** Null if it answers, otherwise a short reason why it does not. */
  readonly away: string | null;
  /** Its words where it takes no writes now, as in `OOM command not allowed …`, or no question; null where it takes them, or does not answer. */
  readonly refusal: string | null;
  /** Its `maxmemory_policy`; null where it does not say. */
  readonly policy: string | null;
}

/** Any name below BullMQ's prefix: a user of Redis may be limited to that. */
const triedKey = 'bull:patchbay';

/**
 * Asks a Redis whether it answers and takes writes. It refuses a command of a transaction when it is queued, and this transaction is never
 * carried out: nothing is written. Never rejects, and leaves nothing open.
 */
export async function askRedis(redisUrl: string, timeoutMs: number): Promise<RedisAnswer> {
  const connection = remoteOptions(parse(redisUrl));
  const redis = new Redis({ ...connection, lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
  let reason: string | null = null;
  redis.on('error', (error) => {
    reason ??= messageOf(error);
  });
  const ask = async (): Promise<RedisAnswer> => {
    const unwilling = await greet(redis).then(
      () => null,
      (error: unknown) => {
        if (isReply(error)) return error.message;
        throw error;
      },
    );
    if (unwilling !== null) return { away: null, refusal: unwilling, policy: null };
    const memory = await redis.info('memory').catch(() => '');
    const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? null;
    await redis.multi({ pipeline: false });
    const refusal = await redis.set(triedKey, '').then(() => null, messageOf);
    return { away: null, refusal, policy };
  };
  const away = (why: string): RedisAnswer => ({ away: why, refusal: null, policy: null });
  try {
    const answer = await within(timeoutMs, ask());
    return answer === timedOut ? away(`no answer within ${timeoutMs / 1_000} s`) : answer;
  } catch (error) {
    return away(reason ?? messageOf(error));
  } finally {
    redis.disconnect();
  }
}
