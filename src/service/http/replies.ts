/**
 * The error body. Section 7: not shown. `docs/facts.md` ("error body") knows two shapes, and this service answers both:
 * wrapped for authentication, flat for everything else. No reply holds a stack.
 */

import { messageOf } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import { type Reply, type ResourceCode, textOfBody } from '#src/service/operations/operation.ts';
import { randomHex } from '#src/service/text-schemas.ts';
import type { RateHeaders } from './access.ts';
import { type DeprecatedUse, listedProblemsMax, Refusal } from './refusal.ts';

/**
 * Section 7, error body: not shown. The values that the public descriptions of the service give `docs`, the newest first
 * (`docs/facts.md`, "Later findings"). Clients that were generated from a description refuse any other than its own, so
 * that an option decides. The page of this service itself is `/docs`.
 */
export const errorDocsValues = ['https://quo.com/docs', 'https://openphone.com/docs'] as const;

export type ErrorDocs = (typeof errorDocsValues)[number];

/** What a refusal alone does not say of its reply. */
interface ErrorFacts {
  readonly resource: ResourceCode;
  readonly trace: string;
  readonly docs: ErrorDocs;
}

/** Names one request, in the error's body and in the log. */
export function newTrace(): string {
  return randomHex(8);
}

export function errorReply(refusal: Refusal, { resource, trace, docs }: ErrorFacts): Reply {
  const { status, headers } = refusal;
  if (status === 401) {
    return { status, headers, body: { error: { message: refusal.message, docs, key: 'Unauthorized', trace } } };
  }
  // Section 7, codes: not shown. Seven digits: resource, variant, status (`docs/facts.md`).
  const code = `${resource}${refusal.variant}${status}`;
  const errors = refusal.problems.slice(0, listedProblemsMax).map(({ path, message, type }) => ({
    path,
    message,
    schema: { type },
  }));
  return {
    status,
    headers,
    body: {
      message: refusal.message,
      code,
      status,
      docs,
      title: refusal.title,
      ...(refusal.description === null ? {} : { description: refusal.description }),
      trace,
      ...(errors.length > 0 ? { errors } : {}),
    },
  };
}

/**
 * Of every reply with a body: it may hold people's data, which no cache on the way is to keep. The public description and its
 * page, which hold none, have headers of their own.
 */
export const replyHeaders = { 'content-type': 'application/json', 'cache-control': 'no-store' } as const;

/** Turns a reply value into a response. */
export function sendReply(reply: Reply): Response {
  const { status } = reply;
  const text = textOfBody(reply.body);
  if (text === null) return new Response(null, { status, headers: { ...reply.headers } });
  return new Response(text, { status, headers: { ...replyHeaders, ...reply.headers } });
}

/** A reply under the rate limit says how its key stands; a refusal by the limit says so itself. Null: there is no limit. */
export function withRateHeaders(rateHeaders: RateHeaders | null, reply: Reply): Reply {
  return rateHeaders === null ? reply : { ...reply, headers: { ...rateHeaders, ...reply.headers } };
}

// Replies to what means no operation: an unknown path, a request that cannot be read, a failure on the way to one.

/**
 * What cannot be answered, as a reply whose trace is in the log: a refusal at `debug`, as its sender knows what is
 * wrong; anything else is a failure of the service, and only the log says which.
 */
export type ReplyOutside = (problem: unknown) => Reply;

export function createReplyOutside(log: Logger, docs: ErrorDocs): ReplyOutside {
  return (problem) => {
    const trace = newTrace();
    const isRefusal = problem instanceof Refusal;
    const refusal = isRefusal ? problem : new Refusal(500, 'The service failed. Its log names the trace.');
    if (isRefusal) log.debug({ status: refusal.status, trace }, 'request refused');
    else log.error({ error: messageOf(problem), trace }, 'request failed');
    // The code names no resource.
    return errorReply(refusal, { resource: '00', trace, docs });
  };
}

/**
 * Says in a reply that the request used deprecated parameters. Section 9, how they are flagged: not shown. They are
 * accepted, and a `Warning` of code 299, "miscellaneous persistent warning", names each and what to use in its place.
 *
 * The `Deprecation` header of RFC 9745 is not it: that speaks of a whole resource and needs a date, and no paper has
 * one. A client that does not know the header loses nothing.
 */
export function flagDeprecated(uses: readonly DeprecatedUse[], reply: Reply): Reply {
  if (uses.length === 0) return reply;
  const warning = uses.map(({ name, instead }) => `299 - "${name} is deprecated: ${instead}"`).join(', ');
  return { ...reply, headers: { ...reply.headers, warning } };
}
