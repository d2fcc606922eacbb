/**
 * Rules on audits (`docs/rules.md`, "One contact per key", step 7): which keys a run touched, and which audits look at them. Pure.
 */
import type { AuditEntry, AuditKind, AuditScope } from '#src/ledger/audits.ts';
import type { RecordEnd } from '#src/ledger/staging.ts';

/** A staged row of a run, with what the ledger knows of its key. */
export interface TouchFacts {
  readonly position: number;
  readonly key: string;
  /** Null while it is pending. */
  readonly outcome: RecordEnd['outcome'] | null;
  /** An update was sent, or was about to be. */
  readonly sent: boolean;
  /** The row was ended while the file was read: it was never looked up. */
  readonly isWithdrawn: boolean;
  /** A create of the key is in doubt, whichever run's. */
  readonly isIntent: boolean;
  /** The create that is in doubt is this run's. */
  readonly intendedByRun: boolean;
  readonly boundByRun: boolean;
  /** A piece of work holds the key. */
  readonly isLeased: boolean;
  /** The key's history has a doubt of this run. */
  readonly doubtedInRun: boolean;
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
