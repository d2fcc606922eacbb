/** Shared rate gates on one Redis, and a look at what they wrote there. All is closed when the test ends. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { TestContext } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { type Logger, silentLogger } from '#src/log.ts';
import type { EmbeddedConnection } from '#src/queue/embedded/embedded-valkey.ts';
import type { RateGate } from '#src/rate/rate-gate.ts';
import { rateGateKey } from '#src/rate/rate-script.ts';
import { openSharedRateGate, type SharedRateGate } from '#src/rate/shared-rate-gate.ts';

export type OnTestFinished = TestContext['onTestFinished'];
export type RedisPlace = EmbeddedConnection;

export interface GateBench {
  readonly redis: Redis;
  /** Where the state lies. */
  readonly key: string;
  /** Another gate of the same name, as another process has it. */
  open(requestsPerSecond: number, options?: { place?: RedisPlace; log?: Logger }): SharedRateGate;
  /** The numbers of the passes that count, in the order of their moments. */
  passNumbers(): Promise<readonly number[]>;
  /** The part of the configured rate that is in use, as it was when it was last set. */
  share(): Promise<number>;
}

export function openGateBench(place: RedisPlace, onTestFinished: OnTestFinished): GateBench {
  const name = randomUUID();
  const key = rateGateKey(name);
  const redis = new Redis({ ...place, maxRetriesPerRequest: null, retryStrategy: () => 50 });
  redis.on('error', () => undefined);
  const gates: SharedRateGate[] = [];
  onTestFinished(async () => {
    for (const gate of gates) await gate.close();
    redis.disconnect();
  });
  return {
    redis,
    key,
    open: (requestsPerSecond, options = {}) => {
      const connection = options.place ?? place;
      const log = options.log ?? silentLogger();
      const gate = openSharedRateGate({ connection, name, requestsPerSecond, clock: systemClock(), log });
      gates.push(gate);
      return gate;
    },
    share: async () => -Number((await redis.zscore(key, 'share')) ?? -1),
    passNumbers: async () => {
      const names = await redis.zrangebyscore(key, '(0', '+inf');
      return names.map((one) => Number(one.split(':').at(-1)));
    },
  };
}

/**
 * Takes passes at each gate, several at a time, and writes at once; stopped by the signal. Pushes when each was written,
 * which the gate hears after that: a slow machine moves both.
 */
export async function keepTaking(
  gates: readonly RateGate[],
  signal: AbortSignal,
  writtenAtMs: number[],
): Promise<void> {
  const lane = async (gate: RateGate): Promise<void> => {
    while (!signal.aborted) {
      const pass = await gate.take(signal).catch(() => null);
      if (pass === null) return;
      writtenAtMs.push(performance.now());
      void pass.written();
      await sleep(1);
    }
  };
  await Promise.all(gates.flatMap((gate) => [1, 2, 3, 4].map(() => lane(gate))));
}

/** The shortest time in which one more passed than the rate allows; infinite where fewer passed at all. */
export function shortestMs(atMs: readonly number[], rate: number): number {
  const sorted = atMs.toSorted((a, b) => a - b);
  return Math.min(...sorted.slice(rate).map((one, index) => one - (sorted[index] ?? 0)), Number.POSITIVE_INFINITY);
}
