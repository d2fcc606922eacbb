/**
 * Sends one request once: slot, key, rate gate, the caller's last check, the wire, the verdict, the breakers, the accounts.
 *
 * Invariant: between the gate and the wire there is nothing but the caller's own check.
 */
import type { z } from 'zod';
import type { Clock } from '#src/clock.ts';
import type { Logger } from '#src/log.ts';
import { type ApiKey, withoutKey } from './api-key.ts';
import type { Breakers } from './breaker.ts';
import { classify, fitToSchema, type Verdict } from './classify.ts';
import type { Exchanger } from './exchange.ts';
import { replyBytesMax } from './limits.ts';
import type { CallOptions, RequestKind } from './port.ts';
import type { RateGate } from './rate-gate.ts';
import { parseRetryAfter } from './retry-after.ts';
import type { Slots } from './slots.ts';

export interface OutgoingRequest<Schema extends z.ZodType = z.ZodType> {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** What it is for, in two or three words; names it in errors and log lines instead of its path, which holds keys. */
  readonly operation: string;
  readonly path: string;
  readonly body: string | null;
  /** What the body of a 2xx looks like. */
  readonly schema: Schema;
  /** A read that was sent before. */
  readonly repeated: boolean;
  /** Where the reply may be larger than others, or must be smaller. */
  readonly replyBytesMax?: number | undefined;
}

export interface Sent<Body = unknown> {
  readonly verdict: Verdict<Body>;
  /** The key that was used. */
  readonly key: string;
  /** Monotonic; null when nothing was written. */
  readonly writtenAtMs: number | null;
}

/**
 * Throws what `beforeSend` and the reading of the key throw, and the signal's reason when it fires before the request
 * is on the wire; in all three cases nothing was sent.
 */
export type Send = <Schema extends z.ZodType>(
  request: OutgoingRequest<Schema>,
  options: CallOptions,
) => Promise<Sent<z.infer<Schema>>>;

export interface SendParts {
  readonly exchanger: Exchanger;
  readonly slots: Slots;
  readonly apiKey: ApiKey;
  readonly rateGate: RateGate;
  readonly breakers: Breakers | null;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly userAgent: string;
  readonly count: (kind: RequestKind) => void;
}

/** Without `Retry-After` a 429 pauses for a second and up to half a second more. */
const pauseMs = 1_000;
const pauseJitterMs = 500;

const counted = { GET: 'get', POST: 'post', PATCH: 'patch' } as const;

export function createSend(parts: SendParts): Send {
  const { exchanger, slots, apiKey, rateGate, breakers, clock, random, log, userAgent } = parts;

  async function pauseGate(retryAfter: string | null): Promise<void> {
    const askedMs = parseRetryAfter(retryAfter, clock.nowMs());
    const waitMs = askedMs ?? pauseMs + random() * pauseJitterMs;
    log.warn({ pauseMs: Math.round(waitMs) }, 'the service limits the rate');
    await rateGate.pause(clock.monotonicMs() + waitMs);
  }

  return async (request, options) => {
    const { signal, beforeSend, onRequest } = options;
    const note = (kind: RequestKind) => {
      parts.count(kind);
      onRequest?.(kind);
    };
    const release = await slots.take(signal);
    try {
      const key = await apiKey.current();
      // Where the program was busy for long, the timers that close idle connections are overdue. This turn lets them
      // run first, so that no write meets a connection that was idle for a second.
      if (request.method !== 'GET') await clock.sleep(0, signal);
      const pass = await rateGate.take(signal);
      await beforeSend?.();
      signal?.throwIfAborted();
      const headers: Record<string, string> = {
        authorization: key,
        accept: 'application/json',
        'user-agent': userAgent,
      };
      if (request.body !== null) headers['content-type'] = 'application/json';
      const { method, path, body } = request;
      const { end, writtenAtMs } = await exchanger.exchange({
        method,
        path,
        headers,
        body,
        signal,
        replyBytesMax: request.replyBytesMax ?? replyBytesMax,
        onWrite: () => void pass.written(),
      });
      if (writtenAtMs !== null) {
        note(counted[method]);
        if (request.repeated) note('retried');
      }
      const verdict = withoutKeyInVerdict(fitToSchema(classify(end), request.schema), key);
      breakers?.note(method === 'GET' ? 'read' : 'write', end, verdict);
      if (verdict.next === 'waitForRate') {
        note('rateLimited');
        await pauseGate(verdict.retryAfter);
      }
      return { verdict, key, writtenAtMs };
    } finally {
      release();
    }
  };
}

function withoutKeyInVerdict<Body>(verdict: Verdict<Body>, key: string): Verdict<Body> {
  return verdict.next === 'use' || verdict.next === 'sendAgain'
    ? verdict
    : { ...verdict, body: withoutKey(verdict.body, key) };
}
