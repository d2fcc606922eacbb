/** Counts what a plan would write, and what carrying it out costs. Pure. */
import type { PlannedContact } from '#src/contacts/planned.ts';
import type { PlanTotals } from '#src/ledger/plans.ts';
import type { RunCounts, RunRecord } from '#src/ledger/runs.ts';
import type { PlannedRecord } from '#src/upsert/plan-records.ts';

/** Changes of values, by what they do. */
type ChangeCounts = Pick<PlanTotals, 'added' | 'changed' | 'cleared' | 'removed' | 'relabelled'>;

export interface PlanCounts extends ChangeCounts {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly skipped: number;
  readonly dead: number;
  readonly linked: number;
  readonly deleted: number;
  /** Updates that are sent: an adopted contact in which nothing differs counts as updated, and costs none. */
  readonly patches: number;
  readonly heldFields: number;
  /** Contacts that the ledger does not know. */
  readonly unknown: number;
  /** Records of which nothing can be said now; those of them whose read fails. */
  readonly unsure: number;
  readonly unread: number;
}

export const noCounts: PlanCounts = {
  ...{
    created: 0,
    updated: 0,
    unchanged: 0,
    skipped: 0,
    dead: 0,
    linked: 0,
    deleted: 0,
    patches: 0,
    heldFields: 0,
    unknown: 0,
  },
  ...{ unsure: 0, unread: 0, added: 0, changed: 0, cleared: 0, removed: 0, relabelled: 0 },
};

export function withRecord(counts: PlanCounts, record: PlannedRecord): PlanCounts {
  if (record.is === 'unsure')
    return { ...counts, unsure: counts.unsure + 1, unread: counts.unread + (record.why === 'unread' ? 1 : 0) };
  if (record.is === 'ended') return { ...counts, [record.end.outcome]: counts[record.end.outcome] + 1 };
  const { contact, outcome, isUnknown } = record;
  const { deed, changes, held } = contact;
  const values = { ...counts };
  // What a contact holds that is deleted is no removal: the contact is counted.
  if (deed !== 'delete') for (const { why } of changes) values[why] += 1;
  return {
    ...values,
    [outcome]: counts[outcome] + 1,
    linked: counts.linked + (deed === 'link' ? 1 : 0),
    deleted: counts.deleted + (deed === 'delete' ? 1 : 0),
    patches: counts.patches + (deed === 'update' || deed === 'link' ? 1 : 0),
    heldFields: counts.heldFields + held.length,
    unknown: counts.unknown + (isUnknown ? 1 : 0),
  };
}

/** How fast a run goes, and what it looks up at once. */
export interface PlanPace {
  /** Null: there is no limit. */
  readonly requestsPerSecond: number | null;
  readonly keysPerLookUp: number;
}

/** @param run as it was staged: rows that need no look-up are counted there. */
export function totalsOf(
  counts: PlanCounts,
  run: Pick<RunRecord, 'counts' | 'look'>,
  { requestsPerSecond, keysPerLookUp }: PlanPace,
): PlanTotals {
  const { created, updated, unchanged, skipped, dead, linked, deleted, patches, heldFields, unsure } = counts;
  const { added, changed, cleared, removed, relabelled } = counts;
  const looked = created + updated + unchanged + skipped + dead + unsure;
  const get = Math.ceil(looked / keysPerLookUp) + (run.look?.pages ?? 0);
  const staged: RunCounts = run.counts;
  return {
    rows: {
      rows: staged.rows,
      created,
      updated,
      unchanged: staged.unchanged + unchanged,
      skipped: staged.skipped + skipped,
      dead: staged.dead + dead,
    },
    linked,
    deleted,
    ...{ added, changed, cleared, removed, relabelled },
    heldFields: staged.heldFields + heldFields,
    requests: { get, post: created, patch: patches, delete: deleted },
    seconds: requestsPerSecond === null ? null : Math.ceil((get + created + patches + deleted) / requestsPerSecond),
  };
}

/** Whether carrying the plan out would write anything. */
export function hasWrites({ requests }: Pick<PlanTotals, 'requests'>): boolean {
  return requests.post + requests.patch + requests.delete > 0;
}

/** Whether there is anything to show of a contact. */
export function isWorthShowing({ deed, held, notes }: PlannedContact): boolean {
  return deed !== 'none' || held.length > 0 || notes.length > 0;
}

/** What a contact is shown under; one with held fields may be in two groups. */
const groupKinds = ['create', 'link', 'update', 'remove', 'delete', 'held'] as const;
export type GroupKind = (typeof groupKinds)[number];

/** How many contacts there are of each. */
export type GroupCounts = Readonly<Record<GroupKind, number>>;

export const noGroups: GroupCounts = { create: 0, link: 0, update: 0, remove: 0, delete: 0, held: 0 };

export function withContact(counts: GroupCounts, contact: PlannedContact): GroupCounts {
  const next = { ...counts };
  for (const kind of groupKinds) if (isIn(kind, contact)) next[kind] += 1;
  return next;
}

export function isIn(kind: GroupKind, { deed, changes, held }: PlannedContact): boolean {
  const takesAway = changes.some(({ why }) => why === 'cleared' || why === 'removed');
  switch (kind) {
    case 'held':
      return held.length > 0;
    case 'remove':
      return deed === 'update' && takesAway;
    case 'update':
      return deed === 'update' && !takesAway;
    default:
      return deed === kind;
  }
}
