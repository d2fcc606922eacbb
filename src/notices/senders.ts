/**
 * One attempt at one addressee, and what its failure means. The webhook gets the data, signed; people get a sentence with a link.
 *
 * Invariant: no address, secret or answer of a addressee is in a failure's message.
 */
import { isoInstant, type Moment } from '#src/clock.ts';
import type { Config } from '#src/config/schema.ts';
import { readNotifySecret, webhookSecretBytes } from '#src/config/secrets.ts';
import { PatchbayError } from '#src/errors.ts';
import type { DeliveryRecord } from '#src/ledger/deliveries.ts';
import { parseRetryAfter } from '#src/workspace/retry.ts';
import { type Addressee, addresseeWords, addressOf } from './addressees.ts';
import { sendMail } from './mail.ts';
import { type PostEnd, type WebhookClient, webhookHeaders } from './webhook.ts';
import { detailsOf, linkOf, type Notice, sentenceOf, slackBody, teamsBody } from './words.ts';

export interface SendParts {
  readonly clock: Moment;
  readonly notify: Config['notify'];
  /** The workspace as shown to readers: `sandbox` or the service's origin. */
  readonly workspace: string;
  /** `name` of the configuration; null: none. */
  readonly installation: string | null;
  /** Where people reach the page, without a slash at its end; null: notices have no link. */
  readonly pageAddress: string | null;
  readonly client: WebhookClient;
  /** Called where a delivery leaves unsigned. */
  readonly onUnsigned: () => void;
}

export interface Failure {
  /** Stable. */
  readonly code: string;
  readonly message: string;
  /** It is not tried again. */
  readonly isFinal: boolean;
  readonly retryAfterMs: number | null;
}

/** A longer `Retry-After` counts as this. */
export const retryAfterMaxMs = 6 * 3_600_000;

/** @returns null where the addressee accepted it. @throws an `AbortError` if the signal fires: it is sent again. */
export async function sendTo(
  addressee: Addressee,
  parts: SendParts,
  delivery: DeliveryRecord,
  signal: AbortSignal,
): Promise<Failure | null> {
  try {
    return await carryOut(addressee, parts, delivery, signal);
  } catch (error) {
    if (!(error instanceof PatchbayError)) throw error;
    return { code: error.code, message: error.message, isFinal: false, retryAfterMs: null };
  }
}

async function carryOut(
  addressee: Addressee,
  parts: SendParts,
  delivery: DeliveryRecord,
  signal: AbortSignal,
): Promise<Failure | null> {
  const { notify, clock, client, installation, pageAddress } = parts;
  const notice: Notice = { ...delivery, feed: addressOf(delivery.feed).feed };
  if (addressee === 'webhook') return await postSigned(parts, delivery, signal);
  const sentence = sentenceOf(notice, installation);
  const details = detailsOf(notice);
  const link = linkOf(notice, pageAddress);
  if (addressee === 'mail') return await mailIt(parts, { id: delivery.id, sentence, details, link }, signal);
  const url = addressee === 'slack' ? notify.slack.url : notify.teams.url;
  if (url === null) return { code: 'noAddressee', message: 'it is not configured', isFinal: true, retryAfterMs: null };
  const body = addressee === 'slack' ? slackBody(sentence, link, details) : teamsBody(sentence, link, details);
  const headers = { 'content-type': 'application/json', 'user-agent': 'patchbay' };
  return failureOf(addressee, await client.post({ url, headers, body }, signal), clock.nowMs());
}

async function postSigned(parts: SendParts, delivery: DeliveryRecord, signal: AbortSignal): Promise<Failure | null> {
  const { clock, client, notify, workspace, installation, onUnsigned } = parts;
  const { url } = notify;
  if (url === null) return { code: 'noAddressee', message: 'it is not configured', isFinal: true, retryAfterMs: null };
  const secret = await readWebhookSecret(notify);
  if (secret === null) onUnsigned();
  const { id, type, atMs, feed, data } = delivery;
  const named = installation === null ? {} : { installation };
  const body = JSON.stringify({ id, type, at: isoInstant(atMs), feed, workspace, ...named, data });
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'patchbay',
    ...webhookHeaders({ id, atMs: clock.nowMs(), body }, secret),
  };
  return failureOf('webhook', await client.post({ url, headers, body }, signal), clock.nowMs());
}

interface MailWords {
  readonly id: string;
  readonly sentence: string;
  readonly details: readonly string[];
  readonly link: string | null;
}

async function mailIt(
  { notify, workspace }: SendParts,
  { id, sentence, details, link }: MailWords,
  signal: AbortSignal,
): Promise<Failure | null> {
  const lines = [
    sentence,
    ...details,
    ...(link === null ? [] : ['', link]),
    '',
    `Workspace: ${workspace}`,
    `Notice: ${id}`,
  ];
  const end = await sendMail(notify.mail, { id, subject: sentence, text: `${lines.join('\n')}\n` }, signal);
  if (end.kind === 'accepted') return null;
  const status = end.status === null ? '' : ` with ${end.status}`;
  const message = `${addresseeWords.mail} did not take the e-mail: it failed${status} (${end.code})`;
  return { code: 'mailFailed', message, isFinal: false, retryAfterMs: null };
}

/** Null: it was accepted. */
function failureOf(addressee: Addressee, end: PostEnd, nowMs: number): Failure | null {
  const words = addresseeWords[addressee];
  const failed = { code: `${addressee}Failed`, isFinal: false, retryAfterMs: null };
  if (end.kind === 'noAnswer') return { ...failed, message: `${words} did not answer (${end.code})` };
  const { status } = end;
  if (status >= 200 && status < 300) return null;
  if (status === 410) {
    return { ...failed, code: `${addressee}Gone`, message: `${words} answered 410: it is gone`, isFinal: true };
  }
  const redirect = status >= 300 && status < 400 ? ', a redirect, which is not followed' : '';
  return {
    ...failed,
    message: `${words} answered ${status}${redirect}`,
    retryAfterMs: parseRetryAfter(end.retryAfter, nowMs, retryAfterMaxMs),
  };
}

/**
 * The secret that deliveries are signed with, as bytes; null if none is set. A secret file is read on every call, so that a
 * replaced one takes effect.
 * @throws PatchbayError `usage`: what `readNotifySecret` throws; `notifySecretUnusable` if the value is not a secret. The
 *   message never holds it.
 */
export async function readWebhookSecret(notify: Config['notify']): Promise<Buffer | null> {
  const text = await readNotifySecret(notify);
  if (text === null) return null;
  const bytes = webhookSecretBytes(text);
  if (bytes !== null) return bytes;
  throw new PatchbayError('usage', 'notifySecretUnusable', 'the secret of the webhook cannot be used', {
    hint: 'A secret is whsec_ and base64 of at least 16 bytes, or any text of at least 16 characters.',
  });
}
