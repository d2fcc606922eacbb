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
import {
  type ContactChange,
  type ContactFacts,
  claimed,
  doubted,
  intended,
  released,
  unclaimed,
  withdrawn,
} from '#src/ledger/rules/contact.ts';
import { decideLease, type LeaseFacts } from '#src/ledger/rules/lease.ts';
import type { Contact } from '#src/wire/contact.ts';
import { type Database, numberOrNull, parseJson, type ResultRow, textOrNull } from './database.ts';
import { decideHeld } from './held.ts';
import { addKeyEvent, changeContact, moveSaid, type SpokenSaid, saidsOf, toHeld } from './keys.ts';

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
          const lease = leaseFacts(row, ofKey, decision.feed);
          return [key, { contact: toContact(row, ofKey, null), lease }] as const;
        });
        return decideHeld(db, decision, new Map(contacts));
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
          .filter((one) => change(db, one.key, (facts) => intended(request, one, facts)))
          .map(({ key }) => key),
      ),

    claimItems: async (request) =>
      db.durable(() => {
        const refused: string[] = [];
        for (const one of request.contacts) {
          const isLinkTaken = one.linkTo !== undefined && isLinkedElsewhere(db, one.key, one.linkTo);
          if (isLinkTaken) refused.push(one.key);
          const withLink = (facts: ContactFacts | null) => (facts === null ? null : { ...facts, isLinkTaken });
          if (!change(db, one.key, (facts) => claimed(request, one, withLink(facts)))) continue;
          db.run(
            'UPDATE staged SET sent = 1 WHERE place = (SELECT sequence * 8388608 + ? FROM runs WHERE id = ?)',
            ...[one.position, request.runId],
          );
          for (const moved of one.resolved?.saids ?? []) moveSaid(db, one.key, moved, request.atMs);
        }
        return refused;
      }),

    unclaimItems: async (owner, contacts) => {
      db.transaction(() => {
        for (const one of contacts) change(db, one.key, (facts) => unclaimed(owner, one, facts));
      });
    },

    withdrawIntents: async (owner, contacts) => {
      db.transaction(() => {
        for (const one of contacts) change(db, one.key, (facts) => withdrawn(owner, one, facts));
      });
    },

    noteDoubt: async (owner, { key, runId, atMs, why, burn }) => {
      db.transaction(() => {
        const isHeld = change(db, key, (facts) => doubted(owner, burn, facts));
        if (isHeld) addKeyEvent(db, { key, atMs, runId, kind: 'doubt', contactId: null, detail: why });
      });
    },

    release: async (owner, keys) => {
      db.transaction(() => {
        for (const key of keys) change(db, key, (facts) => (facts?.owner === owner ? released : null));
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

    alikeKeys: async (folded, limit) =>
      db
        .all(
          `SELECT key, seen FROM contacts INDEXED BY contacts_by_folded_key
           WHERE lower(key) IN (SELECT value FROM json_each(?)) AND contact_id IS NOT NULL LIMIT ?`,
          JSON.stringify(folded),
          limit,
        )
        .map((row) => ({ key: String(row.key), seen: parseJson<Contact>(row.seen) })),

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

/** Changes a key as the rule says. @returns whether it did. The caller holds the transaction. */
function change(db: Database, key: string, rule: (facts: ContactFacts | null) => ContactChange | null): boolean {
  const row = db.get('SELECT state, owner, attempts FROM contacts WHERE key = ?', key);
  const facts =
    row === null
      ? null
      : { state: String(row.state) as CreateState, owner: textOrNull(row.owner), attempts: Number(row.attempts) };
  const changed = rule(facts);
  if (changed !== null) changeContact(db, key, changed);
  return changed !== null;
}

function isLinkedElsewhere(db: Database, key: string, contactId: string): boolean {
  return db.get('SELECT 1 FROM contacts WHERE linked_to = ? AND key <> ?', contactId, key) !== null;
}

/** Leases one key if it is free. The caller holds the transaction. */
function leaseOne(
  db: Database,
  request: LeaseRequest,
  key: string,
  sequence: number,
  row: ResultRow | null,
  saids: readonly SpokenSaid[],
): LeaseResult {
  const { change: changed, ...decision } = decideLease(request, sequence, leaseFacts(row, saids, request.feed));
  if (changed !== null) {
    if (row === null) db.run('INSERT INTO contacts (key) VALUES (?)', key);
    changeContact(db, key, changed);
  }
  if (decision.kind !== 'leased') return decision;
  return { kind: 'leased', contact: toContact(row ?? { key }, saids, request.bootId) };
}

function leaseFacts(row: ResultRow | null, saids: readonly SpokenSaid[], feed: string): LeaseFacts {
  return {
    isKnown: row !== null,
    owner: textOrNull(row?.owner),
    leaseUntilMs: numberOrNull(row?.lease_until),
    leaseBoot: textOrNull(row?.lease_boot),
    horizonMs: numberOrNull(row?.horizon),
    horizonBoot: textOrNull(row?.horizon_boot),
    settledSequence: saids.find((one) => one.feed === feed)?.spoken ?? 0,
    claim: parseJson<Claim>(row?.claim),
  };
}

/** `row` may hold the key alone: nothing is known of it. `bootId`: whose monotonic times can be interpreted. */
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
    linkedTo: textOrNull(row.linked_to),
  };
}
