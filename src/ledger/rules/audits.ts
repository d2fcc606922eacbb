/**
 * Rules on audits (`docs/rules.md`, "One contact per key", step 7): which keys a run touched, and which audits look at them. Pure.
 */
import {
  type AuditEntry,
  type AuditKind,
  type AuditRecord,
  type AuditRequests,
  type AuditScope,
  type AuditStep,
  findingsPerKindMax,
  type NewFinding,
  zeroAuditRequests,
} from '#src/ledger/audits.ts';
import type { RecordEnd } from '#src/ledger/staging.ts';
import type { KeyRows } from '#src/ledger/tables/keys.ts';
import type { RowState } from '#src/ledger/tables/runs.ts';

/** A staged row of a run, with what the ledger knows of its key. */
export interface TouchFacts {
  /** A create of the key is in doubt, whichever run's. */
  readonly isIntent: boolean;
  /** The create that is in doubt is this run's. */
  readonly intendedByRun: boolean;
  readonly boundByRun: boolean;
  /** A piece of work holds the key. */
  readonly isLeased: boolean;
  /** The key's history has a doubt of this run. */
  readonly doubtedInRun: boolean;
  readonly position: number;
  readonly key: string;
  /** Null while it is pending. */
  readonly outcome: RecordEnd['outcome'] | null;
  /** An update was sent, or was about to be. */
  readonly sent: boolean;
  /** The row was ended while the file was read: it was never looked up. */
  readonly isWithdrawn: boolean;
}

/** @param rows absent where the ledger has never met the key. */
export function touchFactsOf(
  run: { readonly id: string; readonly sequence: number },
  { position, key, outcome, sent }: RowState,
  rows: Pick<KeyRows, 'contact' | 'flight'> | undefined,
  doubtedInRun: boolean,
): TouchFacts {
  const intentRun = rows?.flight?.intentRun ?? null;
  return {
    ...{ position, key, sent, doubtedInRun, isWithdrawn: outcome === 'withdrawn' },
    outcome: outcome === 'cancelled' || outcome === 'withdrawn' ? 'skipped' : outcome,
    isIntent: intentRun !== null,
    intendedByRun: intentRun === run.id,
    boundByRun: rows?.contact?.boundRun === run.sequence,
    isLeased: (rows?.flight?.owner ?? null) !== null,
  };
}

/**
 * How a row touched its key; null where it did not. Touched is
 * - a row that reached its contact, or found that it needs nothing;
 * - a row that was rejected while it was applied;
 * - a row that was skipped while something of it was on its way: an update, an intent, a contact that was bound after all, and
 *   in a cancelled run whatever a worker still holds. Superseded rows and contacts that are gone are not touched.
 *
 * In doubt is what the run's own history says, what still is an intent, and whatever was skipped on its way.
 */
export function touchOf(row: TouchFacts, isRunCancelled: boolean): { readonly inDoubt: boolean } | null {
  const { outcome, isWithdrawn, doubtedInRun, intendedByRun, isIntent } = row;
  if (outcome === null || isWithdrawn) return null;
  const isOnItsWay = row.sent || doubtedInRun || intendedByRun || row.boundByRun || (isRunCancelled && row.isLeased);
  if (outcome === 'skipped') return isOnItsWay ? { inDoubt: true } : null;
  return { inDoubt: doubtedInRun || intendedByRun || isIntent };
}

/** A key that a run touched, at the position of its first row. */
export interface Touch {
  readonly position: number;
  readonly key: string;
  readonly inDoubt: boolean;
}

/** The touched keys of the rows, which come ordered by key; those of one key must not be split between two calls. */
export function touchesOf(rows: readonly TouchFacts[], isRunCancelled: boolean): readonly Touch[] {
  const touches = new Map<string, Touch>();
  for (const row of rows) {
    const touch = touchOf(row, isRunCancelled);
    if (touch === null) continue;
    const { key } = row;
    const known = touches.get(key);
    touches.set(key, {
      key,
      position: Math.min(row.position, known?.position ?? row.position),
      inDoubt: touch.inDoubt || known?.inDoubt === true,
    });
  }
  return [...touches.values()];
}

export interface NewAudit {
  readonly kind: AuditKind;
  readonly scope: AuditScope;
  readonly atMs: number;
  readonly dueAtMs: number;
  readonly keyCount: number;
  /** There is nothing to look at. */
  readonly done: boolean;
}

/** An audit as it is kept. */
export interface KeptAudit extends AuditRecord {
  readonly runSequence: number;
  /** It is the newest of its run that is done, and found a duplicate. */
  readonly stands: boolean;
  /** Findings of it are kept. */
  readonly hasFindings: boolean;
}

export function keptAudit(
  id: string,
  run: { readonly id: string; readonly sequence: number },
  audit: NewAudit,
): KeptAudit {
  const { kind, scope, atMs, dueAtMs, keyCount, done } = audit;
  return {
    ...{ id, runId: run.id, runSequence: run.sequence, kind, scope, enteredAtMs: atMs, dueAtMs, keyCount },
    ...{ state: done ? 'done' : 'waiting', finishedAtMs: done ? atMs : null, position: 0, checked: 0 },
    ...{ duplicates: 0, missing: 0, unchecked: 0, requests: zeroAuditRequests, stands: false, hasFindings: false },
  };
}

/** How audits are told apart in lists: those that were asked for come first. */
export type AuditGroup = 'asked' | 'waiting' | 'standing' | 'found' | 'done';

export function groupOf({ state, kind, stands, hasFindings }: KeptAudit): AuditGroup {
  if (state === 'waiting') return kind === 'demand' ? 'asked' : 'waiting';
  if (stands) return 'standing';
  return hasFindings ? 'found' : 'done';
}

export function withRequests(audit: KeptAudit, { get, retried, rateLimited }: AuditRequests): KeptAudit {
  const { requests } = audit;
  return {
    ...audit,
    requests: {
      get: requests.get + get,
      retried: requests.retried + retried,
      rateLimited: requests.rateLimited + rateLimited,
    },
  };
}

const counterOf = { duplicate: 'duplicates', missing: 'missing', unchecked: 'unchecked' } as const;

/** A finding that is kept, as the so-manieth of its kind. */
export interface PlacedFinding {
  readonly finding: NewFinding;
  readonly ordinal: number;
}

/** The audit after a step, and those of its findings that are kept; null where another process has looked at the chunk. */
export function stepped(
  audit: KeptAudit,
  { fromPosition, toPosition, checked, findings }: AuditStep,
): { readonly audit: KeptAudit; readonly kept: readonly PlacedFinding[] } | null {
  if (audit.state !== 'waiting' || audit.position !== fromPosition) return null;
  let next: KeptAudit = { ...audit, position: toPosition, checked: audit.checked + checked };
  const kept: PlacedFinding[] = [];
  for (const finding of findings) {
    const counter = counterOf[finding.kind];
    const ordinal = next[counter] + 1;
    next = { ...next, [counter]: ordinal };
    if (ordinal <= findingsPerKindMax) kept.push({ finding, ordinal });
  }
  return { audit: { ...next, hasFindings: next.hasFindings || kept.length > 0 }, kept };
}

/** Those of a run's audits that begin or cease to stand. @param audits all of the run, in the order of their entry. */
export function newStanding(audits: readonly KeptAudit[]): readonly KeptAudit[] {
  const newest = audits.findLast(({ state }) => state === 'done');
  return audits.flatMap((audit) => {
    const stands = audit === newest && audit.duplicates > 0;
    return stands === audit.stands ? [] : [{ ...audit, stands }];
  });
}

/** The audits of a run at its end: of all its keys, and later once more of those in doubt. */
export function auditsAfter(
  { atMs, firstDueAtMs, secondDueAtMs }: AuditEntry,
  keyCount: number,
  doubtCount: number,
): readonly NewAudit[] {
  const common = { scope: 'touched', atMs } as const;
  const first: NewAudit = { ...common, kind: 'first', dueAtMs: firstDueAtMs, keyCount, done: keyCount === 0 };
  if (doubtCount === 0) return [first];
  return [first, { ...common, kind: 'second', dueAtMs: secondDueAtMs, keyCount: doubtCount, done: false }];
}

/**
 * Which keys an audit on demand can look at.
 * @param firstKeyCount of the run's first audit; null where the run ended before there were audits.
 * @param wasGathered an earlier audit of the run had to gather its keys from elsewhere.
 * @param knownCount how many touched keys of the run are kept now.
 */
export function scopeOnDemand(firstKeyCount: number | null, wasGathered: boolean, knownCount: number): AuditScope {
  if (firstKeyCount === null) return 'settled';
  if (firstKeyCount === 0) return 'touched';
  return wasGathered || knownCount === 0 ? 'settled' : 'touched';
}
