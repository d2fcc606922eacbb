/**
 * Sends one request once: takes a slot, the key and a pass of the rate gate, runs the caller's last check, sends, classifies
 * the end, and reports it to breakers and counters.
 *
 * Invariant: nothing but the caller's check happens between the gate and the socket. The key appears in no error, no log
 * line and no result: what the service says is searched for it, since a service may repeat the key that it refuses.
 */
import type { z } from 'zod';
import type { Clock } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import { createWaitLine, type RateGate } from '#src/rate/rate-gate.ts';
import { inWork, type Works } from '#src/telemetry.ts';
import type { ServiceErrorBody } from '#src/wire/error.ts';
import { type Breakers, classify, fitToSchema, type Verdict } from './classify.ts';
import type { Exchanger } from './exchange.ts';
import { type CallOptions, keyRenewalIntervalMs, type RequestKind, replyBytesMax } from './port.ts';
import { parseRetryAfter } from './retry.ts';

export interface OutgoingRequest<Schema extends z.ZodType = z.ZodType> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Two or three words, as `look up contacts`. Used in errors and log lines instead of the path, which holds keys. */
  readonly operation: string;
  readonly path: string;
  readonly body: string | null;
  /** The shape of the body of a 2xx. */
  readonly schema: Schema;
  /** A read that was sent before. */
  readonly repeated: boolean;
  /** A limit other than `replyBytesMax` of `port.ts`. */
  readonly replyBytesMax?: number | undefined;
  /** As that of the exchange. */
  readonly answerMsMax?: number | undefined;
}

export interface Sent<Body = unknown> {
  readonly verdict: Verdict<Body>;
  /** The key that was used. */
  readonly key: string;
  /** Monotonic; null when nothing was written. */
  readonly writtenAtMs: number | null;
  /** Monotonic: until when the gate is closed after a 429; null without one. */
  readonly pausedUntilMs: number | null;
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

/** Without `Retry-After` a 429 pauses for one to one and a half seconds. */
const pauseMs = 1_000;
const pauseJitterMs = 500;

const counted = { GET: 'get', POST: 'post', PATCH: 'patch', DELETE: 'delete' } as const;

export function createSend(parts: SendParts): Send {
  const { exchanger, slots, apiKey, rateGate, breakers, clock, random, log, userAgent } = parts;

  const dueTimersRan = watchDueTimers(clock);

  /** @returns until when it is closed, on the monotonic clock. */
  async function pauseGate(retryAfter: string | null): Promise<number> {
    const askedMs = parseRetryAfter(retryAfter, clock.nowMs());
    const waitMs = askedMs ?? pauseMs + random() * pauseJitterMs;
    log.warn({ pauseMs: Math.round(waitMs) }, 'the service limits the rate');
    const untilMs = clock.monotonicMs() + waitMs;
    await rateGate.pause(untilMs);
    return untilMs;
  }

  async function sendOnce<Schema extends z.ZodType>(
    request: OutgoingRequest<Schema>,
    options: CallOptions,
    known: Works['request'],
  ): Promise<Sent<z.infer<Schema>>> {
    const { signal, beforeSend, onRequest } = options;
    const note = (kind: RequestKind) => {
      parts.count(kind);
      onRequest?.(kind);
    };
    const release = await slots.take(signal);
    try {
      const key = await apiKey.current();
      if (request.method !== 'GET') await dueTimersRan();
      const pass = await waited(rateGate, options, known);
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
        answerMsMax: request.answerMsMax,
        replyBytesMax: request.replyBytesMax ?? replyBytesMax,
        onWrite: () => void pass.written(),
      });
      if (writtenAtMs !== null) {
        note(counted[method]);
        if (request.repeated) note('retried');
        known.tookMs = clock.monotonicMs() - writtenAtMs;
        known.status = end.phase === 'replied' ? end.status : null;
      }
      const verdict = withoutKeyInVerdict(fitToSchema(classify(end, method === 'DELETE'), request.schema), key);
      breakers?.note(method === 'GET' ? 'read' : 'write', end, verdict);
      let pausedUntilMs: number | null = null;
      if (verdict.next === 'waitForRate') {
        note('rateLimited');
        pausedUntilMs = await pauseGate(verdict.retryAfter);
      }
      return { verdict, key, writtenAtMs, pausedUntilMs };
    } finally {
      release();
    }
  }

  async function waited(
    gate: RateGate,
    { signal, heldMsMax }: CallOptions,
    known: Works['request'],
  ): ReturnType<RateGate['take']> {
    const askedAtMs = clock.monotonicMs();
    const pass = await gate.take(signal, heldMsMax);
    known.gateWaitMs = clock.monotonicMs() - askedAtMs;
    return pass;
  }

  return async (request, options) => {
    const { method, operation, repeated: isRepeat } = request;
    const known = { method, operation, isRepeat, gateWaitMs: null, tookMs: null, status: null };
    return await inWork('request', known, (found) => sendOnce(request, options, found));
  };
}

/** Timers that were due longer ago have certainly run: with `idleConnectionMs`, less than the second for which a service keeps a connection. */
const timersLateMsMax = 50;

/**
 * If the event loop was busy, the timers that close idle connections are overdue. They run first, so that no write uses a connection
 * that was idle for a second. @returns what tells, at once while writes follow each other, that they have run.
 */
function watchDueTimers(clock: Clock): () => Promise<void> | undefined {
  /** What was due then has run. */
  let ranUntilMs = Number.NEGATIVE_INFINITY;
  let underWay: Promise<void> | null = null;
  // Immediates follow the timers: the second one is of a turn that began after the first.
  const watch = (): Promise<void> =>
    new Promise((done) =>
      setImmediate(() => {
        const atMs = clock.monotonicMs();
        setImmediate(() => {
          ranUntilMs = atMs;
          underWay = null;
          done();
        });
      }),
    );
  return () => {
    underWay ??= watch();
    return clock.monotonicMs() - ranUntilMs > timersLateMsMax ? underWay : undefined;
  };
}

function withoutKeyInVerdict<Body>(verdict: Verdict<Body>, key: string): Verdict<Body> {
  return verdict.next === 'use' || verdict.next === 'sendAgain'
    ? verdict
    : { ...verdict, body: withoutKey(verdict.body, key) };
}

/**
 * As many requests at a time as there are connections: a request that waited inside the connection pool would pass the rate
 * gate early and be written late.
 */
interface Slots {
  /** Waits for a free slot, in order. @returns the function that frees it, to be called once. Rejects on abort. */
  take(signal?: AbortSignal): Promise<() => void>;
}

export function createSlots(slotCount: number): Slots {
  const line = createWaitLine<null>();
  let freeCount = slotCount;
  // A freed slot goes straight to the next in line, so that no later call overtakes.
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

/** The API key in use. It is read again after a 401, at most every 5 s, so that a rotated key file takes effect. */
export interface ApiKey {
  /** Read once, then kept. Throws `auth` `keyMissing` or `keyMalformed`, and what reading it throws. */
  current(): Promise<string>;
  /** To be called after a 401 to `used`. @returns whether the key was read again since, so that a repeat may succeed. */
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
      // The caller gets the 401 that led here; this error is only logged.
      log.warn({ code: error instanceof PatchbayError ? error.code : null }, 'the API key could not be read again');
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

/** The key without the line end of its file. As a header's value it must be visible ASCII. */
function checkKey(text: string): string {
  const key = text.trim();
  if (key === '') {
    throw new PatchbayError('auth', 'keyMissing', 'There is no API key.', { hint: 'Set PATCHBAY_API_KEY.' });
  }
  if (!/^[\x21-\x7e]{1,4096}$/.test(key)) {
    const hint = 'Use the raw key, without spaces and without a scheme such as Bearer.';
    throw new PatchbayError('auth', 'keyMalformed', 'The API key contains characters that a key cannot contain.', {
      hint,
    });
  }
  return key;
}

/** The service's error without the key. */
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
