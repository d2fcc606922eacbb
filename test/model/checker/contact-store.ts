/**
 * Leases, intents and bindings in memory: what `src/ledger/sqlite/sqlite-contacts.ts` does, as plain functions. Each is one
 * transaction. The rule of leases is the real one.
 */
import type { ClaimRequest, Doubt, IntentRequest, WrittenContact } from '#src/ledger/contact-ledger.ts';
import type { ContactRecord, LeaseRequest, LeaseResult } from '#src/ledger/contact-record.ts';
import { decideLease, type LeaseFacts } from '#src/ledger/lease-rule.ts';
import { type ContactRow, copyTables, nameOf, type Tables } from './tables.ts';

const nobodyOwns = { emails: [], phones: [], customFields: [] } as const;

/** The rules that guards consist of; the proofs switch them off one at a time. */
export interface LedgerRules {
  readonly decideLease: typeof decideLease;
  /** Whether a power cut leaves the intents in place. */
  readonly intentIsDurable: boolean;
  /** Whether an owner that lost its lease may still settle. */
  readonly settleIsFenced: boolean;
}

export const realRules: LedgerRules = { decideLease, intentIsDurable: true, settleIsFenced: true };

export interface ContactStore {
  get(keys: readonly string[]): ReadonlyMap<string, ContactRecord>;
  lease(request: LeaseRequest): ReadonlyMap<string, LeaseResult>;
  intend(request: IntentRequest): readonly string[];
  claimItems(request: ClaimRequest): void;
  unclaimItems(owner: string, contacts: readonly WrittenContact[]): void;
  withdrawIntents(owner: string, contacts: readonly WrittenContact[]): void;
  noteDoubt(owner: string, doubt: Doubt): void;
  release(owner: string, keys: readonly string[]): void;
  sampleBound(limit: number): readonly { key: string; contactId: string }[];
}

/** `holder`: the tables of the moment, and those that a power cut would leave. */
export interface TableHolder {
  tables: Tables;
  durable: Tables;
}

export function createContactStore(holder: TableHolder, rules: LedgerRules): ContactStore {
  const rowOf = (key: string): ContactRow | null => holder.tables.contacts.get(key) ?? null;
  const update = (
    key: string,
    owner: string | null,
    change: (row: ContactRow) => Partial<ContactRow> | null,
  ): boolean => {
    const row = rowOf(key);
    if (row === null || (owner !== null && row.owner !== owner)) return false;
    const changed = change(row);
    if (changed === null) return false;
    holder.tables.contacts.set(key, { ...row, ...changed });
    return true;
  };

  const leaseOne = (request: LeaseRequest, key: string, sequence: number): LeaseResult => {
    const { owner, leaseMs, nowMonotonicMs: now, bootId } = request;
    const row = rowOf(key);
    const decision = rules.decideLease(request, sequence, row === null ? null : leaseFacts(row));
    if (decision.kind === 'horizon') {
      const { kind, waitMs, startsAnew } = decision;
      if (startsAnew) update(key, null, () => ({ horizonMs: now + waitMs, horizonBoot: bootId }));
      return { kind, waitMs };
    }
    if (decision.kind !== 'leased') return decision;
    const lease = { owner, leaseUntilMs: now + leaseMs, leaseBoot: bootId };
    holder.tables.contacts.set(key, { ...(row ?? unknownRow(key)), ...lease });
    return {
      kind: 'leased',
      contact: row === null ? { ...toContact(unknownRow(key)), state: 'none' } : toContact(row),
    };
  };

  return {
    get: (keys) =>
      new Map(
        keys.flatMap((key) => {
          const row = rowOf(key);
          return row === null ? [] : [[key, toContact(row)] as const];
        }),
      ),
    lease: (request) => new Map(request.keys.map(({ key, sequence }) => [key, leaseOne(request, key, sequence)])),
    intend: ({ contacts, owner, runId, bootId, horizonMonotonicMs }) => {
      const horizon = { horizonMs: horizonMonotonicMs, horizonBoot: bootId };
      const intended = contacts.filter(({ key, owned, sequence }) =>
        update(key, owner, (row) => {
          if (row.state === 'bound') return null;
          const writtenSequence = Math.max(row.writtenSequence, sequence);
          return { state: 'intent', owned, intentRun: runId, writtenSequence, ...horizon };
        }),
      );
      if (rules.intentIsDurable) holder.durable = copyTables(holder.tables);
      return intended.map(({ key }) => key);
    },
    claimItems: ({ contacts, owner, runId, bootId, horizonMonotonicMs }) => {
      for (const { key, owned, position, claim, landed } of contacts) {
        const horizon = { horizonMs: horizonMonotonicMs, horizonBoot: bootId };
        const isHeld = update(key, owner, (row) => {
          const writtenSequence = Math.max(row.writtenSequence, claim?.sequence ?? 0);
          const seen = landed?.seen ?? row.seen;
          return { owned, claim, seen, writtenSequence, ...horizon };
        });
        if (!isHeld) continue;
        if (landed !== undefined) {
          holder.tables.said.set(nameOf(landed.feed, key), {
            key,
            said: landed.said,
            rowHash: null,
            fingerprint: null,
          });
        }
        const name = nameOf(runId, position);
        const staged = holder.tables.staged.get(name);
        if (staged !== undefined) {
          holder.tables.staged.set(name, { ...staged, record: { ...staged.record, sent: true } });
        }
      }
      if (rules.intentIsDurable) holder.durable = copyTables(holder.tables);
    },
    unclaimItems: (owner, contacts) => {
      for (const { key, owned } of contacts)
        update(key, owner, () => ({ owned, ...noClaim, horizonMs: null, horizonBoot: null }));
    },
    withdrawIntents: (owner, contacts) => {
      for (const { key, owned } of contacts) {
        update(key, owner, ({ state }) => (state === 'intent' ? { state: 'lookup', owned, ...noIntent } : null));
      }
    },
    noteDoubt: (owner, { key, burn }) => {
      update(key, owner, ({ attempts }) => ({ attempts: attempts + (burn ? 1 : 0) }));
    },
    release: (owner, keys) => {
      for (const key of keys) update(key, owner, () => noLease);
    },
    sampleBound: (limit) =>
      [...holder.tables.contacts.values()]
        .flatMap(({ key, state, contactId }) => (state === 'bound' && contactId !== null ? [{ key, contactId }] : []))
        .slice(0, limit),
  };
}

export const noLease = { owner: null, leaseUntilMs: null, leaseBoot: null } as const;
export const noClaim = { claim: null } as const;
export const noIntent = { intentRun: null, horizonMs: null, horizonBoot: null } as const;

/** As a first lease enters it. */
function unknownRow(key: string): ContactRow {
  return {
    key,
    state: 'lookup',
    contactId: null,
    seen: null,
    owned: nobodyOwns,
    writtenSequence: 0,
    attempts: 0,
    ...noLease,
    ...noIntent,
    ...noClaim,
  };
}

function leaseFacts(row: ContactRow): LeaseFacts {
  const { owner, leaseUntilMs, leaseBoot, horizonMs, horizonBoot, writtenSequence } = row;
  return { owner, leaseUntilMs, leaseBoot, horizonMs, horizonBoot, writtenSequence };
}

function toContact(row: ContactRow): ContactRecord {
  const { key, state, contactId, seen, owned, writtenSequence, attempts, intentRun, claim } = row;
  return { key, state, contactId, seen, owned, writtenSequence, attempts, intentRun, claim };
}
