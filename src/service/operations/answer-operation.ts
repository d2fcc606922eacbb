/**
 * The way of one request for an operation: count, authenticate, take a place under the rate limit, read the body's
 * bytes, draw faults, run, answer. Section 7, what is reported first: not shown. The request is read before the store.
 *
 * Faults come after authentication, so that a stranger meets none; refusals of the operation are replies that faults
 * spoil like any other.
 */
import type { Context } from 'hono';
import type { Clock } from '#src/clock.ts';
import type { Logger } from '#src/log.ts';
import type { Background } from '#src/service/faults/answer-with-faults.ts';
import type { Fault, FaultSet } from '#src/service/faults/faults.ts';
import { type FindKey, type RateLimit, requireKey } from '#src/service/http/access.ts';
import { requirePathId, requireUtf8Query } from '#src/service/http/check-request.ts';
import { parseJson } from '#src/service/http/read-body.ts';
import { type ErrorDocs, errorReply, flagDeprecated, withRateHeaders } from '#src/service/http/replies.ts';
import type { PageTokens } from '#src/service/paging.ts';
import { answerWithFaults } from '../faults/answer-with-faults.ts';
import { readBodyBytes } from '../http/read-body.ts';
import { Refusal } from '../http/refusal.ts';
import { createExchange, type Exchange, type ServiceEnv } from './exchange.ts';
import type { TellFailure } from './failure-log.ts';
import type { ListingFaults, Operation, Reply } from './operation.ts';

export interface AnswerParts {
  readonly count: (operation: Operation) => void;
  readonly findKey: FindKey;
  readonly rateLimit: RateLimit;
  readonly errorDocs: ErrorDocs;
  readonly bodyBytesMax: number;
  readonly faults: FaultSet;
  readonly pageTokens: PageTokens;
  readonly background: Background;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tellFailure: TellFailure;
  /** Looks at a reply before faults spoil it. */
  readonly observe: ((operation: Operation, reply: Reply) => void) | null;
}

const noBytes = new Uint8Array();

/** A read without faults is answered in the turn of the event loop in which it came. */
export function answerOperation(
  operation: Operation,
  context: Context<ServiceEnv>,
  parts: AnswerParts,
): Response | Promise<Response> {
  parts.count(operation);
  const exchange = createExchange(operation, context, parts.clock.monotonicMs());
  exchange.rateHeaders = parts.rateLimit.standing(null);
  const refusal = admit(exchange, parts);
  if (refusal !== null) return exchange.channel.send(refusal);
  if (!operation.takesBody) return carryOut(exchange, noBytes, parts);
  return readBodyBytes(exchange, parts.bodyBytesMax).then(
    (bytes) => carryOut(exchange, bytes, parts),
    (error: unknown) => exchange.channel.send(failureReply(exchange, error, parts)),
  );
}

/** The refusal of a stranger, or of one request too many; null for all others. */
function admit(exchange: Exchange, parts: AnswerParts): Reply | null {
  try {
    const key = requireKey(parts.findKey, exchange.request.headers.get('authorization'));
    exchange.rateHeaders = parts.rateLimit.takePlace(key);
    return null;
  } catch (error) {
    return failureReply(exchange, error, parts);
  }
}

function carryOut(exchange: Exchange, bytes: Uint8Array, parts: AnswerParts): Response | Promise<Response> {
  const { operation, channel, query } = exchange;
  const { clock, background, pageTokens, log } = parts;
  const faults = parts.faults.draw(operation.name);
  const response = answerWithFaults({
    faults,
    pageToken: query.get('pageToken'),
    bodyBytes: bytes.byteLength,
    firstPageToken: () => pageTokens.first(operation.name),
    run: (listing) => runOperation(exchange, bytes, listing, parts),
    statusReply: (status, retryAfterSeconds) => injectedReply(exchange, status, retryAfterSeconds, parts),
    channel,
    clock,
    background,
  });
  if (!log.isLevelEnabled('debug')) return response;
  return Promise.resolve(response).then((answered) => {
    logAnswered(exchange, answered, faults, parts);
    return answered;
  });
}

/** Never throws: a refusal is a reply, and so is a failure. */
function runOperation(
  exchange: Exchange,
  bytes: Uint8Array,
  listing: ListingFaults,
  parts: AnswerParts,
): Reply | Promise<Reply> {
  const { operation, request, id, query } = exchange;
  const failed = (error: unknown) => failureReply(exchange, error, parts);
  const { deprecatedIn } = operation;
  const body = () => {
    const sent = parseJson(bytes);
    if (deprecatedIn?.body !== undefined) exchange.deprecated = deprecatedIn.body(sent);
    return sent;
  };
  try {
    if (deprecatedIn?.query !== undefined) exchange.deprecated = deprecatedIn.query(query);
    const { pathId, query: described } = operation.description;
    if (pathId !== null) requirePathId(pathId, id);
    if (described !== null) requireUtf8Query(request.url);
    const reply = operation.run({ id, query, body, listing });
    if (!(reply instanceof Promise)) return finishReply(exchange, reply, parts);
    return reply.then((given) => finishReply(exchange, given, parts)).catch(failed);
  } catch (error) {
    return failed(error);
  }
}

/** The reply as it is meant, before faults spoil it. */
function finishReply({ operation, deprecated, rateHeaders }: Exchange, reply: Reply, { observe }: AnswerParts): Reply {
  const whole = withRateHeaders(rateHeaders, flagDeprecated(deprecated, reply));
  observe?.(operation, whole);
  return whole;
}

/** A refusal is sent to the client; for an unforeseen failure the log has the cause. */
function failureReply(exchange: Exchange, error: unknown, parts: AnswerParts): Reply {
  if (error instanceof Refusal) return finishReply(exchange, refusalReply(exchange, error, parts), parts);
  parts.tellFailure({ operation: exchange.operation.name, error, trace: exchange.trace() });
  const failure = new Refusal(500, 'The service failed. Its log names the trace.', { variant: '01' });
  return finishReply(exchange, refusalReply(exchange, failure, parts), parts);
}

function refusalReply({ operation, trace }: Exchange, refusal: Refusal, { errorDocs: docs }: AnswerParts): Reply {
  return errorReply(refusal, { resource: operation.resource, trace: trace(), docs });
}

function injectedReply(
  exchange: Exchange,
  status: number,
  retryAfterSeconds: number | null,
  parts: AnswerParts,
): Reply {
  const headers: Record<string, string> = {};
  if (retryAfterSeconds !== null) headers['retry-after'] = String(retryAfterSeconds);
  const reply = refusalReply(exchange, new Refusal(status, 'A fault was asked for.', { headers }), parts);
  return withRateHeaders(exchange.rateHeaders, reply);
}

function logAnswered(
  { operation, outgoing, startedMs, deprecated: uses, trace }: Exchange,
  answered: Response,
  faults: readonly Fault[],
  { clock, log }: AnswerParts,
): void {
  const tookMs = clock.monotonicMs() - startedMs;
  // What was written to the socket is not in the response.
  const status = outgoing?.statusCode ?? answered.status;
  const facts = { operation: operation.name, status, tookMs, faults: faults.map(({ kind }) => kind) };
  const deprecated = uses.map(({ name }) => name);
  log.debug({ ...facts, deprecated, trace: trace() }, 'request');
}
