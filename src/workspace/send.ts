/**
 * Sends one request once: slot, key, rate gate, the caller's last check, the wire, the verdict, the breakers, the accounts.
 *
 * Invariant: between the gate and the wire there is nothing but the caller's own check.
 */
import type { z } from 'zod';
import type { Clock } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import { createWaitLine, type RateGate } from '#src/rate/rate-gate.ts';
import type { ServiceErrorBody } from '#src/wire/error.ts';
import type { Breakers } from './breaker.ts';
import { classify, fitToSchema, type Verdict } from './classify.ts';
import type { Exchanger } from './exchange.ts';
import { keyRenewalIntervalMs, replyBytesMax } from './limits.ts';
import type { CallOptions, RequestKind } from './port.ts';
import { parseRetryAfter } from './retry.ts';

interface OutgoingRequest<Schema extends z.ZodType = z.ZodType> {
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

interface SendParts {
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

/**
 * As many requests at a time as there are connections, so that none waits inside the connection pool, where it would
 * pass the rate gate early and be written late.
 */
interface Slots {
  /** Waits for a free slot, in order; gives the function that frees it, to be called once. Rejects on abort. */
  take(signal?: AbortSignal): Promise<() => void>;
}

export function createSlots(slotCount: number): Slots {
  const line = createWaitLine<null>();
  let freeCount = slotCount;
  // A slot that is given up goes straight to the next in line, so nobody overtakes.
  const release = () => {
    if (!line.admitFirst(null)) freeCount += 1;
  };
  return {
    async take(signal) {
      signal?.throwIfAborted();
      if (freeCount > 0) freeCount -= 1;
      else await line.join(signal);
      return release;
    },
  };
}

/**
 * The API key in use, and when it is read anew: after a 401, at most once per 5 s, so that a rotated key file is
 * taken up while the program runs.
 *
 * Invariant: the key appears in no error, no log line and no result of this folder. What the service says is searched
 * for it, since a service may repeat the key that it refuses.
 */
export interface ApiKey {
  /** Read once, then kept. Throws `auth` `keyMissing` or `keyMalformed`, and what reading it throws. */
  current(): Promise<string>;
  /** The service answered 401 to `used`: true when a repeat has a point, because the key was read anew since. */
  renewAfter(used: string): Promise<boolean>;
}

interface ApiKeyOptions {
  readonly readApiKey: () => string | Promise<string>;
  readonly clock: Clock;
  readonly log: Logger;
}

export function createApiKey({ readApiKey, clock, log }: ApiKeyOptions): ApiKey {
  let key: string | null = null;
  let renewedAtMs = Number.NEGATIVE_INFINITY;
  let renewal: Promise<boolean> | null = null;

  async function renew(): Promise<boolean> {
    try {
      key = checkKey(await readApiKey());
      return true;
    } catch (error) {
      // The refusal that led here is what the caller must learn; this is a note beside it.
      log.warn({ code: error instanceof PatchbayError ? error.code : null }, 'the API key could not be read anew');
      return false;
    }
  }

  return {
    async current() {
      key ??= checkKey(await readApiKey());
      return key;
    },
    async renewAfter(used) {
      if (key !== null && key !== used) return true;
      if (renewal === null) {
        const nowMs = clock.monotonicMs();
        if (nowMs - renewedAtMs < keyRenewalIntervalMs) return false;
        renewedAtMs = nowMs;
        renewal = renew().finally(() => {
          renewal = null;
        });
      }
      return renewal;
    },
  };
}

/** The key without the line end of its file. It is a header's value: visible ASCII, nothing else. */
function checkKey(text: string): string {
  const key = text.trim();
  if (key === '') {
    throw new PatchbayError('auth', 'keyMissing', 'There is no API key.', { hint: 'Set PATCHBAY_API_KEY.' });
  }
  if (!/^[\x21-\x7e]{1,4096}$/.test(key)) {
    const hint = 'Give the raw key alone, without spaces and without a scheme such as Bearer.';
    throw new PatchbayError('auth', 'keyMalformed', 'The API key holds characters that a key cannot have.', { hint });
  }
  return key;
}

/** The service's words without the key. */
function withoutKey(body: ServiceErrorBody, key: string): ServiceErrorBody {
  const clean = (text: string) => text.replaceAll(key, '[key]');
  const cleanOrNull = (text: string | null) => (text === null ? null : clean(text));
  return {
    code: cleanOrNull(body.code),
    title: cleanOrNull(body.title),
    message: cleanOrNull(body.message),
    trace: cleanOrNull(body.trace),
    paths: body.paths.map(clean),
  };
}
