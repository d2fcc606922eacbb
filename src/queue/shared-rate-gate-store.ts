/**
 * The state of a shared rate gate in Redis: the calls of its script, and the connection that they go over.
 *
 * A call is made once and at once, or fails: what waits in a client's line would come at the wrong time. The connection
 * comes back by itself; a Redis that takes a call and says nothing for long is connected to anew, since its machine may be
 * gone. One gate has one connection, so its calls arrive in the order in which they were made.
 */
import { randomUUID } from 'node:crypto';
import type { RedisOptions } from 'bullmq';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { type RateGateCall, rateGateScript } from './shared-rate-gate-script.ts';

export interface RateGateStoreOptions {
  readonly connection: RedisOptions;
  readonly name: string;
  readonly requestsPerSecond: number | null;
}

export interface Taken {
  readonly grantedCount: number;
  /** Until the next may pass; zero where all that were wanted passed. */
  readonly waitMs: number;
  /** Of the configured rate. */
  readonly share: number;
}

/** Passes have numbers of the caller's choice, each used once. All calls reject while Redis is away. */
export interface RateGateStore {
  /** Passes from `first` on, as many as may pass now and at most `wantedCount`. */
  take(first: number, wantedCount: number): Promise<Taken>;
  /** The pass counts from then. */
  written(number: number, agoMs: number): Promise<void>;
  /** These passes were not used. */
  giveBack(first: number, count: number): Promise<void>;
  pause(forMs: number): Promise<void>;
  close(): void;
}

export interface RateGateStoreEvents {
  /** Redis can be asked, for the first time or again. */
  readonly onReady: () => void;
  /** It never will be again. */
  readonly onEnd: () => void;
}

/** Nothing is heard for so long although something was asked: the connection is given up for a new one. */
const silenceMsMax = 5_000;
const connectTimeoutMs = 5_000;
const retryDelayMaxMs = 2_000;

const answerShape = z.tuple([z.int(), z.coerce.number(), z.coerce.number()]);

/** What `defineCommand` adds. */
interface WithScript {
  patchbayRateGate(key: string, ...words: readonly (string | number)[]): Promise<unknown>;
}

export function openRateGateStore(options: RateGateStoreOptions, events: RateGateStoreEvents): RateGateStore {
  const redis = new Redis({
    retryStrategy: (attempt) => Math.min(attempt * 100, retryDelayMaxMs),
    connectTimeout: connectTimeoutMs,
    ...options.connection,
    socketTimeout: silenceMsMax,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // The first call shows whether it is ready.
    enableReadyCheck: false,
  });
  // Each call that fails says so to its caller.
  redis.on('error', () => undefined);
  redis.on('ready', events.onReady);
  redis.on('end', events.onEnd);
  redis.defineCommand('patchbayRateGate', { numberOfKeys: 1, lua: rateGateScript() });
  // The type of a client cannot know a command that was defined at run time.
  const scripted = redis as Redis & WithScript;

  const key = rateGateKey(options.name);
  /** Tells the passes of this process from those of others. */
  const prefix = randomUUID();
  const call = async (name: RateGateCall, ...words: readonly (string | number)[]): Promise<Taken> => {
    const answer = await scripted.patchbayRateGate(key, name, options.requestsPerSecond ?? '', ...words);
    const [grantedCount, waitMs, share] = answerShape.parse(answer);
    return { grantedCount, waitMs, share };
  };
  return {
    take: (first, wantedCount) => call('take', prefix, first, wantedCount),
    written: async (number, agoMs) => void (await call('written', prefix, number, agoMs)),
    giveBack: async (first, count) => void (await call('giveBack', prefix, first, count)),
    pause: async (forMs) => void (await call('pause', forMs)),
    close: () => redis.disconnect(),
  };
}

/** The braces keep it on one node of a cluster. */
export function rateGateKey(name: string): string {
  return `patchbay-rate-gate:{${name}}`;
}
