/** The entry in a shared Redis that says where the ledger is, so that a copy of it is not started beside it. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { claimQueue, requireNoCopy } from '#src/engine/queue-ledger.ts';
import { silentLogger } from '#src/log.ts';
import { openQueueServer } from '#src/queue/connection.ts';
import { findRedisServer, type RedisServer, startRedisServer } from '#test/support/redis-server.ts';

const binary = findRedisServer();
const reason = binary === null ? ' (skipped: no redis-server on PATH)' : '';
const original = '7713/16384/16387';
const moved = '7713/16384/17001';
let ledgers = 0;

describe.skipIf(binary === null)(`the place of a ledger in Redis${reason}`, () => {
  let redis: RedisServer | null = null;
  beforeAll(async () => {
    redis = await startRedisServer(binary ?? '');
  });
  afterAll(async () => {
    await redis?.close();
  });

  /** One ledger, of which each engine says by itself where it is. */
  async function openLedgerEntry() {
    ledgers += 1;
    const id = `ledger${ledgers}`;
    const redisUrl = redis?.url ?? '';
    const server = await openQueueServer({ redisUrl, isShared: false, folder: '/nowhere', log: silentLogger() });
    const client = new Redis(redisUrl);
    onTestFinished(async () => {
      client.disconnect();
      await server.stop();
    });
    const waits: number[] = [];
    const name = `patchbay-${id}-ledger`;
    const engine = async (place: string | (() => string)) => {
      const placeId = async () => (typeof place === 'string' ? place : place());
      const { signal } = new AbortController();
      const onOtherEntry = (leftMs: number): void => void waits.push(leftMs);
      return claimQueue(server, { ledger: { id, placeId }, log: silentLogger() }, { signal, onOtherEntry });
    };
    const look = (place: string) => requireNoCopy(server, { id, placeId: async () => place });
    return { look, waits, name, client, engine };
  }

  test('is the same for a user who may not ask for the cluster, whoever comes first', async () => {
    for (const places of [
      [original, '/16384/16387'],
      ['/16384/16387', original],
    ] as const) {
      const { engine, name, client } = await openLedgerEntry();
      const [first, second] = [await engine(places[0]), await engine(places[1])];
      expect([await first.renew(), await second.renew()]).toEqual([true, true]);
      await second.release();
      expect(await client.exists(name)).toBe(0);
    }
  });

  test('is entered anew by an engine whose database was replaced, and the others follow', async () => {
    const { engine, name, client } = await openLedgerEntry();
    let place = original;
    let placeOfOther = original;
    const first = await engine(() => place);
    const other = await engine(() => placeOfOther);
    place = moved;
    expect([await first.renew(), await client.get(name)]).toEqual([true, moved]);
    // Still connected to the one before: two ledgers are at work.
    expect([await other.renew(), await first.renew()]).toEqual([false, true]);
    placeOfOther = moved;
    expect(await other.renew()).toBe(true);
    const started = await engine(moved);
    expect([await started.renew(), await client.get(name)]).toEqual([true, moved]);
  });

  test('is looked at without a trace: of a copy it says what a start would say, and that it may lapse', async () => {
    const { engine, look, name, client } = await openLedgerEntry();
    await look(original);
    expect(await client.exists(name)).toBe(0);
    const claim = await engine(original);
    await look(original);
    await look('/16384/16387');
    const hint = expect.stringContaining('this ends by itself within 20 seconds');
    await expect(look(moved)).rejects.toMatchObject({ code: 'ledgerTwice', hint });
    expect([await client.get(name), await claim.renew()]).toEqual([original, true]);
  });

  test('of an engine that was killed is waited for, which is told once', async () => {
    const { engine, name, client, waits } = await openLedgerEntry();
    await client.set(name, 'elsewhere', 'PX', 1_500);
    const claim = await engine(original);
    expect([await claim.renew(), waits.length]).toEqual([true, 1]);
    expect(waits[0]).toBeLessThanOrEqual(1_500);
  });

  test('is renewed as it was known while the ledger is away', async () => {
    const { engine, name, client } = await openLedgerEntry();
    let isAway = false;
    const claim = await engine(() => {
      if (isAway) throw new Error('away');
      return original;
    });
    isAway = true;
    expect([await claim.renew(), await client.get(name)]).toEqual([true, original]);
  });
});
