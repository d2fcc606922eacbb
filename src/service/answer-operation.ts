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
import type { TakePlace } from './http/rate-limit.ts';
import { parseJson, readBodyBytes } from './http/read-body.ts';
import { Refusal } from './http/refusal.ts';
import { sendReply } from './http/send-reply.ts';
import type { ListingFaults, Operation, Reply } from './operation.ts';
import { encodePageToken } from './page-token.ts';

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
}

const noBytes = new Uint8Array();

export async function answerOperation(
  operation: Operation,
  context: Context<ServiceEnv>,
  parts: AnswerParts,
): Promise<Response> {
  parts.count(operation);
  const trace = newTrace();
  const startedMs = parts.clock.monotonicMs();
  const request = context.req.raw;
  let bytes: Uint8Array;
  try {
    parts.takePlace(parts.authenticate(request.headers.get('authorization')));
    bytes = operation.takesBody ? await readBodyBytes(request, parts.bodyBytesMax) : noBytes;
  } catch (error) {
    return sendReply(replyToFailure(error, operation, trace, parts.log));
  }
  const query = new URL(request.url).searchParams;
  const run = async (listing: ListingFaults): Promise<Reply> => {
    try {
      return await operation.run({ id: context.req.param('id') ?? '', query, body: () => parseJson(bytes), listing });
    } catch (error) {
      return replyToFailure(error, operation, trace, parts.log);
    }
  };
  const { outgoing } = context.env ?? {};
  const faults = parts.faults.draw(operation.name);
  const response = await answerWithFaults({
    faults,
    pageToken: query.get('pageToken'),
    firstPageToken: encodePageToken(operation.name === 'list' ? 'contacts' : 'phone-numbers', 0),
    run,
    statusReply: (status, retryAfterSeconds) => injectedReply(status, retryAfterSeconds, operation, trace),
    connection: outgoing === undefined ? detachedConnection(request) : socketConnection(outgoing),
    clock: parts.clock,
    background: parts.background,
  });
  const tookMs = parts.clock.monotonicMs() - startedMs;
  const faultKinds = faults.map((fault) => fault.kind);
  parts.log.debug({ operation: operation.name, status: response.status, tookMs, faults: faultKinds, trace }, 'request');
  return response;
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
