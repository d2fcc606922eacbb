/**
 * Deliveries to the webhook: one attempt, and when the next one follows. They arrive at least once: a process that dies between
 * sending and recording it sends again, under the same `webhook-id`.
 *
 * Every failure is retried, also a refusal by the receiver: once a wrong address or secret is corrected, the delivery arrives.
 * Only 410 means that the receiver wants nothing more.
 */
import { type Clock, isoInstant, type Moment } from '#src/clock.ts';
import type { Config } from '#src/config/schema.ts';
import { readNotifySecret } from '#src/config/secrets.ts';
import { PatchbayError } from '#src/errors.ts';
import type { DeliveryEnd, DeliveryRecord } from '#src/ledger/deliveries.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { Logger } from '#src/log.ts';
import { parseRetryAfter } from '#src/workspace/retry.ts';
import {
  createWebhookClient,
  type PostEnd,
  type PostLimits,
  secretBytes,
  type WebhookClient,
  webhookHeaders,
} from './webhook.ts';

/** How often waiting deliveries are checked while no webhook is set. */
const noWebhookRestMs = 60_000;
/** How old they may get then. */
export const noWebhookMaxMs = 3 * 24 * 3_600_000;
const failedCode = 'webhookFailed';
const unsignedCode = 'notifyUnsigned';

interface DeliverParts {
  readonly ledger: Pick<Ledger, 'nowMs' | 'deliveries'>;
  readonly clock: Moment;
  readonly log: Logger;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly notify: Config['notify'];
  /** The workspace as shown to readers: `sandbox` or the service's origin. */
  readonly workspace: string;
  readonly client: WebhookClient;
  /** Deliveries that this process is sending. */
  readonly underWay: Set<string>;
  /** Codes that this process has logged; those of failures until a delivery arrives. */
  readonly logged: Set<string>;
}

/** The caller closes it. */
export interface Notices {
  /** One attempt: see `deliver`. */
  deliver(deliveryId: string, signal: AbortSignal): Promise<void>;
  /** Aborts running requests: the next engine sends them again. */
  close(): Promise<void>;
}

type NoticesOptions = Omit<DeliverParts, 'client' | 'underWay' | 'logged' | 'clock'> & {
  readonly clock: Clock;
  readonly limits?: PostLimits;
};

export function openNotices({ limits, ...options }: NoticesOptions): Notices {
  const client = createWebhookClient(options.clock, limits);
  const parts: DeliverParts = { ...options, client, underWay: new Set(), logged: new Set() };
  return { deliver: (deliveryId, signal) => deliver(parts, deliveryId, signal), close: () => client.close() };
}

/** @throws what the ledger throws; an `AbortError` if the signal fires during the request: the delivery is sent again. */
async function deliver(parts: DeliverParts, deliveryId: string, signal: AbortSignal): Promise<void> {
  // A flushed queue brings the job back while the first one is still running.
  if (parts.underWay.has(deliveryId)) return;
  parts.underWay.add(deliveryId);
  try {
    const delivery = await parts.ledger.deliveries.get(deliveryId);
    if (delivery?.state !== 'waiting' || delivery.dueAtMs > (await parts.ledger.nowMs(parts.clock))) return;
    if (parts.notify.url === null) await rest(parts);
    else await attempt(parts, parts.notify.url, delivery, signal);
  } finally {
    parts.underWay.delete(deliveryId);
  }
}

/** Deliveries outlive a webhook that was removed from the configuration, for a while. */
async function rest({ ledger, clock, log }: DeliverParts): Promise<void> {
  const nowMs = clock.nowMs();
  const why = { code: 'noWebhook', message: 'no webhook is configured any more (notify.url)' };
  const given = await ledger.deliveries.expire(nowMs - noWebhookMaxMs, nowMs, why);
  if (given > 0) log.warn({ code: why.code, deliveries: given }, 'deliveries given up');
  await ledger.deliveries.putOff((await ledger.nowMs(clock)) + noWebhookRestMs);
}

async function attempt(parts: DeliverParts, url: string, delivery: DeliveryRecord, signal: AbortSignal): Promise<void> {
  const { clock, ledger } = parts;
  const failure = await send(parts, url, delivery, signal);
  if (failure === null) {
    await ledger.deliveries.tried(delivery.id, clock.nowMs(), { state: 'delivered' });
    logRecovery(parts);
    return;
  }
  const attempts = delivery.attempts + 1;
  const delayMs = failure.isFinal ? null : retryDelayMs(attempts, parts.random(), failure.retryAfterMs);
  const nextDueAtMs = delayMs === null ? null : (await ledger.nowMs(clock)) + delayMs;
  const end: DeliveryEnd =
    nextDueAtMs === null ? { state: 'dead', why: failure } : { state: 'waiting', why: failure, nextDueAtMs };
  await ledger.deliveries.tried(delivery.id, clock.nowMs(), end);
  const { code, message: reason } = failure;
  const facts = { delivery: delivery.id, type: delivery.type, feed: delivery.feed, code, attempts };
  if (delayMs === null) {
    parts.log.warn({ ...facts, reason }, 'delivery given up');
    return;
  }
  parts.log.debug(facts, 'delivery failed');
  const what =
    code === failedCode
      ? 'the webhook does not accept deliveries; they are retried for about a day'
      : 'the secret of the webhook cannot be used';
  logOnce(parts, code, what, { reason });
}

/** After this, the next failure is logged again. */
function logRecovery({ logged, log }: DeliverParts): void {
  const wrong = [...logged].filter((code) => code !== unsignedCode);
  if (wrong.length === 0) return;
  for (const code of wrong) logged.delete(code);
  log.info('the webhook accepts deliveries again');
}

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly isFinal: boolean;
  readonly retryAfterMs: number | null;
}

async function send(
  parts: DeliverParts,
  url: string,
  delivery: DeliveryRecord,
  signal: AbortSignal,
): Promise<Failure | null> {
  const { clock, client, notify, workspace } = parts;
  let secret: Buffer | null;
  try {
    secret = await readSecret(notify);
  } catch (error) {
    if (!(error instanceof PatchbayError)) throw error;
    return { code: error.code, message: error.message, isFinal: false, retryAfterMs: null };
  }
  if (secret === null) logOnce(parts, unsignedCode, 'deliveries are not signed: no secret is set');
  const { id, type, atMs, feed, data } = delivery;
  const body = JSON.stringify({ id, type, at: isoInstant(atMs), feed, workspace, data });
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'patchbay',
    ...webhookHeaders({ id, atMs: clock.nowMs(), body }, secret),
  };
  return failureOf(await client.post({ url, headers, body }, signal), clock.nowMs());
}

/** Null: it was accepted. */
function failureOf(end: PostEnd, nowMs: number): Failure | null {
  const failed = { code: failedCode, isFinal: false, retryAfterMs: null };
  if (end.kind === 'noAnswer') return { ...failed, message: `the webhook did not answer (${end.code})` };
  const { status } = end;
  if (status >= 200 && status < 300) return null;
  if (status === 410) {
    return { ...failed, code: 'webhookGone', message: 'the webhook answered 410: it is gone', isFinal: true };
  }
  const redirect = status >= 300 && status < 400 ? ', a redirect, which is not followed' : '';
  return {
    ...failed,
    message: `the webhook answered ${status}${redirect}`,
    retryAfterMs: parseRetryAfter(end.retryAfter, nowMs, retryAfterMaxMs),
  };
}

function logOnce({ logged, log }: DeliverParts, code: string, message: string, facts: { reason?: string } = {}): void {
  if (logged.has(code)) return;
  logged.add(code);
  log.warn({ code, ...facts }, message);
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** After the first attempt, the second, …: nine attempts within about a day. */
export const retryDelaysMs: readonly number[] = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  12 * hour,
];
/** The largest random addition, as a share, so that deliveries that failed together do not come back together. */
const jitterShare = 0.2;
/** A longer `Retry-After` counts as this. */
export const retryAfterMaxMs = 6 * hour;

/**
 * Milliseconds until the next attempt after `attempts` failed ones; null: there is none.
 * @param chance from 0 up to 1.
 * @param retryAfterMs what the receiver asks for; it never shortens the wait.
 */
export function retryDelayMs(attempts: number, chance: number, retryAfterMs: number | null): number | null {
  const delayMs = retryDelaysMs[attempts - 1];
  if (delayMs === undefined) return null;
  const askedMs = Math.min(retryAfterMs ?? 0, retryAfterMaxMs);
  return Math.round(Math.max(delayMs * (1 + jitterShare * chance), askedMs));
}

/**
 * The secret that deliveries are signed with, as bytes; null if none is set. A secret file is read on every call, so that a
 * replaced one takes effect.
 * @throws PatchbayError `usage`: what `readNotifySecret` throws; `notifySecretUnusable` if the value is not a secret. The
 *   message never holds it.
 */
async function readSecret(notify: Config['notify']): Promise<Buffer | null> {
  const text = await readNotifySecret(notify);
  if (text === null) return null;
  const bytes = secretBytes(text);
  if (bytes !== null) return bytes;
  throw new PatchbayError('usage', 'notifySecretUnusable', 'the secret of the webhook cannot be used', {
    hint: 'A secret is whsec_ and base64 of at least 16 bytes, or any text of at least 16 characters.',
  });
}
