/**
 * An audit: a look at every key that a run touched, whether exactly one contact has it (`rules.md`, "One contact per
 * key", step 7).
 *
 *     waiting ──chunk by chunk, `position` goes up──▶ done
 *
 * A key is *touched* when the run looked it up or wrote it; rows that were unchanged without a request are not.
 */
import type { KeyHistoryEntry } from './key-event.ts';

/**
 * - `first`: once what the run sent last has landed, if it does, and is seen in lists, all its keys;
 * - `second`: ten minutes later, those that were in doubt while it worked;
 * - `demand`: a person asked for it, all its keys.
 */
export type AuditKind = 'first' | 'second' | 'demand';

/**
 * Which keys are looked at. `touched`: all that the run touched. `settled`: the run ended so long ago that its keys were
 * forgotten, or before keys were kept: those whose latest settled row is the run's, and those it bound.
 */
export type AuditScope = 'touched' | 'settled';

export interface AuditRequests {
  readonly get: number;
  readonly retried: number;
  readonly rateLimited: number;
}

export const zeroAuditRequests: AuditRequests = { get: 0, retried: 0, rateLimited: 0 };

export interface AuditRecord {
  readonly id: string;
  readonly runId: string;
  readonly kind: AuditKind;
  readonly scope: AuditScope;
  readonly state: 'waiting' | 'done';
  readonly enteredAtMs: number;
  /** Not before, by the ledger's clock. */
  readonly dueAtMs: number;
  readonly finishedAtMs: number | null;
  readonly keyCount: number;
  /** The last key that was looked at; 0 before the first. */
  readonly position: number;
  readonly checked: number;
  readonly duplicates: number;
  readonly missing: number;
  /** Keys whose own look-up the service refuses or fails, while those of others pass. */
  readonly unchecked: number;
  readonly requests: AuditRequests;
}

/** A contact of the service, as a finding names it. */
export interface FoundContact {
  readonly id: string;
  /** As the service tells it. */
  readonly createdAt: string | null;
  readonly source: string | null;
}

/**
 * - `duplicate`: two contacts or more have the key;
 * - `missing`: the ledger has the key bound, and no contact has it;
 * - `unchecked`: the service did not answer for this key.
 */
export type FindingKind = 'duplicate' | 'missing' | 'unchecked';

export interface NewFinding {
  readonly key: string;
  readonly kind: FindingKind;
  /** Empty unless the key is a duplicate. */
  readonly contacts: readonly FoundContact[];
  /** The stable code of the error, where the key is unchecked. */
  readonly code: string | null;
}

/** What the ledger knew of the key when it was found. */
export interface AuditFinding extends NewFinding {
  /** The contact that the key is bound to. */
  readonly boundTo: string | null;
  /** Null where that was before this was remembered. */
  readonly boundRun: string | null;
  readonly boundAtMs: number | null;
  /** Oldest first; empty where the key was never in doubt. */
  readonly history: readonly KeyHistoryEntry[];
}

/** At most so many findings of one kind are kept with an audit; the counts go on. */
export const findingsPerKindMax = 10_000;
