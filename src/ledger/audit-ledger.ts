/** The part of the ledger that holds audits, the keys that runs touched, and what was found. */
import type { AuditFinding, AuditRecord, AuditRequests, FindingKind, NewFinding } from './audit-record.ts';

export interface AuditEntry {
  readonly runId: string;
  readonly atMs: number;
  /** When the first audit is due, and the second one of the keys that were in doubt; by the ledger's clock. */
  readonly firstDueAtMs: number;
  readonly secondDueAtMs: number;
}

export interface AuditDemand {
  readonly runId: string;
  readonly atMs: number;
  readonly dueAtMs: number;
}

/** One chunk of keys was looked at. */
export interface AuditStep {
  /** Where the audit stood: nothing is written where it stands elsewhere, since somebody else looked at the chunk. */
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
   * Before a run is final: keeps the keys it touched and enters its audits, all at once. Done twice it is done once. A
   * run that touched nothing has a first audit that is done already.
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
  waitingCount(): Promise<number>;
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
  /** Of each run the newest audit that is done, where it found a duplicate; newest first. */
  standing(limit: number): Promise<readonly AuditRecord[]>;
  /**
   * Forgets keys, findings and histories of runs that ended before that moment; counts stay. What waits is kept.
   */
  forget(beforeMs: number): Promise<void>;
}
