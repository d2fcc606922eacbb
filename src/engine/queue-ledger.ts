/**
 * Whether a copy of the ledger works on the same queue. A copy has the id of its original, and so the names of its queues: each would take
 * jobs of the other, which find nothing in its own ledger, and the work would stand still. So the queue knows where the ledger is: an entry
 * that its engines renew while they run, and that lapses by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { Logger } from '#src/log.ts';
import type { QueueServer } from '#src/queue/connection.ts';
import { onRedis } from './queue-identity.ts';

/** Four sweeps: an engine that is slow at one keeps its entry. */
const entryMs = 20_000;
const lookEveryMs = 1_000;
/** A Redis that does not answer holds no stop up for longer: the entry lapses. */
const leaveMsMax = 1_000;

const nameOf = (ledgerId: string): string => `patchbay-${ledgerId}-ledger`;

export interface QueueClaim {
  /**
   * Renews the entry, for the place that the ledger has now: a database that was replaced under its engines has another one.
   * @returns whether it is of this ledger; null where the queue does not say, which its users report. Never rejects.
   */
  renew(): Promise<boolean | null>;
  /** For an engine that stops: the ledger may be moved, and begin at once. Hosts that go on enter it again. Never rejects. */
  release(): Promise<void>;
}

const unneeded: QueueClaim = { renew: async () => true, release: async () => undefined };

interface ClaimOptions {
  readonly signal: AbortSignal;
  /** Called once where the entry of another place is waited for, with the longest that this takes. Must not throw. */
  readonly onOtherEntry?: ((leftMs: number) => void) | undefined;
}

/**
 * Enters the place of this ledger. That of an engine that was killed is waited for, until it lapses.
 * @throws PatchbayError `usage` `ledgerTwice`; what the ledger throws; the signal's reason.
 */
export async function claimQueue(
  { place, producer, description }: Pick<QueueServer, 'place' | 'producer' | 'description'>,
  { ledger, log }: { readonly ledger: Pick<Ledger, 'id' | 'placeId'>; readonly log: Logger },
  { signal, onOtherEntry = () => undefined }: ClaimOptions,
): Promise<QueueClaim> {
  // An embedded queue is in the data folder of its engine.
  if (place.kind !== 'redis') return unneeded;
  const name = nameOf(ledger.id);
  let here = await ledger.placeId();
  /** The place of this ledger that the entry held last: an entry that still holds it is of no copy. */
  let entered = here;
  const enter = async (): Promise<number | null | undefined> => {
    const leftMs = await onRedis(producer, (redis) => leftOfOther(redis, name, here, entered)).catch(() => undefined);
    if (leftMs === null) entered = here;
    return leftMs;
  };
  let leastMs = Number.POSITIVE_INFINITY;
  // Ends when the entry is this ledger's, when it was renewed by the other one's engine, or with the signal.
  for (;;) {
    const leftMs = await enter();
    if (leftMs === null || leftMs === undefined) break;
    if (leftMs > leastMs) throw ledgerTwice(description);
    if (leastMs === Number.POSITIVE_INFINITY) {
      log.info({ leftMs }, 'waiting for the engine of a copy of this ledger to be gone');
      onOtherEntry(leftMs);
    }
    leastMs = leftMs;
    await sleep(lookEveryMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
  return {
    renew: async () => {
      // Of a ledger that is away, what is known of it.
      here = await ledger.placeId().catch(() => here);
      const leftMs = await enter();
      return leftMs === undefined ? null : leftMs === null;
    },
    release: async () => {
      const leave = async (redis: Redis) => (isSamePlace((await redis.get(name)) ?? '', entered) ? redis.del(name) : 0);
      await onRedis(producer, leave, leaveMsMax).catch(() => 0);
    },
  };
}

/**
 * Whether a start would be refused, or wait: a look that enters nothing. A Redis that does not answer says neither.
 * @throws PatchbayError `usage` `ledgerTwice`; what the ledger throws.
 */
export async function requireNoCopy(
  { producer, description }: Pick<QueueServer, 'producer' | 'description'>,
  ledger: Pick<Ledger, 'id' | 'placeId'>,
): Promise<void> {
  const here = await ledger.placeId();
  const found = await onRedis(producer, (redis) => redis.get(nameOf(ledger.id))).catch(() => null);
  if (found === null || isSamePlace(found, here)) return;
  const orKilled = `If its engine was killed, this ends by itself within ${entryMs / 1_000} seconds.`;
  throw ledgerTwice(description, orKilled);
}

/** For how long the entry of another place still counts; null where it is this one's by now. @param entered what it held for this one before. */
async function leftOfOther(redis: Redis, name: string, here: string, entered: string): Promise<number | null> {
  await redis.set(name, here, 'PX', entryMs, 'NX');
  const found = (await redis.get(name)) ?? '';
  if (isSamePlace(found, here)) await redis.pexpire(name, entryMs);
  else if (isSamePlace(found, entered)) await redis.set(name, here, 'PX', entryMs);
  else return redis.pttl(name);
  return null;
}

function ledgerTwice(description: string, addition: string | null = null): PatchbayError {
  const message = `another ledger with the id of this one uses ${description}: one is a copy of the other`;
  const hint =
    'Each would take jobs of the other. Stop the engines on the other one first, or set REDIS_URL to another Redis, or to another database of it (redis://host:6379/1), for all hosts on this one. If there is no other one, stop all hosts on this one, and start them again.';
  return new PatchbayError('usage', 'ledgerTwice', message, { hint: addition === null ? hint : `${addition} ${hint}` });
}

/**
 * Whether two answers of `Ledger.placeId` name one place. One database has two names: with its cluster, and without it (`/16384/16387`) for a user who may not ask which one it is. So hosts that use
 * it as different users are no copies of each other.
 */
export function isSamePlace(one: string, other: string): boolean {
  if (one === other) return true;
  const lacksCluster = one.startsWith('/') || other.startsWith('/');
  return lacksCluster && withoutCluster(one) === withoutCluster(other);
}

/** The place of a file has no `/`, and stays as it is. */
function withoutCluster(place: string): string {
  const slash = place.indexOf('/');
  return slash === -1 ? place : place.slice(slash);
}
