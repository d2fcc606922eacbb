/**
 * An audit: a look at every key that a run touched, whether exactly one contact has it (`docs/rules.md`, "One contact per
 * key", step 7).
 *
 *     waiting ──chunk by chunk, `position` goes up──▶ done
 *
 * A key is *touched* when the run looked it up or wrote it; rows that were unchanged without a request are not.
 */
import type { KeyHistoryEntry } from './contacts.ts';

/**
 * - `first`: once what the run sent last has landed, if it does, and is seen in lists, all its keys;
 * - `second`: ten minutes later, those that were in doubt while it worked;
 * - `demand`: a person asked for it, all its keys.
 */
export type AuditKind = 'first' | 'second' | 'demand';

/**
 * Which keys are looked at. `touched`: all that the run touched. `settled`: the run ended long enough ago that its keys were
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
interface FoundContact {
  readonly id: string;
  /** As the service reports it. */
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

/** The most findings of one kind that are kept with an audit; the counts go on. */
export const findingsPerKindMax = 10_000;

/** The part of the ledger that holds audits, the keys that runs touched, and what was found. */
export interface AuditEntry {
  readonly runId: string;
  readonly atMs: number;
  /** When the first audit is due, and the second one of the keys that were in doubt; by the ledger's clock. */
  readonly firstDueAtMs: number;
  readonly secondDueAtMs: number;
}

interface AuditDemand {
  readonly runId: string;
  readonly atMs: number;
  readonly dueAtMs: number;
}

/** One chunk of keys was looked at. */
export interface AuditStep {
  /** Where the audit stood: nothing is written where it has moved, since another process looked at the chunk. */
  readonly fromPosition: number;
  readonly toPosition: number;
  readonly checked: number;
  readonly findings: readonly NewFinding[];
  readonly requests: AuditRequests;
}

export interface TouchedKey {
  /** Grows in the order of the file. */
  readonly position: number;
  readonly key: string;
}

export interface AuditLedger {
  /**
   * Before a run is final: keeps the keys it touched, in slices, and then enters its audits at once. Done twice it is done once,
   * also where it was interrupted. A run that touched nothing has a first audit that is done already.
   */
  enter(entry: AuditEntry): Promise<void>;
  /**
   * Enters an audit that a person asked for. Where one of that run waits already, it is that one. Keys that were forgotten
   * are taken from what the ledger still knows (scope `settled`).
   */
  demand(demand: AuditDemand): Promise<AuditRecord>;
  get(id: string): Promise<AuditRecord | null>;
  /** In the order of their entry. */
  ofRun(runId: string): Promise<readonly AuditRecord[]>;
  /** Waiting audits of finished runs that are due by then: those asked for first, then the oldest. */
  nextDue(untilMs: number, limit: number): Promise<readonly AuditRecord[]>;
  /** The next keys to look at, in order; a second audit sees only those that were in doubt. */
  keysAfter(id: string, position: number, limit: number): Promise<readonly TouchedKey[]>;
  /** @returns whether the audit stood where the step began. */
  advance(id: string, step: AuditStep): Promise<boolean>;
  /** Requests of a chunk that was not finished. */
  addRequests(id: string, requests: AuditRequests): Promise<void>;
  /** @returns whether it was waiting. */
  finish(id: string, atMs: number): Promise<boolean>;
  /** In the order they were found. */
  findings(id: string, kind: FindingKind, limit: number): Promise<readonly AuditFinding[]>;
  /** Of each run the newest finished audit, if it found a duplicate; newest first. */
  standing(limit: number): Promise<readonly AuditRecord[]>;
}
