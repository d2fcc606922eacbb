/**
 * Whether all engines and workers on a ledger use the same queue. The first host at work writes an identity into its Redis, and the ledger
 * knows it; each later process must find it in the Redis that it was given. Two engines on two queues would each keep a rate of their own.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { timedOut, within } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import type { HostRecord } from '#src/ledger/hosts.ts';
import type { QueueServer } from '#src/queue/connection.ts';
import { QuietRedis } from '#src/queue/quiet-redis.ts';
import { firstRefusal } from '#src/queue/redis-answers.ts';
import { queueTrouble } from './health.ts';

/** Longer than the others take to write it anew after a flush. */
const lookMsMax = 12_000;
const lookEveryMs = 500;
const answerMsMax = 5_000;

const nameOf = (ledgerId: string): string => `patchbay-${ledgerId}-queue`;

/** On a connection of its own. @throws what Redis answers, and an error where it does not in time. */
export async function onRedis<Result>(
  connection: RedisOptions,
  work: (redis: Redis) => Promise<Result>,
  msMax = answerMsMax,
): Promise<Result> {
  // Not connected anew: what was begun in a transaction would go on outside of it.
  const once = { lazyConnect: true, enableOfflineQueue: true, maxRetriesPerRequest: 1, retryStrategy: () => null };
  const redis = new QuietRedis({ ...connection, ...once });
  // What breaks is met by the command.
  redis.on('error', () => undefined);
  try {
    const working = work(redis);
    // It may fail after its time is over: the error below has been thrown by then.
    working.catch(() => undefined);
    const answer = await within(msMax, working);
    if (answer === timedOut) throw new Error('Command timed out');
    return answer;
  } finally {
    redis.disconnect();
  }
}

/**
 * The first host at work gives the queue its identity, whatever it had before.
 * @throws PatchbayError `unreachable`, of the codes of `queueTrouble`: until it has its name, no other host may be at work.
 */
export async function nameQueue(
  { producer, description }: Pick<QueueServer, 'producer' | 'description'>,
  ledgerId: string,
  queueId: string,
): Promise<void> {
  try {
    await onRedis(producer, (redis) => redis.set(nameOf(ledgerId), queueId));
  } catch (error) {
    const trouble = queueTrouble(description, error instanceof Error ? error : new Error(String(error)), 0);
    throw trouble === null ? error : new PatchbayError('unreachable', trouble.code, trouble.message, { cause: error });
  }
}

/**
 * After a flush the queue has none: it is given again, by a write that is refused where the queue takes none. A user of Redis may be refused
 * other writes alone, without which no work moves: these are tried.
 * @returns whether the queue has this identity; null where it does not say, which its users report.
 * @throws the error with which Redis refuses, as `OOM command not allowed …`.
 */
export async function renameQueue(
  connection: RedisOptions,
  ledgerId: string,
  queueId: string,
): Promise<boolean | null> {
  try {
    const [isSame, refusal] = await onRedis(connection, async (redis) => {
      await redis.set(nameOf(ledgerId), queueId, 'NX');
      return [(await redis.get(nameOf(ledgerId))) === queueId, await firstRefusal(redis)];
    });
    if (refusal === null) return isSame;
    throw Object.assign(new Error(refusal), { name: 'ReplyError' });
  } catch (error) {
    if (error instanceof Error && error.name === 'ReplyError') throw error;
    return null;
  }
}

/**
 * Waits until the queue shows the identity that the ledger knows, which the others may be giving it just now.
 * @param who for people: a host that uses the right one.
 * @returns false if the signal fired first.
 * @throws PatchbayError `usage` `otherQueue`.
 */
export async function requireQueue(
  connection: RedisOptions,
  ledgerId: string,
  queueId: () => Promise<string | null>,
  who: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<boolean> {
  const startedAt = performance.now();
  // Ends with the identity, with the signal, or when the time is over.
  while (performance.now() - startedAt < lookMsMax) {
    if (signal.aborted) return false;
    // A Redis that does not answer is asked again until the time is over.
    const found = await onRedis(connection, (redis) => redis.get(nameOf(ledgerId))).catch(() => null);
    const wanted = await queueId();
    if (wanted === null || found === wanted) return true;
    // Cut off by the signal alone.
    await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
  throw new PatchbayError('usage', 'otherQueue', `REDIS_URL names another Redis than that of ${who}`, {
    hint: 'All hosts on one ledger share one queue and so one rate: set REDIS_URL to the same Redis everywhere.',
  });
}

/** @param queue of this host. @param other another one at work, whose queue is not the same. */
export function queueNotShared(queue: HostRecord['queue'], other: HostRecord): PatchbayError {
  const [message, hint] =
    queue === 'embedded'
      ? [
          `the host ${other.name} works on this ledger, and the queue of this one is embedded, which no other host can use`,
          'Set REDIS_URL to the Redis that all hosts use.',
        ]
      : [
          `the host ${other.name} works on this ledger with a queue that is embedded, which no other host can use`,
          'Stop it, and start it with REDIS_URL set to the same Redis as here.',
        ];
  return new PatchbayError('usage', 'queueNotShared', message, { facts: { host: other.name }, hint });
}
