/**
 * What a Redis answers: whether it is there, takes writes, lets its user do what is needed, and may evict jobs; and which of its refusals are
 * about what REDIS_URL says.
 */
import type { RedisOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { timedOut, within } from '#src/clock.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { QuietRedis } from './quiet-redis.ts';

export function parseRedisUrl(redisUrl: string): URL {
  try {
    return new URL(redisUrl);
  } catch (error) {
    throw new PatchbayError('usage', 'redisUrlInvalid', 'REDIS_URL is not a URL of the form redis://host:port', {
      cause: error,
    });
  }
}

export function remoteOptions(url: URL): RedisOptions {
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 6379 : Number(url.port),
    db: Number(url.pathname.slice(1) || 0),
    ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
    ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
  };
}

/** A database that is not there is refused: a connection whose own SELECT fails goes on in database 0. */
export async function greet(redis: Redis): Promise<void> {
  const { db = 0 } = redis.options;
  if (db !== 0) await redis.select(db);
  await redis.ping();
}

/** An error that is an answer of Redis. */
function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

/** Null where waiting helps. Pure. */
export function refusalOf(error: unknown, description: string, hint: string): PatchbayError | null {
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
  if (words.startsWith('NOPERM ')) {
    const message = `${description} does not let its user do what the queue needs: ${said}`;
    const hint = `Give the user of REDIS_URL the rights that it lacks: ACL SETUSER NAME ${rightsNeeded}`;
    return new PatchbayError('usage', 'queueLoginRefused', message, { hint });
  }
  // Before version 6: `ERR invalid password`.
  if (/^(?:WRONGPASS|NOAUTH) |^ERR .*\binvalid password/i.test(words)) {
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

export interface RedisAnswer {
  /** Null if it answers, otherwise a short reason why it does not. */
  readonly away: string | null;
  /** Its words where it takes no writes now, as in `OOM command not allowed …`, or none of its user's, or no question; null where it takes them, or does not answer. */
  readonly refusal: string | null;
  /** Its `maxmemory_policy`; null where it does not say. */
  readonly policy: string | null;
}

/** What a user of Redis needs, as its own rules of access write it (`docs/operations.md`, "API key, rate limit and Redis"). */
const rightsNeeded = '~bull:* ~patchbay-* +@all -@dangerous';
/** Any names below the prefixes of BullMQ, and of the rate gate and the identity of the queue. */
const triedKey = 'bull:patchbay';
const otherTriedKey = 'patchbay-tried';
/** A command of each kind that is used. */
const tried: readonly (readonly [string, ...string[]])[] = [
  ['SET', triedKey, ''],
  ['DEL', triedKey],
  ['EVAL', 'return 0', '1', triedKey],
  ['XADD', triedKey, '*', 'name', ''],
  ['BZPOPMIN', triedKey, '1'],
  ['SET', otherTriedKey, ''],
];

/**
 * Why it takes no writes of its user, in its words; null where it takes them. It refuses a command of a transaction when it is queued, and this
 * transaction is never carried out: nothing is written. The connection must be closed then, and must not connect anew by itself.
 */
export async function firstRefusal(redis: Redis): Promise<string | null> {
  const untried = await redis.multi({ pipeline: false }).then(() => null, messageOf);
  if (untried !== null) return untried;
  const answers = tried.map(async ([command, ...words]) => {
    const refusal = await redis.call(command, ...words).then(() => null, messageOf);
    // Its words do not name the key.
    return refusal?.startsWith('NOPERM ') === true ? `${refusal} (${command} ${words.find(isKey)})` : refusal;
  });
  const refusals = (await Promise.all(answers)).filter((one) => one !== null);
  return refusals.find((one) => one.startsWith('NOPERM ')) ?? refusals[0] ?? null;
}

function isKey(word: string): boolean {
  return word === triedKey || word === otherTriedKey;
}

/** Asks a Redis whether it answers and takes writes. Writes nothing, never rejects, and leaves nothing open. */
export async function askRedis(redisUrl: string, timeoutMs: number): Promise<RedisAnswer> {
  const connection = remoteOptions(parseRedisUrl(redisUrl));
  const redis = new QuietRedis({
    ...connection,
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
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
    // Not `redis.info`, which leaves the policy out. A user may not be allowed to ask.
    const memory = String(await redis.call('INFO', 'memory').catch(() => ''));
    const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? null;
    return { away: null, refusal: await firstRefusal(redis), policy };
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

/** What follows from a `maxmemory_policy`, as a sentence; null where there is nothing to say. Pure. */
export function evictionWords(policy: string | null, description: string): string | null {
  if (policy === null || policy === 'noeviction') return null;
  return `The queue may lose jobs: ${description} has the maxmemory-policy ${policy}. Set it to noeviction; until then what is lost comes back from the ledger, and is late.`;
}
