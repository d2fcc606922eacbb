/** One record a key in SQLite: leases by compare-and-set, intents, bindings. */
import type { Claim } from '#src/contacts/as-updated.ts';
import type { Ownership } from '#src/contacts/base.ts';
import type { Contact } from '#src/wire/contact.ts';
import type { ContactLedger } from '../contact-ledger.ts';
import type { ContactRecord, CreateState, LeaseRequest, LeaseResult } from '../contact-record.ts';
import { decideLease, type LeaseFacts } from '../lease-rule.ts';
import { type Database, numberOrNull, parseJson, type ResultRow, textOrNull } from './database.ts';
import { addKeyEvent } from './key-events.ts';
import { writeLanded } from './said.ts';

const nobodyOwns: Ownership = { emails: [], phones: [], customFields: [] };

export function sqliteContacts(db: Database): ContactLedger {
  const rowsOf = (keys: readonly string[]): ReadonlyMap<string, ResultRow> =>
    new Map(
      db
        .all('SELECT * FROM contacts WHERE key IN (SELECT value FROM json_each(?))', JSON.stringify(keys))
        .map((row) => [String(row.key), row]),
    );

  return {
    get: async (keys) => new Map([...rowsOf(keys)].map(([key, row]) => [key, toContact(row)])),

    lease: async (request) =>
      db.transaction(() => {
        const known = rowsOf(request.keys.map((one) => one.key));
        return new Map(
          request.keys.map(({ key, sequence }) => [key, leaseOne(db, request, key, sequence, known.get(key) ?? null)]),
        );
      }),

    intend: async (request) =>
      db.durable(() =>
        request.contacts
          .filter(
            ({ key, owned, sequence }) =>
              db.run(
                `UPDATE contacts SET state = 'intent', horizon = ?, horizon_boot = ?, intent_run = ?, owned = ?,
                   written_sequence = max(written_sequence, ?)
                 WHERE key = ? AND owner = ? AND state <> 'bound'`,
                request.horizonMonotonicMs,
                request.bootId,
                request.runId,
                JSON.stringify(owned),
                sequence,
                key,
                request.owner,
              ) === 1,
          )
          .map(({ key }) => key),
      ),

    claimItems: async ({ contacts, owner, runId, bootId, horizonMonotonicMs, atMs }) => {
      db.durable(() => {
        for (const { key, owned, position, claim, landed } of contacts) {
          const held = db.run(
            `UPDATE contacts SET owned = ?, claim = ?, horizon = ?, horizon_boot = ?, written_sequence = max(written_sequence, ?)
             WHERE key = ? AND owner = ?`,
            JSON.stringify(owned),
            claim === null ? null : JSON.stringify(claim),
            horizonMonotonicMs,
            bootId,
            claim?.sequence ?? 0,
            key,
            owner,
          );
          if (held === 0) continue;
          db.run('UPDATE staged SET sent = 1 WHERE run_id = ? AND position = ?', runId, position);
          if (landed === undefined) continue;
          if (landed.seen !== null)
            db.run('UPDATE contacts SET seen = ? WHERE key = ?', JSON.stringify(landed.seen), key);
          writeLanded(db, key, landed, atMs);
        }
      });
    },

    unclaimItems: async (owner, contacts) => {
      db.transaction(() => {
        for (const { key, owned } of contacts) {
          db.run(
            'UPDATE contacts SET owned = ?, claim = NULL, horizon = NULL, horizon_boot = NULL WHERE key = ? AND owner = ?',
            JSON.stringify(owned),
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
            `UPDATE contacts SET state = 'lookup', owned = ?, horizon = NULL, horizon_boot = NULL, intent_run = NULL
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

    sampleBound: async (limit) =>
      db
        .all("SELECT key, contact_id FROM contacts WHERE state = 'bound' LIMIT ?", limit)
        .map((row) => ({ key: String(row.key), contactId: String(row.contact_id) })),
  };
}

/** Decides about one key and, where it is free, takes it. The caller holds the transaction. */
function leaseOne(
  db: Database,
  request: LeaseRequest,
  key: string,
  sequence: number,
  row: ResultRow | null,
): LeaseResult {
  const { owner, leaseMs, nowMonotonicMs: now, bootId } = request;
  const decision = decideLease(request, sequence, row === null ? null : leaseFacts(row));
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
  return { kind: 'leased', contact: row === null ? emptyContact(key) : toContact(row) };
}

function leaseFacts(row: ResultRow): LeaseFacts {
  return {
    owner: textOrNull(row.owner),
    leaseUntilMs: numberOrNull(row.lease_until),
    leaseBoot: textOrNull(row.lease_boot),
    horizonMs: numberOrNull(row.horizon),
    horizonBoot: textOrNull(row.horizon_boot),
    writtenSequence: Number(row.written_sequence),
  };
}

function emptyContact(key: string): ContactRecord {
  return {
    key,
    state: 'none',
    contactId: null,
    seen: null,
    owned: nobodyOwns,
    writtenSequence: 0,
    attempts: 0,
    intentRun: null,
    claim: null,
  };
}

function toContact(row: ResultRow): ContactRecord {
  return {
    key: String(row.key),
    state: String(row.state) as CreateState,
    contactId: textOrNull(row.contact_id),
    seen: parseJson<Contact>(row.seen),
    owned: parseJson<Ownership>(row.owned) ?? nobodyOwns,
    writtenSequence: Number(row.written_sequence),
    attempts: Number(row.attempts),
    intentRun: textOrNull(row.intent_run),
    claim: parseJson<Claim>(row.claim),
  };
}
