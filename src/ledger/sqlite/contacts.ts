/** One record a key in SQLite: leases by compare-and-set, intents, bindings. */
import { type Agreement, agreementsOf, type FieldStamp, nobodyOwns, type Ownership } from '#src/contacts/base.ts';
import type { Claim } from '#src/contacts/claim.ts';
import type {
  ContactLedger,
  ContactRecord,
  CreateState,
  HeldFilter,
  LeaseRequest,
  LeaseResult,
} from '#src/ledger/contacts.ts';
import { decideLease, type LeaseFacts } from '#src/ledger/rules/lease.ts';
import type { Contact } from '#src/wire/contact.ts';
import { type Database, numberOrNull, parseJson, type ResultRow, textOrNull } from './database.ts';
import { decideHeld } from './held.ts';
import { addKeyEvent, moveSaid, type SpokenSaid, saidsOf, toHeld } from './keys.ts';

export function sqliteContacts(db: Database): ContactLedger {
  const rowsOf = (keys: readonly string[]): ReadonlyMap<string, ResultRow> =>
    new Map(
      db
        .all('SELECT * FROM contacts WHERE key IN (SELECT value FROM json_each(?))', JSON.stringify(keys))
        .map((row) => [String(row.key), row]),
    );

  return {
    get: async (keys) => {
      const saids = saidsOf(db, keys);
      return new Map([...rowsOf(keys)].map(([key, row]) => [key, toContact(row, saids.get(key) ?? [], null)]));
    },

    decideHeld: async (decision) =>
      db.durable(() => {
        const keys = [...new Set(decision.shown.map(({ key }) => key))];
        const saids = saidsOf(db, keys);
        const contacts = [...rowsOf(keys)].map(([key, row]) => {
          const ofKey = saids.get(key) ?? [];
          const spoken = ofKey.find(({ feed }) => feed === decision.feed)?.spoken ?? 0;
          return { contact: toContact(row, ofKey, null), facts: leaseFacts(row, decision.feed, spoken) };
        });
        return decideHeld(db, decision, contacts);
      }),

    lease: async (request) =>
      db.transaction(() => {
        const keys = request.keys.map((one) => one.key);
        const known = rowsOf(keys);
        const saids = saidsOf(db, keys);
        return new Map(
          request.keys.map(({ key, sequence }) => [
            key,
            leaseOne(db, request, key, sequence, known.get(key) ?? null, saids.get(key) ?? []),
          ]),
        );
      }),

    intend: async (request) =>
      db.durable(() =>
        request.contacts
          .filter(
            ({ key, owned, claim }) =>
              db.run(
                `UPDATE contacts SET state = 'intent', horizon = ?, horizon_boot = ?, intent_run = ?, owned = ?, claim = ?
                 WHERE key = ? AND owner = ? AND state <> 'bound'`,
                request.horizonMonotonicMs,
                request.bootId,
                request.runId,
                JSON.stringify(owned),
                claim === null ? null : JSON.stringify(claim),
                key,
                request.owner,
              ) === 1,
          )
          .map(({ key }) => key),
      ),

    claimItems: async ({ contacts, owner, runId, bootId, horizonMonotonicMs, atMs }) => {
      db.durable(() => {
        for (const { key, owned, position, claim, resolved } of contacts) {
          const held = db.run(
            `UPDATE contacts SET owned = ?, claim = ?, horizon = ?, horizon_boot = ?
             WHERE key = ? AND owner = ?`,
            JSON.stringify(owned),
            claim === null ? null : JSON.stringify(claim),
            horizonMonotonicMs,
            bootId,
            key,
            owner,
          );
          if (held === 0) continue;
          db.run('UPDATE staged SET sent = 1 WHERE run_id = ? AND position = ?', runId, position);
          if (resolved === null) continue;
          const { agreed, stamps, saids } = resolved;
          db.run(
            'UPDATE contacts SET agreed = ?, stamps = ? WHERE key = ?',
            JSON.stringify(agreed),
            JSON.stringify(stamps),
            key,
          );
          for (const moved of saids) moveSaid(db, key, moved, atMs);
        }
      });
    },

    unclaimItems: async (owner, contacts) => {
      db.transaction(() => {
        for (const { key, owned, claim } of contacts) {
          db.run(
            'UPDATE contacts SET owned = ?, claim = ?, horizon = NULL, horizon_boot = NULL WHERE key = ? AND owner = ?',
            JSON.stringify(owned),
            claim === null ? null : JSON.stringify(claim),
            key,
            owner,
          );
        }
      });
    },

    withdrawIntents: async (owner, contacts) => {
      db.transaction(() => {
        for (const { key, owned } of contacts) {
          db.run(
            `UPDATE contacts SET state = 'lookup', owned = ?, horizon = NULL, horizon_boot = NULL, intent_run = NULL,
               claim = NULL
             WHERE key = ? AND owner = ? AND state = 'intent'`,
            JSON.stringify(owned),
            key,
            owner,
          );
        }
      });
    },

    noteDoubt: async (owner, { key, runId, atMs, why, burn }) => {
      db.transaction(() => {
        const held = db.run(
          'UPDATE contacts SET attempts = attempts + ? WHERE key = ? AND owner = ?',
          burn ? 1 : 0,
          key,
          owner,
        );
        if (held === 1) addKeyEvent(db, { key, atMs, runId, kind: 'doubt', contactId: null, detail: why });
      });
    },

    release: async (owner, keys) => {
      db.transaction(() => {
        for (const key of keys) {
          db.run(
            'UPDATE contacts SET owner = NULL, lease_until = NULL, lease_boot = NULL WHERE key = ? AND owner = ?',
            key,
            owner,
          );
        }
      });
    },

    held: async (filter) => {
      const { where, parameters } = heldWhere(filter);
      const { after } = filter;
      const page = after === undefined ? '' : 'AND (feed, key, field) > (?, ?, ?)';
      const from = after === undefined ? [] : [after.feed, after.key, after.field];
      return db
        .all(
          `SELECT * FROM held WHERE ${where} ${page} ORDER BY feed, key, field LIMIT ?`,
          ...parameters,
          ...from,
          filter.limit,
        )
        .map(toHeld);
    },

    heldCount: async (filter) => {
      const { where, parameters } = heldWhere(filter);
      return Number(db.get(`SELECT count(*) AS held FROM held WHERE ${where}`, ...parameters)?.held ?? 0);
    },

    sampleBound: async (limit) =>
      db
        .all("SELECT key, contact_id FROM contacts WHERE state = 'bound' LIMIT ?", limit)
        .map((row) => ({ key: String(row.key), contactId: String(row.contact_id) })),
  };
}

function heldWhere({ feed, keys, field }: Omit<HeldFilter, 'limit'>): { where: string; parameters: string[] } {
  const conditions: (readonly [string, string])[] = [];
  if (feed !== undefined) conditions.push(['feed = ?', feed]);
  if (keys !== undefined) conditions.push(['key IN (SELECT value FROM json_each(?))', JSON.stringify(keys)]);
  if (field !== undefined) conditions.push(['field = ?', field]);
  return {
    where: ['1', ...conditions.map(([sql]) => sql)].join(' AND '),
    parameters: conditions.map(([, value]) => value),
  };
}

/** Decides about one key and, where it is free, takes it. The caller holds the transaction. */
function leaseOne(
  db: Database,
  request: LeaseRequest,
  key: string,
  sequence: number,
  row: ResultRow | null,
  saids: readonly SpokenSaid[],
): LeaseResult {
  const { feed, owner, leaseMs, nowMonotonicMs: now, bootId } = request;
  const spoken = saids.find((one) => one.feed === feed)?.spoken ?? 0;
  const decision = decideLease(request, sequence, leaseFacts(row ?? {}, feed, spoken));
  if (decision.kind === 'horizon') {
    const { kind, waitMs, startsAnew } = decision;
    if (startsAnew)
      db.run('UPDATE contacts SET horizon = ?, horizon_boot = ? WHERE key = ?', now + waitMs, bootId, key);
    return { kind, waitMs };
  }
  if (decision.kind !== 'leased') return decision;
  db.run(
    `INSERT INTO contacts (key, state, owner, lease_until, lease_boot) VALUES (?, 'lookup', ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, lease_until = excluded.lease_until, lease_boot = excluded.lease_boot`,
    key,
    owner,
    now + leaseMs,
    bootId,
  );
  return { kind: 'leased', contact: toContact(row ?? { key }, saids, bootId) };
}

function leaseFacts(row: ResultRow, feed: string, spoken: number): LeaseFacts {
  const claim = parseJson<Claim>(row.claim);
  return {
    owner: textOrNull(row.owner),
    leaseUntilMs: numberOrNull(row.lease_until),
    leaseBoot: textOrNull(row.lease_boot),
    horizonMs: numberOrNull(row.horizon),
    horizonBoot: textOrNull(row.horizon_boot),
    spokenSequence: claim?.feed === feed ? Math.max(spoken, claim.sequence) : spoken,
  };
}

/** `row` may hold the key alone: nothing is known of it. `bootId`: whose monotonic times can be told. */
function toContact(row: ResultRow, saids: readonly SpokenSaid[], bootId: string | null): ContactRecord {
  const seen = parseJson<Contact>(row.seen);
  return {
    key: String(row.key),
    state: (textOrNull(row.state) ?? 'none') as CreateState,
    contactId: textOrNull(row.contact_id),
    seen,
    owned: parseJson<Ownership>(row.owned) ?? nobodyOwns,
    // A ledger from before agreements has none: it vouches for what a file said and the service held.
    agreed: parseJson<Agreement[]>(row.agreed) ?? (seen === null ? [] : agreementsOf(seen, saids)),
    stamps: parseJson<FieldStamp[]>(row.stamps) ?? [],
    saids: saids.map(({ feed, said }) => ({ feed, said })),
    writtenAtMs: row.written_boot === bootId ? numberOrNull(row.written_at) : null,
    attempts: Number(row.attempts ?? 0),
    intentRun: textOrNull(row.intent_run),
    claim: parseJson<Claim>(row.claim),
  };
}
