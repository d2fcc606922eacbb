/**
 * The rate gates of one service, one for each API key: the service counts requests by key (`rules.md`, "Retries, rate,
 * outages").
 *
 * Where there is a limit, the gate lies in the queue's Redis, so that all processes with this key share it: those of two
 * data folders too, since its name is a hash of origin and key.
 */
import { createHash } from 'node:crypto';
import type { RedisOptions } from 'bullmq';
import type { Clock } from '#src/clock.ts';
import type { Logger } from '#src/log.ts';
import { openSharedRateGate } from '#src/queue/shared-rate-gate.ts';
import { createRateGate, type RateGate } from '#src/workspace/rate-gate.ts';

export interface KeyGates {
  /** The gate of that key, opened when it is first asked for. */
  of(apiKey: string): RateGate;
  /** Those who wait at a gate must have left it. */
  close(): Promise<void>;
}

export interface KeyGatesOptions {
  readonly origin: string;
  /** Null: no limit. */
  readonly requestsPerSecond: number | null;
  /** Of the queue. */
  readonly connection: RedisOptions;
  readonly clock: Clock;
  readonly log: Logger;
}

interface OpenGate {
  readonly gate: RateGate;
  close(): Promise<void>;
}

/** A key is changed once in a while, and nobody uses the one before the last any more. */
const gatesMax = 4;

export function createKeyGates(options: KeyGatesOptions): KeyGates {
  /** The one that was asked for last is at the end. */
  const open = new Map<string, OpenGate>();
  /** Closed because there were too many. */
  const closing: Promise<void>[] = [];
  return {
    of: (apiKey) => {
      const name = gateName(options.origin, apiKey);
      const found = open.get(name) ?? openGate(options, name);
      open.delete(name);
      open.set(name, found);
      const [oldest] = open;
      if (oldest !== undefined && open.size > gatesMax) {
        open.delete(oldest[0]);
        closing.push(oldest[1].close());
      }
      return found.gate;
    },
    close: async () => {
      const all = [...open.values()].map((one) => one.close());
      open.clear();
      await Promise.allSettled([...closing, ...all]);
    },
  };
}

function openGate({ requestsPerSecond, connection, clock, log }: KeyGatesOptions, name: string): OpenGate {
  // Without a limit there is nothing to share but the pause after a 429, and each process is told that by itself.
  if (requestsPerSecond === null) {
    return { gate: createRateGate({ requestsPerSecond, clock }), close: async () => undefined };
  }
  const gate = openSharedRateGate({ connection, name, requestsPerSecond, clock, log });
  return { gate, close: gate.close };
}

/** The key does not show in it: a hash of a random text cannot be turned back. */
function gateName(origin: string, apiKey: string): string {
  return createHash('sha256')
    .update(JSON.stringify([origin, apiKey]))
    .digest('hex')
    .slice(0, 32);
}
