/**
 * The error body. Section 7: not shown. `facts.md` ("error body") knows two shapes, and this service answers both:
 * wrapped for authentication, flat for everything else. No reply holds a stack.
 */

import { randomHex } from '#src/service/text-schemas.ts';
import type { Reply, ResourceCode } from '../operations/operation.ts';
import type { Refusal } from './refusal.ts';

/**
 * Section 7, error body: not shown. The public description of the service gives `docs` this one value, and clients that
 * were generated from it refuse any other. The page of this service itself is `/docs`.
 */
const docsOfPublicService = 'https://openphone.com/docs';

/** Names one request, in the error's body and in the log. */
export function newTrace(): string {
  return randomHex(8);
}

export function errorReply(refusal: Refusal, resource: ResourceCode, trace: string): Reply {
  const { status, headers, deprecated } = refusal;
  // Section 7, codes: not shown. Seven digits: resource, variant, status (`facts.md`).
  const code = `${resource}${refusal.variant}${status}`;
  if (status === 401) {
    return { status, headers, body: { error: { message: refusal.message, key: 'unauthorized', code, trace } } };
  }
  const errors = refusal.problems.map(({ path, message, type }) => ({
    path,
    message,
    schema: { type },
  }));
  return {
    status,
    headers,
    deprecated,
    body: {
      message: refusal.message,
      code,
      status,
      docs: docsOfPublicService,
      title: refusal.title,
      ...(refusal.description === null ? {} : { description: refusal.description }),
      trace,
      ...(errors.length > 0 ? { errors } : {}),
    },
  };
}
