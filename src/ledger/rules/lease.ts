/**
 * Who may work on a key: the rule behind `ContactLedger.lease`, pure, so that every ledger decides alike
 * (`rules.md`, "One contact per key", step 1).
 *
 * The caller holds the row, so that the decision and what follows from it are one transaction.
 */
import type { LeaseMoment, LeaseRequest } from '#src/ledger/contacts.ts';

/** What the rule looks at. Times are monotonic, each with the boot that it belongs to. */
export interface LeaseFacts {
  readonly owner: string | null;
  readonly leaseUntilMs: number | null;
  readonly leaseBoot: string | null;
  /** Null while no write is on its way. */
  readonly horizonMs: number | null;
  readonly horizonBoot: string | null;
  /** Of the newest row of this feed that was settled, found unchanged, or is about to be written; 0 before the first. */
  readonly spokenSequence: number;
}

type LeaseDecision =
  | { readonly kind: 'leased' }
  | { readonly kind: 'held'; readonly waitMs: number }
  /** `startsAnew`: the horizon is of another boot and is to be entered again, in full, from now on. */
  | { readonly kind: 'horizon'; readonly waitMs: number; readonly startsAnew: boolean }
  | { readonly kind: 'superseded' };

/** `facts` is null for a key that the ledger does not know. */
export function decideLease(request: LeaseRequest, sequence: number, facts: LeaseFacts | null): LeaseDecision {
  if (facts === null) return { kind: 'leased' };
  if (facts.spokenSequence > sequence) return { kind: 'superseded' };
  const heldMs = leaseLeftMs(request, facts);
  if (heldMs > 0) return { kind: 'held', waitMs: heldMs };
  if (facts.horizonMs === null) return { kind: 'leased' };
  if (facts.horizonBoot !== request.bootId) return { kind: 'horizon', waitMs: request.horizonMs, startsAnew: true };
  const waitMs = facts.horizonMs - request.nowMonotonicMs;
  return waitMs > 0 ? { kind: 'horizon', waitMs, startsAnew: false } : { kind: 'leased' };
}

/** Whether a piece of work may be writing the key right now. */
export function isAtWork(at: LeaseMoment, facts: LeaseFacts): boolean {
  return leaseLeftMs({ ...at, owner: null }, facts) > 0;
}

/** How long another owner may still work on the key. Leases of another boot, and of dead processes, are void. */
function leaseLeftMs(
  request: LeaseMoment & { readonly owner: string | null },
  { owner, leaseUntilMs, leaseBoot }: LeaseFacts,
): number {
  if (owner === null || owner === request.owner || leaseBoot !== request.bootId) return 0;
  if (request.isOwnerDead(owner)) return 0;
  return Math.max(0, (leaseUntilMs ?? 0) - request.nowMonotonicMs);
}
