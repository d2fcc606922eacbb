/**
 * Rules on who may work on a key (`docs/rules.md`, "One contact per key", step 1). Pure, so that every ledger decides alike: the
 * caller reads the facts, and writes the change, in one transaction.
 */
import type { Claim } from '#src/contacts/claim.ts';
import type { LeaseMoment, LeaseRequest } from '#src/ledger/contacts.ts';
import type { ContactChange } from './contact.ts';

/** What the rule looks at. Times are instants of the ledger's clock. */
export interface LeaseFacts {
  readonly owner: string | null;
  readonly leaseUntilMs: number | null;
  /** Null while no write is on its way. */
  readonly horizonAtMs: number | null;
  /** Of the newest row of the request's feed that was settled, or found unchanged; 0 before the first. */
  readonly settledSequence: number;
  /** Of the write that is on its way or in doubt, whichever feed's. */
  readonly claim: Pick<Claim, 'feed' | 'sequence'> | null;
}

/** `change`: what is to be written with the answer; null where nothing is. */
export type LeaseDecision = { readonly change: ContactChange | null } & (
  | { readonly kind: 'leased' }
  | { readonly kind: 'held'; readonly waitMs: number }
  | { readonly kind: 'horizon'; readonly waitMs: number }
  | { readonly kind: 'superseded' }
);

/** @param sequence of the run whose file holds the row. */
export function decideLease(request: LeaseRequest, sequence: number, facts: LeaseFacts): LeaseDecision {
  const { owner, nowMs, leaseMs } = request;
  if (newestSequence(facts, request.feed) > sequence) return { kind: 'superseded', change: null };
  const heldMs = leaseLeftMs(request, facts);
  if (heldMs > 0) return { kind: 'held', waitMs: heldMs, change: null };
  const waitMs = facts.horizonAtMs === null ? 0 : facts.horizonAtMs - nowMs;
  if (waitMs > 0) return { kind: 'horizon', waitMs, change: null };
  return { kind: 'leased', change: { lease: { owner, untilMs: nowMs + leaseMs } } };
}

/** Of the newest row of the feed that was settled, found unchanged, or is about to be written; 0 before the first. */
export function newestSequence({ settledSequence, claim }: LeaseFacts, feed: string): number {
  return claim?.feed === feed ? Math.max(settledSequence, claim.sequence) : settledSequence;
}

/** Whether a piece of work may be writing the key right now. */
export function isAtWork(at: LeaseMoment, facts: LeaseFacts): boolean {
  return leaseLeftMs({ ...at, owner: null }, facts) > 0;
}

/** How long another owner may still work on the key. Leases of dead processes are void. */
function leaseLeftMs(
  request: LeaseMoment & { readonly owner: string | null },
  { owner, leaseUntilMs }: LeaseFacts,
): number {
  if (owner === null || owner === request.owner || request.isOwnerDead(owner)) return 0;
  return Math.max(0, (leaseUntilMs ?? 0) - request.nowMs);
}
