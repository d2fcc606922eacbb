/** The tables of keys in PostgreSQL (`tables/keys.ts`). Hashes are 16 bytes here, documents JSON text. */
import type { HeldFilter } from '#src/ledger/contacts.ts';
import { numberOrNull, type ResultRow } from '#src/ledger/records/columns.ts';
import { toContact, toFeed, toFlight, toHeld, toKeyEvent, toKnown, toSaid } from '#src/ledger/records/key.ts';
import type { KeyRows, KeyTables } from '#src/ledger/tables/keys.ts';
import { erasePerson } from './erase-person.ts';
import { journalTable } from './journal-table.ts';
import { writeKeys } from './key-writes.ts';
import type { Statements } from './pool.ts';
import { type Condition, where } from './where.ts';

/** Names of columns that contacts and flights share are told apart by these. */
const keyColumns = `wanted.key AS wanted, contacts.number, contacts.state, contacts.contact_id, contacts.document,
  contacts.linked_to, contacts.bound_run, contacts.bound_at, contacts.written_at, flights.key AS flying, flights.owner,
  flights.lease_until, flights.horizon, flights.horizon_span, flights.claim, flights.intent_run, flights.attempts, flights.owned`;

/**
 * All that is known of these keys by these feeds, one row for each feed that knows a key, and one for a key that none knows.
 * `OFFSET 0` keeps the planner from reading all that the feeds know, to look for the keys in it.
 */
const readSql = `SELECT ${keyColumns}, known.name, known.row_hash, known.fingerprint, known.tried, known.sequence, known.spoken,
    known.held_count
  FROM unnest($1::text[]) AS wanted (key) LEFT JOIN contacts ON contacts.key = wanted.key
  LEFT JOIN flights ON flights.key = wanted.key
  LEFT JOIN LATERAL (
    SELECT feeds.name, known.* FROM unnest($2::text[]) AS asked (name) JOIN feeds ON feeds.name = asked.name
    JOIN known ON known.feed_number = feeds.number AND known.number = contacts.number OFFSET 0) AS known ON TRUE
  WHERE contacts.number IS NOT NULL OR flights.key IS NOT NULL`;

/** A part of `readSql`, for one feed. */
const saidSql = `SELECT contacts.number, contacts.key, contacts.document, known.row_hash, known.fingerprint, known.tried,
           known.held_count,
    flights.claim IS NOT NULL OR flights.intent_run IS NOT NULL AS in_doubt
  FROM unnest($1::text[]) AS wanted (key) JOIN contacts ON contacts.key = wanted.key
  LEFT JOIN flights ON flights.key = wanted.key
  JOIN LATERAL (
    SELECT known.* FROM known WHERE known.feed_number = (SELECT number FROM feeds WHERE name = $2)
      AND known.number = contacts.number OFFSET 0) AS known ON TRUE
  WHERE contacts.document IS NOT NULL`;

export function postgresKeyTables(statements: Statements): KeyTables {
  return {
    ...journalTable(statements),

    read: async (keys, feeds) => {
      const rows = await statements.all(readSql, keys, feeds);
      const byKey = Map.groupBy(rows, ({ wanted }) => String(wanted));
      return new Map([...byKey].map(([key, found]) => [key, keyRows(key, found)]));
    },

    said: async (feed, keys) => (await statements.all(saidSql, keys, feed)).map(toSaid),

    write: (writes) => writeKeys(statements, writes),

    linked: async (contactIds) => {
      const rows = await statements.all(
        'SELECT linked_to, key FROM contacts WHERE linked_to = ANY ($1::text[])',
        contactIds,
      );
      return new Map(rows.map((row) => [String(row.linked_to), String(row.key)]));
    },

    inFlight: async (which) => {
      const [condition, parameters] =
        'owner' in which
          ? ['flights.key = ANY ($1::text[]) AND owner = $2', [which.keys, which.owner]]
          : ['claim IS NOT NULL OR intent_run IS NOT NULL', []];
      const rows = await statements.all(
        `SELECT flights.key, contacts.number FROM flights LEFT JOIN contacts ON contacts.key = flights.key WHERE ${condition}`,
        ...parameters,
      );
      return rows.map((row) => ({ key: String(row.key), number: numberOrNull(row.number) }));
    },

    knownCount: async (feed) => {
      const row = await statements.get(
        'SELECT count(*) AS keys FROM known WHERE feed_number = (SELECT number FROM feeds WHERE name = $1)',
        feed,
      );
      return Number(row?.keys ?? 0);
    },

    feeds: async (name) => {
      const { sql, parameters } = where([['name = $', name]]);
      const rows = await statements.all(
        `SELECT *, (SELECT max(known.number) FROM known WHERE known.feed_number = feeds.number) AS last
         FROM feeds WHERE ${sql} ORDER BY name`,
        ...parameters,
      );
      return rows.map(toFeed);
    },

    knownPage: async (feed, afterNumber, limit) => {
      // One row and three values, however many keys there are: making an object for each would cost more than reading them.
      const row = await statements.get(
        `SELECT string_agg(number::text, ',' ORDER BY number) AS numbers,
           string_agg(coalesce(row_hash, decode(repeat('00', 16), 'hex')), ''::bytea ORDER BY number) AS hashes,
           string_agg(number::text, ',' ORDER BY number) FILTER (WHERE held_count > 0) AS held
         FROM (SELECT number, row_hash, held_count FROM known
               WHERE feed_number = (SELECT number FROM feeds WHERE name = $1) AND number > $2::bigint ORDER BY number LIMIT $3) AS page`,
        feed,
        afterNumber,
        limit,
      );
      const hashes = row?.hashes;
      return {
        numbers: numbersIn(row?.numbers),
        rowHashes: hashes instanceof Uint8Array ? hashes : new Uint8Array(0),
        held: numbersIn(row?.held),
      };
    },

    settledIn: async (feed, sequence, afterNumber, throughNumber) => {
      const row = await statements.get(
        `SELECT string_agg(number::text, ',' ORDER BY number) AS numbers FROM known
         WHERE feed_number = (SELECT number FROM feeds WHERE name = $1) AND sequence = $2::bigint
           AND number > $3::bigint AND number <= $4::bigint`,
        ...[feed, sequence, afterNumber, throughNumber],
      );
      return numbersIn(row?.numbers);
    },

    keysAt: async (numbers) => {
      const rows = await statements.all('SELECT number, key FROM contacts WHERE number = ANY ($1::bigint[])', numbers);
      return new Map(rows.map((row) => [Number(row.number), String(row.key)]));
    },

    settledBy: async (feed, sequence, afterNumber, width) => {
      const last = afterNumber + width;
      const rows = await statements.all(
        `SELECT key FROM contacts WHERE number > $1::bigint AND number <= $2::bigint AND (bound_run = $3::bigint OR EXISTS (
           SELECT 1 FROM known WHERE feed_number = (SELECT number FROM feeds WHERE name = $4)
             AND known.number = contacts.number AND sequence = $3::bigint)) ORDER BY number`,
        ...[afterNumber, last, sequence, feed],
      );
      const more = await statements.get('SELECT 1 AS more FROM contacts WHERE number > $1::bigint LIMIT 1', last);
      return { keys: rows.map(({ key }) => String(key)), next: more === null ? null : last };
    },

    held: async (filter) => {
      const { after, limit } = filter;
      const given = where(heldConditions(filter));
      const next = given.next;
      const page = after === undefined ? '' : `AND (feed, key, field) > ($${next}, $${next + 1}, $${next + 2})`;
      const from = after === undefined ? [] : [after.feed, after.key, after.field];
      const sql = `SELECT * FROM held WHERE ${given.sql} ${page} ORDER BY feed, key, field LIMIT $${next + from.length}`;
      return (await statements.all(sql, ...given.parameters, ...from, limit)).map(toHeld);
    },

    heldCount: async (filter) => {
      const { sql, parameters } = where(heldConditions(filter));
      const row = await statements.get(`SELECT count(*) AS held FROM held WHERE ${sql}`, ...parameters);
      return Number(row?.held ?? 0);
    },

    history: async (keys) =>
      (await statements.all('SELECT * FROM key_events WHERE key = ANY ($1::text[]) ORDER BY key, ordinal', keys)).map(
        toKeyEvent,
      ),

    // The journal goes by the order of entry, which is that of time but for a clock that was set back: such rows go with those
    // before them.
    forget: async (what, limit) => {
      if ('key' in what) return erasePerson(statements, what);
      return statements.run(
        what.past === 'history'
          ? `DELETE FROM key_events WHERE (key, ordinal) IN (
               SELECT key, ordinal FROM key_events WHERE at < $1::bigint ORDER BY at LIMIT $2)`
          : `DELETE FROM journal WHERE number IN (
               SELECT number FROM (SELECT number, at FROM journal ORDER BY number LIMIT $2) AS oldest WHERE at < $1::bigint)`,
        what.beforeMs,
        limit,
      );
    },

    someContacts: async (limit, which) => {
      const rows =
        which === 'bound'
          ? await statements.all("SELECT * FROM contacts WHERE state = 'bound' LIMIT $1", limit)
          : 'patterns' in which
            ? await statements.all(likeSql, limit, which.contactId, which.patterns, which.first, which.last)
            : 'folded' in which
              ? await statements.all(byFoldedKey.folded, limit, which.folded)
              : await statements.all(byFoldedKey.range, limit, which.from, which.below);
      return rows.map((row) => toContact(String(row.key), row));
    },
  };
}

const likeSql = `(SELECT * FROM contacts WHERE number >= $4::bigint AND number <= $5::bigint
    AND (contact_id = $2 OR document ILIKE ANY ($3::text[])))
  UNION ALL (SELECT * FROM contacts WHERE number > $5::bigint ORDER BY number LIMIT 1) LIMIT $1`;

const byFoldedKey = {
  folded: 'SELECT * FROM contacts WHERE lower(key) = ANY ($2::text[]) AND contact_id IS NOT NULL LIMIT $1',
  range: 'SELECT * FROM contacts WHERE lower(key) >= $2 AND lower(key) < $3 ORDER BY lower(key) LIMIT $1',
} as const;

function keyRows(key: string, rows: readonly ResultRow[]): KeyRows {
  const [first = {}] = rows;
  return {
    contact: first.number === null ? null : toContact(key, first),
    flight: first.flying === null ? null : toFlight(key, first),
    known: rows.filter(({ name }) => name !== null).map((row) => toKnown(key, row)),
  };
}

function heldConditions({ feed, keys, field, runId }: Omit<HeldFilter, 'limit' | 'after'>): readonly Condition[] {
  return [
    ['feed = $', feed],
    ['key = ANY ($::text[])', keys],
    ['field = $', field],
    ['run_id = $', runId],
  ];
}

/** @param list numbers with commas between them, or null. */
function numbersIn(list: unknown): Uint32Array {
  return Uint32Array.from(JSON.parse(typeof list === 'string' ? `[${list}]` : '[]') as number[]);
}
