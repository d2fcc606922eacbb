/**
 * Writes: one POST or PATCH, sent at most once, and what its end means for the caller.
 *
 * Nothing is repeated here, not even what was certainly not sent: the caller looks up first (`rules.md`, "One contact
 * per key", step 4).
 */
import type { z } from 'zod';
import { PatchbayError, unreachable } from '#src/errors.ts';
import { contactEnvelope } from '#src/wire/contact.ts';
import type { ApiKey } from './api-key.ts';
import { describeCode, endCodes, type Verdict } from './classify.ts';
import type { CallOptions, WriteResult } from './port.ts';
import type { Send } from './send.ts';

export interface WriteRequest {
  readonly method: 'POST' | 'PATCH';
  /** Two or three words, as `create a contact`. */
  readonly operation: string;
  readonly path: string;
  readonly body: object;
}

type ContactEnvelope = z.infer<typeof contactEnvelope>;

/** Throws what `beforeSend` throws, and a `bug`; everything else is a result. */
export type Write = (request: WriteRequest, options?: CallOptions) => Promise<WriteResult>;

export interface WriteParts {
  readonly send: Send;
  readonly apiKey: ApiKey;
  readonly origin: string;
}

export function createWrite({ send, apiKey, origin }: WriteParts): Write {
  return async (request, options = {}) => {
    const { method, operation, path } = request;
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
      const body = JSON.stringify(request.body);
      const outgoing = { method, operation, path, body, schema: contactEnvelope, repeated: false };
      const { verdict, key } = await send(outgoing, { ...options, beforeSend: check });
      // The next request is then sent with the new key; this one is the caller's to judge.
      if (verdict.next === 'checkKey' && verdict.status === 401) await apiKey.renewAfter(key);
      return resultOf(verdict, operation, origin);
    } catch (error) {
      if (stoppedByCaller) throw error;
      if (signal?.aborted) return givenUp(operation, error);
      if (error instanceof PatchbayError && error.kind !== 'bug') return { kind: 'notSent', rateLimited: false, error };
      throw error;
    }
  };
}

function resultOf(verdict: Verdict<ContactEnvelope>, operation: string, origin: string): WriteResult {
  switch (verdict.next) {
    case 'use':
      return { kind: 'done', contact: verdict.body.data };
    case 'sendAgain': {
      if (verdict.code === endCodes.aborted) return givenUp(operation, verdict.cause);
      const message = `The service at ${origin} cannot be reached to ${operation}: ${describeCode(verdict.code)}.`;
      return notSent('serviceUnreachable', message, verdict.cause);
    }
    case 'waitForRate': {
      const message = `The service at ${origin} limits the rate (429): ${operation}.`;
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

function givenUp(operation: string, cause: unknown): WriteResult {
  return notSent('aborted', `Given up before it was sent: ${operation}.`, cause);
}

function notSent(code: string, message: string, cause: unknown): Extract<WriteResult, { kind: 'notSent' }> {
  const kind = code === 'serviceUnreachable' ? 'unreachable' : 'transient';
  return { kind: 'notSent', rateLimited: false, error: new PatchbayError(kind, code, message, { cause }) };
}
