/**
 * Deliveries of notices: one attempt, and when the next one follows. They arrive at least once: a process that dies between
 * sending and recording it sends again, under the same `webhook-id`.
 *
 * Every failure is retried, also a refusal by the receiver: once a wrong address or secret is corrected, the delivery arrives.
 * Only 410 means that the receiver wants nothing more. A delivery that is accepted brings forward what waits for the same addressee.
 */
import type { Clock } from '#src/clock.ts';
import type { DeliveryEnd, DeliveryRecord } from '#src/ledger/deliveries.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { Logger } from '#src/log.ts';
import { type Addressee, addresseesOf, addresseeWords, addressOf } from './addressees.ts';
import { retryAfterMaxMs, type SendParts, sendTo } from './senders.ts';
import { createWebhookClient, type PostLimits } from './webhook.ts';

/** How often waiting deliveries are checked while no webhook is set. */
const noWebhookRestMs = 60_000;
/** How old they may get then. */
export const noWebhookMaxMs = 3 * 24 * 3_600_000;
const unsignedCode = 'notifyUnsigned';

interface DeliverParts extends Omit<SendParts, 'onUnsigned'> {
  readonly ledger: Pick<Ledger, 'nowMs' | 'deliveries'>;
  readonly log: Logger;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Deliveries that this process is sending. */
  readonly underWay: Set<string>;
  /** Targets and codes that this process has logged; those of failures until a delivery arrives there. */
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
    const { addressee } = addressOf(delivery.feed);
    const addressees = addresseesOf(parts.notify);
    if (addressees.length === 0) await rest(parts);
    else if (addressees.includes(addressee)) await attempt(parts, addressee, delivery, signal);
    else await giveUp(parts, delivery);
  } finally {
    parts.underWay.delete(deliveryId);
  }
}

/** Its addressee was removed from the configuration, and others are there. A person may still have it sent again. */
async function giveUp({ ledger, clock, log }: DeliverParts, delivery: DeliveryRecord): Promise<void> {
  const { addressee } = addressOf(delivery.feed);
  const why = { code: 'noAddressee', message: `${addresseeWords[addressee]} is not configured any more` };
  await ledger.deliveries.tried(delivery.id, clock.nowMs(), { state: 'dead', why });
  log.warn({ ...logFacts(delivery), code: why.code }, 'delivery given up');
}

/** What log lines say of a delivery. The name that it was entered under is that of no feed. */
function logFacts({ id, type, feed }: DeliveryRecord): Readonly<Record<string, string>> {
  return { delivery: id, type, ...addressOf(feed) };
}

/** Deliveries outlive the last addressee that was removed from the configuration, for a while. */
async function rest({ ledger, clock, log }: DeliverParts): Promise<void> {
  const nowMs = clock.nowMs();
  const why = { code: 'noWebhook', message: 'no webhook is configured any more (notify.url)' };
  const given = await ledger.deliveries.expire(nowMs - noWebhookMaxMs, nowMs, why);
  if (given > 0) log.warn({ code: why.code, deliveries: given }, 'deliveries given up');
  await ledger.deliveries.putOff((await ledger.nowMs(clock)) + noWebhookRestMs);
}

async function attempt(
  parts: DeliverParts,
  addressee: Addressee,
  delivery: DeliveryRecord,
  signal: AbortSignal,
): Promise<void> {
  const { clock, ledger } = parts;
  const onUnsigned = (): void => logOnce(parts, addressee, unsignedCode, 'deliveries are not signed: no secret is set');
  const failure = await sendTo(addressee, { ...parts, onUnsigned }, delivery, signal);
  if (failure === null) {
    await ledger.deliveries.tried(delivery.id, clock.nowMs(), { state: 'delivered' });
    // What failed while it was away need not wait for a next try that may be hours off.
    const isTo = (feed: string): boolean => addressOf(feed).addressee === addressee;
    await ledger.deliveries.bringForward(isTo, await ledger.nowMs(clock));
    logRecovery(parts, addressee);
    return;
  }
  const nowMs = await ledger.nowMs(clock);
  // It was brought forward since the addressee accepts others: its own times go on as if there had been no such try.
  const leftMs = (delivery.insteadOfMs ?? 0) - nowMs;
  const extra = leftMs > 0 ? ({ isExtra: true } as const) : {};
  const attempts = delivery.attempts + (leftMs > 0 ? 0 : 1);
  const nextMs =
    leftMs > 0
      ? Math.max(leftMs, failure.retryAfterMs ?? 0)
      : retryDelayMs(attempts, parts.random(), failure.retryAfterMs);
  const delayMs = failure.isFinal ? null : nextMs;
  const asked = failure.retryAfterMs === null ? {} : { notBeforeMs: nowMs + failure.retryAfterMs };
  const end: DeliveryEnd =
    delayMs === null
      ? { state: 'dead', why: failure }
      : { state: 'waiting', why: failure, nextDueAtMs: nowMs + delayMs, ...asked, ...extra };
  await ledger.deliveries.tried(delivery.id, clock.nowMs(), end);
  const { code, message: reason } = failure;
  const facts = { ...logFacts(delivery), code, attempts };
  if (delayMs === null) {
    parts.log.warn({ ...facts, reason }, 'delivery given up');
    return;
  }
  parts.log.debug(facts, 'delivery failed');
  logOnce(parts, addressee, code, troubleOf(addressee, code), { reason });
}

function troubleOf(addressee: Addressee, code: string): string {
  if (code === `${addressee}Failed`)
    return `${addresseeWords[addressee]} does not accept deliveries; they are retried for about a day`;
  return addressee === 'mail'
    ? 'the password of the mail server cannot be used'
    : 'the secret of the webhook cannot be used';
}

/** After this, the next failure is logged again. */
function logRecovery({ logged, log }: DeliverParts, addressee: Addressee): void {
  const wrong = [...logged].filter((name) => name.startsWith(`${addressee} `) && !name.endsWith(unsignedCode));
  if (wrong.length === 0) return;
  for (const name of wrong) logged.delete(name);
  log.info(`${addresseeWords[addressee]} accepts deliveries again`);
}

function logOnce(
  { logged, log }: DeliverParts,
  addressee: Addressee,
  code: string,
  message: string,
  facts: { reason?: string } = {},
): void {
  const name = `${addressee} ${code}`;
  if (logged.has(name)) return;
  logged.add(name);
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
