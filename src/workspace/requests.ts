/**
 * Reads and writes: what the end of a request means for its caller.
 *
 * A *read* is one GET, sent until it is answered, refused or given up. A lost connection and a failing service are retried;
 * a 429 waits at the rate gate and does not count as a try; after a 401 the key is read again and the read sent once more;
 * a reply that does not follow the interface is final.
 *
 * A *write* is one POST, PATCH or DELETE, sent at most once. Nothing is retried here, not even what was certainly not sent: the
 * caller looks up first (`docs/rules.md`, "One contact per key", step 4).
 */
import { z } from 'zod';
import type { Clock } from '#src/clock.ts';
import { type Facts, PatchbayError, unreachable } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import { contactEnvelope } from '#src/wire/contact.ts';
import type { ServiceErrorBody } from '#src/wire/error.ts';
import { describeCode, endCodes, type Verdict } from './classify.ts';
import {
  type CallOptions,
  type DeleteResult,
  rateLimitedMsMax,
  rateLimitedTriesMax,
  type WriteResult,
} from './port.ts';
import { parseRetryAfter, retryReads, TryAgain } from './retry.ts';
import type { ApiKey, OutgoingRequest, Send, Sent } from './send.ts';

interface ReadRequest<Schema extends z.ZodType> {
  /** Two or three words, as `look up contacts`. */
  readonly operation: string;
  readonly path: string;
  readonly schema: Schema;
  /** What 404 means: there is no such thing, or the reply is unexpected. */
  readonly notFound: 'absent' | 'odd';
  /** A limit other than `replyBytesMax` of `port.ts`. */
  readonly replyBytesMax?: number;
}

interface ReadReply<Value> {
  /** Null: 404, if that means absent. */
  readonly value: Value | null;
  /** Monotonic: when the request that was answered was written. */
  readonly readAtMs: number;
}

/** Throws as `port.ts` says for reads. */
export type Read = <Schema extends z.ZodType>(
  request: ReadRequest<Schema>,
  options?: CallOptions,
) => Promise<ReadReply<z.infer<Schema>>>;

interface ReadParts {
  readonly send: Send;
  readonly apiKey: ApiKey;
  readonly origin: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}

export function createRead({ send, apiKey, origin, clock, random, log }: ReadParts): Read {
  return async (request, options = {}) => {
    const { operation, path } = request;
    const { signal, beforeSend, heldMsMax = rateLimitedMsMax, silentMsMax = Number.POSITIVE_INFINITY } = options;
    const about: ErrorSubject = { operation, origin };
    let sentCount = 0;
    let keyTried = false;
    /** Since when the request at hand could have been answered: it has passed the rate gate. */
    let askedAtMs = 0;
    let silentLeftMs = silentMsMax;
    const noteAsked = async (): Promise<void> => {
      await beforeSend?.();
      askedAtMs = clock.monotonicMs();
    };

    /** Sends until the reply is neither a 429 nor a 401 that a renewed key may avoid. */
    async function sendThrough(): Promise<Sent<z.infer<typeof request.schema>>> {
      let limitedSinceMs: number | null = null;
      // Ends with any other reply, after `rateLimitedTriesMax` replies with 429 or at a pause that lasts too long, and one repeat for the key.
      for (let rateLimitedCount = 0; ; ) {
        const { schema, replyBytesMax } = request;
        const repeated = sentCount > 0;
        const answerMsMax = Number.isFinite(silentLeftMs) ? silentLeftMs : undefined;
        const outgoing = {
          method: 'GET',
          operation,
          path,
          body: null,
          schema,
          repeated,
          replyBytesMax,
          answerMsMax,
        } as const;
        const sent = await send(outgoing, { ...options, beforeSend: noteAsked });
        if (sent.writtenAtMs !== null) sentCount += 1;
        const { verdict } = sent;
        silentLeftMs = isUnanswered(verdict) ? silentLeftMs - (clock.monotonicMs() - askedAtMs) : silentMsMax;
        if (verdict.next === 'waitForRate' && rateLimitedCount < rateLimitedTriesMax) {
          rateLimitedCount += 1;
          limitedSinceMs ??= sent.writtenAtMs ?? clock.monotonicMs();
          if (sent.pausedUntilMs !== null && sent.pausedUntilMs - limitedSinceMs > heldMsMax) return sent;
        } else if (verdict.next === 'checkKey' && verdict.status === 401 && !keyTried) {
          keyTried = true;
          if (!(await apiKey.renewAfter(sent.key))) return sent;
        } else {
          return sent;
        }
      }
    }

    async function readOnce(): Promise<ReadReply<z.infer<typeof request.schema>>> {
      const { verdict, writtenAtMs } = await sendThrough();
      const readAtMs = writtenAtMs ?? clock.monotonicMs();
      if (verdict.next === 'use') return { value: verdict.body, readAtMs };
      if (verdict.next === 'giveUp' && verdict.status === 404 && request.notFound === 'absent') {
        return { value: null, readAtMs };
      }
      // An abort cuts the connection: not a failure of the service.
      signal?.throwIfAborted();
      throw silentLeftMs < silentMsMin ? silent(about, silentMsMax) : failure(about, verdict, clock.nowMs());
    }

    return retryReads(readOnce, {
      clock,
      random,
      signal,
      onWait: (error, tryNumber, waitMs) =>
        log.warn({ operation, code: error.code, try: tryNumber, waitMs }, 'a read is retried'),
    });
  };
}

/** Less is no time for another try, in milliseconds. */
const silentMsMin = 50;

/** Whether the service has said nothing, not even a status. */
function isUnanswered(verdict: Verdict): boolean {
  return (
    verdict.next === 'sendAgain' || (verdict.next === 'doubt' && verdict.reason === 'lost' && verdict.status === null)
  );
}

interface ErrorSubject {
  readonly operation: string;
  readonly origin: string;
}

/** What a read throws for a failed verdict; a `TryAgain` if a repeat may help. */
function failure(about: ErrorSubject, verdict: Exclude<Verdict, { next: 'use' }>, nowMs: number): Error {
  const { operation, origin } = about;
  switch (verdict.next) {
    case 'sendAgain': {
      const why = describeCode(verdict.code);
      return new TryAgain(lost(about, `${why}.`, { code: verdict.code }, verdict.cause), null);
    }
    case 'waitForRate': {
      const message = `The service at ${origin} keeps answering with 429 (too many requests): ${operation}.`;
      return new PatchbayError('unreachable', 'rateLimited', message, { facts: factsOf(about, 429, verdict.body) });
    }
    case 'checkKey': {
      const said = `The service at ${origin} refuses the API key (${verdict.status})`;
      const facts = factsOf(about, verdict.status, verdict.body);
      return new PatchbayError('auth', 'keyRefused', quoting(said, verdict.body), { facts, plainMessage: `${said}.` });
    }
    case 'giveUp': {
      if (verdict.status === 404) return oddReply(about, 'status 404', 404);
      const said = `The service at ${origin} refuses to ${operation} (${verdict.status})`;
      const options = { facts: factsOf(about, verdict.status, verdict.body), plainMessage: `${said}.` };
      return new PatchbayError('rejected', 'requestRefused', quoting(said, verdict.body), options);
    }
    case 'doubt':
      return doubtful(about, verdict, nowMs);
    default:
      return unreachable(verdict);
  }
}

function doubtful(about: ErrorSubject, verdict: Extract<Verdict, { next: 'doubt' }>, nowMs: number): Error {
  const { why, status, body, cause, retryAfter } = verdict;
  const { operation, origin } = about;
  switch (verdict.reason) {
    case 'odd':
      return oddReply(about, why, status);
    case 'lost':
      return new TryAgain(lost(about, `${why}.`, { status }, cause), null);
    case 'failing': {
      const said = `The service at ${origin} failed to ${operation} (${why})`;
      const options = { facts: factsOf(about, status, body), plainMessage: `${said}.` };
      const error = new PatchbayError('unreachable', 'serviceFailing', quoting(said, body), options);
      return new TryAgain(error, parseRetryAfter(retryAfter, nowMs));
    }
    default:
      return unreachable(verdict.reason);
  }
}

function lost({ operation, origin }: ErrorSubject, why: string, facts: Facts, cause: unknown): PatchbayError {
  const message = `The service at ${origin} cannot be reached to ${operation}: ${why}`;
  return new PatchbayError('unreachable', 'serviceUnreachable', message, { facts: { operation, ...facts }, cause });
}

function silent(about: ErrorSubject, silentMs: number): PatchbayError {
  return lost(about, `no answer within ${Math.ceil(silentMs / 1_000)} s.`, { silentMs }, undefined);
}

function oddReply({ operation, origin }: ErrorSubject, why: string, status: number | null): PatchbayError {
  const message = `The server at ${origin} is not a compatible service (${operation}: ${why}).`;
  const hint = 'Check that the address is the origin of the service, without /v1 and without a redirect.';
  return new PatchbayError('unreachable', 'serviceAnswersOddly', message, { facts: { operation, status, why }, hint });
}

function factsOf({ operation }: ErrorSubject, status: number | null, body: ServiceErrorBody): Facts {
  const { code, title, message, trace, paths } = body;
  return { operation, status, serviceCode: code, title, message, trace, paths: paths.join(', ') || null };
}

/** The sentence, and the service's words for it, which may be about a person. */
function quoting(said: string, body: ServiceErrorBody): string {
  const words = body.message ?? body.title;
  return words === null ? `${said}.` : `${said}: ${words.slice(0, 300).replace(/\.\s*$/, '')}.`;
}

interface WriteRequest {
  readonly method: 'POST' | 'PATCH';
  /** Two or three words, as `create a contact`. */
  readonly operation: string;
  readonly path: string;
  readonly body: object;
}

/** Of a DELETE, which has no body and is answered with none. */
type DeleteRequest = Pick<WriteRequest, 'operation' | 'path'>;

/** Each throws what `beforeSend` throws, and a `bug`; every other end is a result. */
export interface Writes {
  write(request: WriteRequest, options?: CallOptions): Promise<WriteResult>;
  remove(request: DeleteRequest, options?: CallOptions): Promise<DeleteResult>;
}

type NoResult = Exclude<WriteResult, { readonly kind: 'done' }>;

export function createWrites(send: Send, apiKey: ApiKey, origin: string): Writes {
  /** @returns what a success came with, or what else became of it. */
  const sendOnce = async <Schema extends z.ZodType>(
    request: Omit<OutgoingRequest<Schema>, 'repeated'>,
    options: CallOptions,
  ): Promise<{ readonly reply: z.infer<Schema> } | NoResult> => {
    const { operation } = request;
    const { beforeSend, signal } = options;
    let stoppedByCaller = false;
    const check = async () => {
      try {
        await beforeSend?.();
      } catch (error) {
        stoppedByCaller = true;
        throw error;
      }
    };
    try {
      const { verdict, key } = await send({ ...request, repeated: false }, { ...options, beforeSend: check });
      // The next request then uses the new key; the caller decides about this one.
      if (verdict.next === 'checkKey' && verdict.status === 401) await apiKey.renewAfter(key);
      return verdict.next === 'use' ? { reply: verdict.body } : resultOf(verdict, operation, origin);
    } catch (error) {
      if (stoppedByCaller) throw error;
      if (signal?.aborted) return givenUp(operation, error);
      if (error instanceof PatchbayError && error.kind !== 'bug') return { kind: 'notSent', rateLimited: false, error };
      throw error;
    }
  };
  return {
    write: async ({ body, ...request }, options = {}) => {
      const result = await sendOnce({ ...request, body: JSON.stringify(body), schema: contactEnvelope }, options);
      return 'reply' in result ? { kind: 'done', contact: result.reply.data } : result;
    },
    remove: async (request, options = {}) => {
      const result = await sendOnce({ ...request, method: 'DELETE', body: null, schema: z.unknown() }, options);
      return 'reply' in result ? { kind: 'done' } : result;
    },
  };
}

function resultOf(verdict: Exclude<Verdict, { next: 'use' }>, operation: string, origin: string): NoResult {
  switch (verdict.next) {
    case 'sendAgain': {
      if (verdict.code === endCodes.aborted) return givenUp(operation, verdict.cause);
      const message = `The service at ${origin} cannot be reached to ${operation}: ${describeCode(verdict.code)}.`;
      return notSent('serviceUnreachable', message, verdict.cause);
    }
    case 'waitForRate': {
      const message = `The service at ${origin} answered with 429 (too many requests): ${operation}.`;
      return { ...notSent('rateLimited', message, undefined), rateLimited: true };
    }
    case 'checkKey':
      return { kind: 'unauthorized', status: verdict.status, body: verdict.body };
    case 'giveUp':
      return { kind: 'refused', status: verdict.status, body: verdict.body };
    case 'doubt':
      return { kind: 'doubt', why: verdict.why, status: verdict.status };
    default:
      return unreachable(verdict);
  }
}

function givenUp(operation: string, cause: unknown): NoResult {
  return notSent('aborted', `Cancelled before it was sent: ${operation}.`, cause);
}

function notSent(code: string, message: string, cause: unknown): Extract<WriteResult, { kind: 'notSent' }> {
  const kind = code === 'serviceUnreachable' ? 'unreachable' : 'transient';
  return { kind: 'notSent', rateLimited: false, error: new PatchbayError(kind, code, message, { cause }) };
}
