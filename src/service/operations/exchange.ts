/**
 * One request for an operation, from its head to its answer.
 *
 * It is made for every request, so it is a plain record: getters in it would cost as much as a look-up.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { RateHeaders } from '#src/service/http/access.ts';
import { type AnswerChannel, detachedChannel, socketChannel } from '#src/service/http/answer-channel.ts';
import { queryOf } from '#src/service/http/check-request.ts';
import type { DeprecatedUse } from '#src/service/http/refusal.ts';
import { newTrace } from '#src/service/http/replies.ts';
import type { Operation } from './operation.ts';

export interface Exchange {
  readonly operation: Operation;
  readonly request: Request;
  /** The messages of the port; undefined where the app is called without one. */
  readonly incoming: IncomingMessage | undefined;
  readonly outgoing: ServerResponse | undefined;
  readonly channel: AnswerChannel;
  /** The path parameter; an empty text where the path has none. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly startedMs: number;
  /** Names the request in its error and in the log; the same at each call. */
  readonly trace: () => string;
  /** What the reply says of the rate of its key; null without a limit. Set once the key is known. */
  rateHeaders: RateHeaders | null;
  /** What the request uses that is deprecated, as far as it was looked at. */
  deprecated: readonly DeprecatedUse[];
}

const noneDeprecated: readonly DeprecatedUse[] = [];

export function createExchange(operation: Operation, { req, env }: Context<ServiceEnv>, startedMs: number): Exchange {
  const request = req.raw;
  const { incoming, outgoing } = env ?? {};
  const { pathId } = operation.description;
  return {
    operation,
    request,
    incoming,
    outgoing,
    channel: outgoing === undefined ? detachedChannel(request) : socketChannel(outgoing),
    id: pathId === null ? '' : (req.param(pathId.name) ?? ''),
    query: queryOf(request.url),
    startedMs,
    trace: traceOnDemand(),
    rateHeaders: null,
    deprecated: noneDeprecated,
  };
}

/** Most requests never show their trace, and randomness costs as much as a look-up. */
function traceOnDemand(): () => string {
  let trace: string | undefined;
  return () => {
    trace ??= newTrace();
    return trace;
  };
}

/** What the framework hands on with a request. Without a port there are no bindings. */
export type ServiceEnv = { Bindings: Partial<HttpBindings> };
