/**
 * The webhook: signed headers, one POST, and its result.
 *
 * Signatures follow the Standard Webhooks scheme, HMAC-SHA256 over `id.timestamp.body`. The receiver computes the same from
 * the headers and the raw body, compares in constant time, and refuses timestamps that are minutes old. Redirects are not
 * followed: a body signed for one address goes to no other.
 *
 * Invariant: `post` throws only when its signal fires, and ends within `requestMs`.
 */

import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import type { Clock } from '#src/clock.ts';

export interface PostLimits {
  readonly connectMs: number;
  /** Connect, send, and the answer to its end. */
  readonly requestMs: number;
}

const postLimits: PostLimits = { connectMs: 3_000, requestMs: 10_000 };

/** The reply is discarded up to this size, so that the connection can be reused. */
const replyBytesMax = 65_536;
const connectionsMax = 4;
const idleConnectionMs = 900;

interface Posting {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type PostEnd =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfter: string | null }
  /** It may have arrived nevertheless. `code` is the system's or the HTTP client's. */
  | { readonly kind: 'noAnswer'; readonly code: string };

export interface WebhookClient {
  post(posting: Posting, signal: AbortSignal): Promise<PostEnd>;
  close(): Promise<void>;
}

export function createWebhookClient(clock: Pick<Clock, 'sleep'>, limits: PostLimits = postLimits): WebhookClient {
  const dispatcher = new Agent({
    connections: connectionsMax,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: limits.connectMs },
    headersTimeout: limits.requestMs,
    bodyTimeout: limits.requestMs,
    keepAliveTimeout: idleConnectionMs,
    keepAliveMaxTimeout: idleConnectionMs,
  });
  return {
    post: async ({ url, headers, body }, signal) => {
      const ended = new AbortController();
      const overdue = new AbortController();
      clock.sleep(limits.requestMs, ended.signal).then(
        () => overdue.abort(),
        () => undefined,
      );
      const either = AbortSignal.any([signal, overdue.signal]);
      try {
        const answer = await request(url, { dispatcher, method: 'POST', headers, body, signal: either });
        // Only the status counts; the body does not matter.
        await answer.body.dump({ limit: replyBytesMax, signal: either }).catch(() => undefined);
        const header = answer.headers['retry-after'];
        return {
          kind: 'answered',
          status: answer.statusCode,
          retryAfter: (Array.isArray(header) ? header[0] : header) ?? null,
        };
      } catch (error) {
        if (signal.aborted) throw error;
        return { kind: 'noAnswer', code: overdue.signal.aborted ? 'timeout' : codeOf(error) };
      } finally {
        ended.abort();
      }
    },
    close: () => dispatcher.destroy(),
  };
}

/** Never the message: it may repeat the address, which may hold a secret. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

interface Signable {
  /** The same for each attempt. */
  readonly id: string;
  /** Of this attempt. */
  readonly atMs: number;
  readonly body: string;
}

/** The headers of an attempt, unsigned without a secret. */
export function webhookHeaders({ id, atMs, body }: Signable, secret: Buffer | null): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(atMs / 1_000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === null) return headers;
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}
