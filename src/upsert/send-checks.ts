/**
 * The last look before a request leaves: it runs after the rate gate and right before the socket write, so that no
 * wait can make a decision stale (`rules.md`: start guard, lease, age of the read).
 */
import { PatchbayError } from '#src/errors.ts';
import type { UpsertParts } from './parts.ts';

export type SendRefusal = 'leaseTooShort' | 'readTooOld' | 'startedTooLate';

/** Thrown from `beforeSend`: nothing was sent. */
function refuse(code: SendRefusal): never {
  throw new PatchbayError('transient', code, 'the request was not sent: what it rests on is out of date');
}

/** @returns the refusal, or null for any other error. */
export function sendRefusal(error: unknown): SendRefusal | null {
  if (!(error instanceof PatchbayError) || error.kind !== 'transient') return null;
  const { code } = error;
  return code === 'leaseTooShort' || code === 'readTooOld' || code === 'startedTooLate' ? code : null;
}

export interface SendDeadlines {
  /** Monotonic: when the lease ends. */
  readonly leaseUntilMs: number;
  /** Monotonic: the read that the write is planned from. */
  readonly readAtMs?: number;
  /** Monotonic: when the intent was committed. */
  readonly intentAtMs?: number;
}

export function checkBeforeSend(parts: UpsertParts, deadlines: SendDeadlines): () => void {
  const { clock, limits } = parts;
  return () => {
    const now = clock.monotonicMs();
    if (now + limits.requestMs > deadlines.leaseUntilMs) refuse('leaseTooShort');
    if (deadlines.readAtMs !== undefined && now - deadlines.readAtMs > limits.readAgeMaxMs) refuse('readTooOld');
    if (deadlines.intentAtMs !== undefined && now - deadlines.intentAtMs > limits.startGuardMs)
      refuse('startedTooLate');
  };
}
