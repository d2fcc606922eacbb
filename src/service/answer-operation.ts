/**
 * The way of one request for an operation: count, authenticate, take a place under the rate limit, read the body's
 * bytes, draw faults, run, answer.
 *
 * Faults come after authentication, so that a stranger meets none; refusals of the operation are replies that faults
 * spoil like any other.
 */
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Clock } from '#src/clock.ts';
import { messageOf } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import type { Background } from './background.ts';
import { answerWithFaults } from './faults/answer-with-faults.ts';
import type { FaultSet } from './faults/fault-set.ts';
import type { Authenticate } from './http/authentication.ts';
import { detachedConnection, socketConnection } from './http/connection.ts';
import { errorReply, newTrace } from './http/error-reply.ts';
import { flagDeprecated } from './http/flag-deprecated.ts';
import type { TakePlace } from './http/rate-limit.ts';
import { parseJson, readBodyBytes } from './http/read-body.ts';
import { Refusal } from './http/refusal.ts';
import type { ListingFaults, Operation, Reply } from './operation.ts';
import { firstPageToken } from './page-token.ts';

/** Without a port there are no bindings. */
export type ServiceEnv = { Bindings: Partial<HttpBindings> };

export interface AnswerParts {
  readonly count: (operation: Operation) => void;
  readonly authenticate: Authenticate;
  readonly takePlace: TakePlace;
  readonly bodyBytesMax: number;
  readonly faults: FaultSet;
  readonly background: Background;
  readonly clock: Clock;
  readonly log: Logger;
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
  const trace = traceOnDemand();
  const startedMs = parts.clock.monotonicMs();
  const request = context.req.raw;
  const seen = (reply: Reply): Reply => {
    parts.observe?.(operation, reply);
    return reply;
  };
  const { outgoing } = context.env ?? {};
  const connection = outgoing === undefined ? detachedConnection(request) : socketConnection(outgoing);
  const failed = (error: unknown): Reply => seen(replyToFailure(error, operation, trace(), parts.log));
  const query = queryOf(request.url);
  let deprecated: readonly string[] = [];
  const done = (reply: Reply): Reply => {
    if (reply.deprecated !== undefined) deprecated = reply.deprecated.map(({ name }) => name);
    return seen(flagDeprecated(reply));
  };
  const carryOut = (bytes: Uint8Array): Response | Promise<Response> => {
    const run = (listing: ListingFaults): Reply | Promise<Reply> => {
      try {
        // A path has one parameter at most, the recordings' under the name of what it identifies.
        const id = context.req.param('id') ?? context.req.param('callId') ?? '';
        const reply = operation.run({ id, query, body: () => parseJson(bytes), listing });
        return reply instanceof Promise ? reply.then(done).catch(failed) : done(reply);
      } catch (error) {
        return failed(error);
      }
    };
    const faults = parts.faults.draw(operation.name);
    const response = answerWithFaults({
      faults,
      pageToken: query.get('pageToken'),
      firstPageToken: () => firstPageToken(operation.name),
      run,
      statusReply: (status, retryAfterSeconds) => injectedReply(status, retryAfterSeconds, operation, trace()),
      connection,
      clock: parts.clock,
      background: parts.background,
    });
    if (!parts.log.isLevelEnabled('debug')) return response;
    return Promise.resolve(response).then((answered) => {
      const tookMs = parts.clock.monotonicMs() - startedMs;
      // What was written to the socket is not in the response.
      const status = outgoing?.statusCode ?? answered.status;
      const facts = { operation: operation.name, status, tookMs, faults: faults.map(({ kind }) => kind) };
      parts.log.debug({ ...facts, deprecated, trace: trace() }, 'request');
      return answered;
    });
  };
  const refuse = (error: unknown): Response => connection.send(failed(error));
  try {
    parts.takePlace(parts.authenticate(request.headers.get('authorization')));
  } catch (error) {
    return refuse(error);
  }
  if (!operation.takesBody) return carryOut(noBytes);
  return readBodyBytes(request, parts.bodyBytesMax).then(carryOut, refuse);
}

/** Most requests tell nobody their trace, and randomness costs as much as a look-up. */
function traceOnDemand(): () => string {
  let trace: string | undefined;
  return () => {
    trace ??= newTrace();
    return trace;
  };
}

const noQuery = new URLSearchParams();

/** The listener has checked the URL: what follows the first question mark is the query, less a fragment. */
function queryOf(url: string): URLSearchParams {
  const [address = ''] = url.split('#', 1);
  const start = address.indexOf('?');
  return start < 0 ? noQuery : new URLSearchParams(address.slice(start + 1));
}

function replyToFailure(error: unknown, { name, resource }: Operation, trace: string, log: Logger): Reply {
  if (error instanceof Refusal) return errorReply(error, resource, trace);
  log.error({ operation: name, error: messageOf(error), trace }, 'request failed');
  return errorReply(
    new Refusal(500, 'The service failed. Its log names the trace.', { variant: '01' }),
    resource,
    trace,
  );
}

function injectedReply(status: number, retryAfterSeconds: number | null, operation: Operation, trace: string): Reply {
  const headers: Record<string, string> = {};
  if (retryAfterSeconds !== null) headers['retry-after'] = String(retryAfterSeconds);
  return errorReply(new Refusal(status, 'A fault was asked for.', { headers }), operation.resource, trace);
}
