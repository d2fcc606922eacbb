/** Rules on deliveries (`docs/rules.md`, "Snapshots"; notices): how a try ends, which one is next, and which die where too many wait. Pure. */
import {
  type DeliveryEnd,
  type DeliveryFailure,
  type DeliveryKind,
  type DeliveryRecord,
  type NewDelivery,
  waitingMax,
} from '#src/ledger/deliveries.ts';

export interface KeptDelivery extends DeliveryRecord {
  /** Since it was entered, or a person asked for it again. */
  readonly waitsSinceMs: number;
  /** See `DeliveryEnd`. By the ledger's clock. */
  readonly notBeforeMs?: number;
  /** When its next try was brought forward last, by the ledger's clock. */
  readonly broughtForwardMs?: number;
}

/** How deliveries are told apart in lists: those that wait by their kind. */
export type DeliveryGroup = 'noticeWaits' | 'changeWaits' | Exclude<DeliveryRecord['state'], 'waiting'>;

export const waitsAs: Readonly<Record<DeliveryKind, DeliveryGroup>> = { notice: 'noticeWaits', change: 'changeWaits' };

export function groupOf({ state, kind }: DeliveryRecord): DeliveryGroup {
  return state === 'waiting' ? waitsAs[kind] : state;
}

export function groupsOf(state: DeliveryRecord['state']): readonly DeliveryGroup[] {
  return state === 'waiting' ? Object.values(waitsAs) : [state];
}

/** Due at once, whatever the wall clock says. */
export function entered(delivery: NewDelivery): KeptDelivery {
  const none = { attempts: 0, dueAtMs: 0, endedAtMs: null, code: null, message: null };
  return { ...delivery, ...none, state: 'waiting', waitsSinceMs: delivery.atMs };
}

export function tried(delivery: KeptDelivery, atMs: number, end: DeliveryEnd): KeptDelivery {
  const { code, message } = end.state === 'delivered' ? { code: null, message: null } : end.why;
  const { notBeforeMs: _past, insteadOfMs: _brought, ...kept } = delivery;
  const isExtra = end.state === 'waiting' && end.isExtra === true;
  const after = { ...kept, attempts: delivery.attempts + (isExtra ? 0 : 1), state: end.state, code, message };
  if (end.state !== 'waiting') return { ...after, endedAtMs: atMs };
  const asked = end.notBeforeMs === undefined ? {} : { notBeforeMs: end.notBeforeMs };
  return {
    ...after,
    ...asked,
    dueAtMs: end.nextDueAtMs,
    failingSinceMs: delivery.failingSinceMs ?? atMs,
    failedAtMs: atMs,
  };
}

/** One that is refused for its own sake, while others are accepted, is tried no more often than this by their success. */
const broughtForwardEveryMs = 10 * 60_000;

/** Its addressee accepts deliveries. Null: it is due no sooner for that. @param nowMs by the ledger's clock. */
export function broughtForward(delivery: KeptDelivery, nowMs: number): KeptDelivery | null {
  const { dueAtMs, notBeforeMs = 0, broughtForwardMs = Number.NEGATIVE_INFINITY } = delivery;
  if (nowMs - broughtForwardMs < broughtForwardEveryMs) return null;
  const soonestMs = Math.max(nowMs, notBeforeMs);
  if (soonestMs >= dueAtMs) return null;
  return { ...delivery, dueAtMs: soonestMs, broughtForwardMs: nowMs, insteadOfMs: delivery.insteadOfMs ?? dueAtMs };
}

export function dead(delivery: KeptDelivery, atMs: number, { code, message }: DeliveryFailure): KeptDelivery {
  return { ...delivery, state: 'dead', endedAtMs: atMs, code, message };
}

/** A person asks for it: what its tries left behind is past. */
export function again(tried: KeptDelivery, atMs: number): KeptDelivery {
  const {
    notBeforeMs: _asked,
    broughtForwardMs: _brought,
    insteadOfMs: _instead,
    failingSinceMs: _failing,
    failedAtMs: _failed,
    ...delivery
  } = tried;
  return { ...delivery, state: 'waiting', attempts: 0, waitsSinceMs: atMs, dueAtMs: 0, endedAtMs: null };
}

/** How many of each kind die, the oldest first: changes before notices, which are few, and for which a person waits. */
export function tooMany(waiting: Readonly<Record<DeliveryKind, number>>): Readonly<Record<DeliveryKind, number>> {
  const excess = Math.max(0, waiting.notice + waiting.change - waitingMax);
  const change = Math.min(excess, waiting.change);
  return { change, notice: excess - change };
}

export const tooManyWait: DeliveryFailure = {
  code: 'tooManyWaiting',
  message: `more than ${waitingMax} deliveries waited for the webhook`,
};
