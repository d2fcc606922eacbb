/** The tables of keys in SQLite (`tables/keys.ts`). Hashes are blobs of 16 bytes here, documents JSON text. */
import { eventsPerKeyMax, type HeldFilter } from '#src/ledger/contacts.ts';
import { documentsOfKeys, erasingStatements, forgottenWord } from '#src/ledger/erased-rows.ts';
import type { PersonInLedger } from '#src/ledger/forgetting.ts';
import { hashBytes, numberOrNull } from '#src/ledger/records/columns.ts';
import { toContact, toFeed, toFlight, toHeld, toKeyEvent, toKnown, toSaid } from '#src/ledger/records/key.ts';
import type { KeyRows, KeyTables, KeyWrites, KnownRow, MemoriesLike } from '#src/ledger/tables/keys.ts';
import type { Statements } from './connection.ts';
import type { ResultRow } from './database.ts';
import { journalTable } from './journal-table.ts';

/** Names of columns that contacts and flights share are told apart by these. */
const keyColumns = `wanted.value AS wanted, contacts.number, contacts.state, contacts.contact_id, contacts.document,
  contacts.linked_to, contacts.bound_run, contacts.bound_at, contacts.written_at, flights.key AS flying, flights.owner,
  flights.lease_until, flights.horizon, flights.horizon_span, flights.claim, flights.intent_run, flights.attempts, flights.owned`;

/** Keys as JSON, and the feed. */
export const saidSql = `SELECT contacts.number, contacts.key, contacts.document, known.row_hash, known.fingerprint, known.tried,
    known.held_count,
    flights.claim IS NOT NULL OR flights.intent_run IS NOT NULL AS in_doubt
  FROM feeds CROSS JOIN json_each(?) AS wanted CROSS JOIN contacts ON contacts.key = wanted.value
  CROSS JOIN known ON known.feed_number = feeds.number AND known.number = contacts.number
  LEFT JOIN flights ON flights.key = wanted.value
  WHERE feeds.name = ? AND contacts.document IS NOT NULL`;

export function sqliteKeyTables(statements: Statements): KeyTables {
  return {
    ...journalTable(statements),

    read: async (keys, feeds) => {
      const wanted = JSON.stringify(keys);
      const rows = await statements.all(
        `SELECT ${keyColumns} FROM json_each(?) AS wanted LEFT JOIN contacts ON contacts.key = wanted.value
         LEFT JOIN flights ON flights.key = wanted.value
         WHERE contacts.number IS NOT NULL OR flights.key IS NOT NULL`,
        wanted,
      );
      const hasContacts = feeds.length > 0 && rows.some(({ number }) => number !== null);
      const known = hasContacts ? await knownRows(statements, rows, feeds) : new Map<string, KnownRow[]>();
      return new Map(
        rows.map((row) => {
          const key = String(row.wanted);
          const contact = row.number === null ? null : toContact(key, row);
          const flight = row.flying === null ? null : toFlight(key, row);
          return [key, { contact, flight, known: known.get(key) ?? [] } satisfies KeyRows] as const;
        }),
      );
    },

    said: async (feed, keys) => (await statements.all(saidSql, JSON.stringify(keys), feed)).map(toSaid),

    write: async (writes) => {
      await writeContacts(statements, writes);
      await keepWritten(statements, writes);
      await writeFlights(statements, writes);
      await writeKnown(statements, writes);
      await writeHeld(statements, writes);
      await writeHistory(statements, writes);
    },

    linked: async (contactIds) => {
      const rows = await statements.all(
        'SELECT linked_to, key FROM contacts WHERE linked_to IN (SELECT value FROM json_each(?))',
        JSON.stringify(contactIds),
      );
      return new Map(rows.map((row) => [String(row.linked_to), String(row.key)]));
    },

    inFlight: async (which) => {
      const [condition, parameters] =
        'owner' in which
          ? ['flights.key IN (SELECT value FROM json_each(?)) AND owner = ?', [JSON.stringify(which.keys), which.owner]]
          : ['claim IS NOT NULL OR intent_run IS NOT NULL', []];
      const rows = await statements.all(
        `SELECT flights.key, contacts.number FROM flights LEFT JOIN contacts ON contacts.key = flights.key WHERE ${condition}`,
        ...parameters,
      );
      return rows.map((row) => ({ key: String(row.key), number: numberOrNull(row.number) }));
    },

    knownCount: async (feed) => {
      const row = await statements.get(
        'SELECT count(*) AS keys FROM known WHERE feed_number = (SELECT number FROM feeds WHERE name = ?)',
        feed,
      );
      return Number(row?.keys ?? 0);
    },

    feeds: async (name) => {
      const rows = await statements.all(
        `SELECT *, (SELECT max(known.number) FROM known WHERE known.feed_number = feeds.number) AS last
         FROM feeds ${name === undefined ? '' : 'WHERE name = ?'} ORDER BY name`,
        ...(name === undefined ? [] : [name]),
      );
      return rows.map(toFeed);
    },

    knownPage: async (feed, afterNumber, limit) => {
      // One row and two values, however many keys there are: making an object for each would cost more than reading them.
      const row = await statements.get(
        `SELECT '[' || coalesce(group_concat(number), '') || ']' AS numbers,
           CAST(group_concat(coalesce(row_hash, zeroblob(16)), '') AS BLOB) AS hashes,
           '[' || coalesce(group_concat(CASE WHEN held_count > 0 THEN number END), '') || ']' AS held
         FROM (SELECT known.number, known.row_hash, known.held_count FROM feeds JOIN known ON known.feed_number = feeds.number
               WHERE feeds.name = ? AND known.number > ? ORDER BY known.number LIMIT ?)`,
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
        `SELECT '[' || coalesce(group_concat(number), '') || ']' AS numbers FROM (
           SELECT known.number FROM feeds JOIN known ON known.feed_number = feeds.number
           WHERE feeds.name = ? AND known.sequence = ? AND known.number > ? AND known.number <= ? ORDER BY known.number)`,
        ...[feed, sequence, afterNumber, throughNumber],
      );
      return numbersIn(row?.numbers);
    },

    keysAt: async (numbers) => {
      const rows = await statements.all(
        'SELECT number, key FROM contacts WHERE number IN (SELECT value FROM json_each(?))',
        JSON.stringify(numbers),
      );
      return new Map(rows.map((row) => [Number(row.number), String(row.key)]));
    },

    settledBy: async (feed, sequence, afterNumber, width) => {
      const last = afterNumber + width;
      const rows = await statements.all(
        `SELECT key FROM contacts WHERE number > ?1 AND number <= ?2 AND (bound_run = ?3 OR EXISTS (
           SELECT 1 FROM known WHERE feed_number = (SELECT number FROM feeds WHERE name = ?4)
             AND known.number = contacts.number AND sequence = ?3)) ORDER BY number`,
        ...[afterNumber, last, sequence, feed],
      );
      const more = await statements.get('SELECT 1 FROM contacts WHERE number > ? LIMIT 1', last);
      return { keys: rows.map(({ key }) => String(key)), next: more === null ? null : last };
    },

    held: async (filter) => {
      const { where, parameters } = heldWhere(filter);
      const { after, limit } = filter;
      const page = after === undefined ? '' : 'AND (feed, key, field) > (?, ?, ?)';
      const from = after === undefined ? [] : [after.feed, after.key, after.field];
      const sql = `SELECT * FROM held WHERE ${where} ${page} ORDER BY feed, key, field LIMIT ?`;
      return (await statements.all(sql, ...parameters, ...from, limit)).map(toHeld);
    },

    heldCount: async (filter) => {
      const { where, parameters } = heldWhere(filter);
      const row = await statements.get(`SELECT count(*) AS held FROM held WHERE ${where}`, ...parameters);
      return Number(row?.held ?? 0);
    },

    history: async (keys) =>
      (
        await statements.all(
          'SELECT * FROM key_events WHERE key IN (SELECT value FROM json_each(?)) ORDER BY key, ordinal',
          JSON.stringify(keys),
        )
      ).map(toKeyEvent),

    // The journal goes by the order of entry, which is that of time but for a clock that was set back: such rows go with those
    // before them.
    forget: async (what, limit) => {
      if ('key' in what) return erasePerson(statements, what);
      return statements.run(
        what.past === 'history'
          ? 'DELETE FROM key_events WHERE (key, ordinal) IN (SELECT key, ordinal FROM key_events WHERE at < ?1 LIMIT ?2)'
          : `DELETE FROM journal WHERE number IN (
               SELECT number FROM (SELECT number, at FROM journal ORDER BY number LIMIT ?2) WHERE at < ?1)`,
        what.beforeMs,
        limit,
      );
    },

    someContacts: async (limit, which) => {
      const rows =
        which === 'bound'
          ? await statements.all("SELECT * FROM contacts WHERE state = 'bound' LIMIT ?", limit)
          : 'patterns' in which
            ? await rowsLike(statements, which, limit)
            : 'folded' in which
              ? await statements.all(byFoldedKey.folded, JSON.stringify(which.folded), limit)
              : await statements.all(byFoldedKey.range, which.from, which.below, limit);
      return rows.map((row) => toContact(String(row.key), row));
    },
  };
}

const byFoldedKey = {
  folded: `SELECT * FROM contacts INDEXED BY contacts_by_folded_key
    WHERE lower(key) IN (SELECT value FROM json_each(?)) AND contact_id IS NOT NULL LIMIT ?`,
  range: `SELECT * FROM contacts INDEXED BY contacts_by_folded_key
    WHERE lower(key) >= ? AND lower(key) < ? ORDER BY lower(key) LIMIT ?`,
} as const;

async function rowsLike(
  statements: Statements,
  { patterns, contactId, first, last }: MemoriesLike,
  limit: number,
): Promise<readonly ResultRow[]> {
  const like = patterns.map(() => 'OR document LIKE ?').join(' ');
  return statements.all(
    `SELECT * FROM contacts WHERE number >= ? AND number <= ? AND (contact_id = ? ${like})
     UNION ALL SELECT * FROM (SELECT * FROM contacts WHERE number > ? ORDER BY number LIMIT 1) LIMIT ?`,
    ...[first, last, contactId, ...patterns, last, limit],
  );
}

const erasing = [
  ...erasingStatements('?1'),
  ...documentsOfKeys.map(
    ({ table, column, which, path }) =>
      `DELETE FROM ${table} WHERE ${which} AND json_extract(${column}, '$.${path.join('.')}') = ?1`,
  ),
];

/** What was deleted is overwritten with zeros, where the file is ours to overwrite (`ledger.ts`, `scrub`). */
async function erasePerson(statements: Statements, { key, letterIds }: PersonInLedger): Promise<number> {
  let rows = 0;
  for (const sql of erasing) rows += await statements.run(sql, key);
  if (letterIds.length > 0) {
    rows += await statements.run(
      'DELETE FROM dead_rows WHERE letter_id IN (SELECT value FROM json_each(?1))',
      JSON.stringify(letterIds),
    );
    rows += await statements.run(
      'DELETE FROM letters WHERE id IN (SELECT value FROM json_each(?1))',
      JSON.stringify(letterIds),
    );
  }
  await statements.run(
    "UPDATE records SET document = replace(document, ?1, ?2) WHERE kind = 'plan' AND instr(document, ?1) > 0",
    ...[JSON.stringify(key), JSON.stringify(forgottenWord)],
  );
  for (const column of ['notes', 'options']) {
    const quoted = JSON.stringify(key).slice(1, -1);
    await statements.run(
      `UPDATE runs SET ${column} = replace(${column}, ?1, ?2) WHERE instr(options, ?3) > 0 AND instr(${column}, ?1) > 0`,
      ...[quoted, forgottenWord, `"${quoted}"`],
    );
  }
  return rows;
}

/** The feeds come first: each is asked for each key, by the key of `known`. */
async function knownRows(
  statements: Statements,
  rows: readonly ResultRow[],
  feeds: readonly string[],
): Promise<ReadonlyMap<string, KnownRow[]>> {
  const keyOf = new Map(rows.flatMap((row) => (row.number === null ? [] : [[row.number, String(row.wanted)]])));
  const found = await statements.all(
    `SELECT feeds.name, known.* FROM json_each(?) AS feed CROSS JOIN feeds ON feeds.name = feed.value
     CROSS JOIN json_each(?) AS wanted CROSS JOIN known ON known.feed_number = feeds.number AND known.number = wanted.value`,
    JSON.stringify(feeds),
    JSON.stringify([...keyOf.keys()]),
  );
  return Map.groupBy(
    found.map((row) => toKnown(keyOf.get(row.number ?? 0) ?? '', row)),
    ({ key }) => key,
  );
}

async function writeContacts(statements: Statements, { contacts }: KeyWrites): Promise<void> {
  await statements.runMany(
    `INSERT INTO contacts (key, state, contact_id, document, linked_to, bound_run, bound_at, written_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET state = excluded.state, contact_id = excluded.contact_id, document = excluded.document,
       linked_to = excluded.linked_to, bound_run = excluded.bound_run, bound_at = excluded.bound_at,
       written_at = excluded.written_at`,
    contacts.map((row) => [
      ...[row.key, row.state, row.contactId, row.document, row.linkedTo],
      ...[row.boundRun, row.boundAtMs, row.writtenAtMs],
    ]),
  );
}

/**
 * Keeps the latest instant of a write, so that the ledger's clock goes on behind it in a new boot (`clock.ts`): a write that lay
 * ahead of the clock would count as just answered for as long as that takes.
 */
async function keepWritten(statements: Statements, { contacts }: KeyWrites): Promise<void> {
  const writtenAtMs = Math.max(0, ...contacts.map((row) => row.writtenAtMs ?? 0));
  if (writtenAtMs === 0) return;
  await statements.run(
    `INSERT INTO meta (name, value) VALUES ('written', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value
     WHERE CAST(value AS INTEGER) < CAST(excluded.value AS INTEGER)`,
    String(writtenAtMs),
  );
}

async function writeFlights(statements: Statements, { flights, landed }: KeyWrites): Promise<void> {
  await statements.runMany(
    'DELETE FROM flights WHERE key = ?',
    landed.map((key) => [key]),
  );
  await statements.runMany(
    `INSERT INTO flights (key, owner, lease_until, horizon, horizon_span, claim, intent_run, attempts, owned)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, lease_until = excluded.lease_until, horizon = excluded.horizon,
       horizon_span = excluded.horizon_span, claim = excluded.claim, intent_run = excluded.intent_run,
       attempts = excluded.attempts, owned = excluded.owned`,
    flights.map((row) => [
      ...[row.key, row.owner, row.leaseUntilMs, row.horizonAtMs, row.horizonSpanMs],
      ...[row.claim, row.intentRun, row.attempts, row.owned],
    ]),
  );
}

async function writeKnown(statements: Statements, { known }: KeyWrites): Promise<void> {
  if (known.length === 0) return;
  await statements.runMany(
    `INSERT OR REPLACE INTO known (feed_number, number, row_hash, fingerprint, tried, sequence, spoken, held_count)
     VALUES ((SELECT number FROM feeds WHERE name = ?), (SELECT number FROM contacts WHERE key = ?), ?, ?, ?, ?, ?, ?)`,
    known.map((row) => [
      ...[row.feed, row.key, hashBytes(row.rowHash), hashBytes(row.fingerprint), hashBytes(row.tried)],
      ...[row.sequence, row.spoken, row.heldCount],
    ]),
  );
  await statements.runMany(
    'UPDATE feeds SET revision = revision + 1 WHERE name = ?',
    [...new Set(known.map(({ feed }) => feed))].map((feed) => [feed]),
  );
}

async function writeHeld(statements: Statements, { heldStill, held }: KeyWrites): Promise<void> {
  await statements.runMany(
    'DELETE FROM held WHERE feed = ? AND key = ? AND field NOT IN (SELECT value FROM json_each(?))',
    heldStill.map(({ feed, key, fields }) => [feed, key, JSON.stringify(fields)]),
  );
  await statements.runMany(
    `INSERT INTO held (feed, key, field, said, ours, theirs, run_id, line, since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (feed, key, field) DO UPDATE SET said = excluded.said, ours = excluded.ours, theirs = excluded.theirs,
       run_id = excluded.run_id, line = excluded.line`,
    held.map((one) => [
      ...[one.feed, one.key, one.field, JSON.stringify(one.said), JSON.stringify(one.ours), JSON.stringify(one.theirs)],
      ...[one.runId, one.line, one.sinceMs],
    ]),
  );
}

async function writeHistory(statements: Statements, { history }: KeyWrites): Promise<void> {
  if (history.length === 0) return;
  await statements.runMany(
    `INSERT INTO key_events (key, ordinal, at, run_id, kind, contact_id, detail)
     VALUES (?1, (SELECT coalesce(max(ordinal), 0) + 1 FROM key_events WHERE key = ?1), ?2, ?3, ?4, ?5, ?6)`,
    history.map(({ key, atMs, runId, kind, contactId, detail }) => [key, atMs, runId, kind, contactId, detail]),
  );
  await statements.runMany(
    `DELETE FROM key_events WHERE key = ?1
     AND ordinal <= (SELECT max(ordinal) FROM key_events WHERE key = ?1) - ${eventsPerKeyMax}`,
    [...new Set(history.map(({ key }) => key))].map((key) => [key]),
  );
}

function heldWhere({ feed, keys, field, runId }: Omit<HeldFilter, 'limit'>): { where: string; parameters: string[] } {
  const conditions: (readonly [string, string])[] = [];
  if (feed !== undefined) conditions.push(['feed = ?', feed]);
  if (keys !== undefined) conditions.push(['key IN (SELECT value FROM json_each(?))', JSON.stringify(keys)]);
  if (field !== undefined) conditions.push(['field = ?', field]);
  if (runId !== undefined) conditions.push(['run_id = ?', runId]);
  return {
    where: ['1', ...conditions.map(([sql]) => sql)].join(' AND '),
    parameters: conditions.map(([, value]) => value),
  };
}

/** @param list JSON that a statement of this file has put together. */
function numbersIn(list: ResultRow[string] | undefined): Uint32Array {
  return Uint32Array.from(JSON.parse(typeof list === 'string' ? list : '[]') as number[]);
}
