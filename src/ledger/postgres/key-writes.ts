/** What is written of keys, each list in one statement (`KeyWrites` in `tables/keys.ts`). Where a list names a row twice, the last one counts. */
import { eventsPerKeyMax } from '#src/ledger/contacts.ts';
import { hashBytes } from '#src/ledger/records/columns.ts';
import type { KeyWrites } from '#src/ledger/tables/keys.ts';
import type { Statements } from './pool.ts';

export async function writeKeys(statements: Statements, writes: KeyWrites): Promise<void> {
  await writeContacts(statements, writes);
  await writeFlights(statements, writes);
  await writeKnown(statements, writes);
  await writeHeld(statements, writes);
  await writeHistory(statements, writes);
}

function lastOfEach<Row>(rows: readonly Row[], nameOf: (row: Row) => string): readonly Row[] {
  return [...new Map(rows.map((row) => [nameOf(row), row])).values()];
}

/**
 * New keys get the numbers behind the greatest one, which bitmaps count on: a sequence would skip some with every write that only
 * changes. No other process writes meanwhile.
 */
const putContacts = `WITH given AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[])
      WITH ORDINALITY AS given (key, state, contact_id, document, linked_to, bound_run, bound_at, written_at, place)),
  changed AS (
    UPDATE contacts SET state = given.state, contact_id = given.contact_id, document = given.document,
      linked_to = given.linked_to, bound_run = given.bound_run, bound_at = given.bound_at, written_at = given.written_at
    FROM given WHERE contacts.key = given.key RETURNING contacts.number),
  entered AS (
    INSERT INTO contacts (number, key, state, contact_id, document, linked_to, bound_run, bound_at, written_at)
    SELECT (SELECT coalesce(max(number), 0) FROM contacts) + row_number() OVER (ORDER BY place), key, state, contact_id, document,
      linked_to, bound_run, bound_at, written_at
    FROM given WHERE NOT EXISTS (SELECT 1 FROM contacts WHERE contacts.key = given.key) RETURNING number)
  SELECT number FROM changed UNION ALL SELECT number FROM entered`;

async function writeContacts(statements: Statements, { contacts }: KeyWrites): Promise<void> {
  if (contacts.length === 0) return;
  const rows = lastOfEach(contacts, ({ key }) => key);
  await statements.run(
    putContacts,
    rows.map(({ key }) => key),
    rows.map(({ state }) => state),
    rows.map(({ contactId }) => contactId),
    rows.map(({ document }) => document),
    rows.map(({ linkedTo }) => linkedTo),
    rows.map(({ boundRun }) => boundRun),
    rows.map(({ boundAtMs }) => boundAtMs),
    rows.map(({ writtenAtMs }) => writtenAtMs),
  );
}

async function writeFlights(statements: Statements, { flights, landed }: KeyWrites): Promise<void> {
  if (landed.length > 0) await statements.run('DELETE FROM flights WHERE key = ANY ($1::text[])', landed);
  if (flights.length === 0) return;
  const rows = lastOfEach(flights, ({ key }) => key);
  await statements.run(
    `INSERT INTO flights (key, owner, lease_until, horizon, horizon_span, claim, intent_run, attempts, owned)
     SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::bigint[],
       $9::text[])
     ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, lease_until = excluded.lease_until, horizon = excluded.horizon,
       horizon_span = excluded.horizon_span, claim = excluded.claim, intent_run = excluded.intent_run,
       attempts = excluded.attempts, owned = excluded.owned`,
    rows.map(({ key }) => key),
    rows.map(({ owner }) => owner),
    rows.map(({ leaseUntilMs }) => leaseUntilMs),
    rows.map(({ horizonAtMs }) => horizonAtMs),
    rows.map(({ horizonSpanMs }) => horizonSpanMs),
    rows.map(({ claim }) => claim),
    rows.map(({ intentRun }) => intentRun),
    rows.map(({ attempts }) => attempts),
    rows.map(({ owned }) => owned),
  );
}

async function writeKnown(statements: Statements, { known }: KeyWrites): Promise<void> {
  if (known.length === 0) return;
  const rows = lastOfEach(known, ({ feed, key }) => `${feed}\0${key}`);
  await statements.run(
    `WITH entered AS (
       INSERT INTO known (feed_number, number, row_hash, fingerprint, tried, sequence, spoken, held_count)
       SELECT feeds.number, contacts.number, row_hash, fingerprint, tried, sequence, spoken, held_count
       FROM unnest($1::text[], $2::text[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bigint[], $7::bigint[], $8::bigint[])
         AS given (feed, key, row_hash, fingerprint, tried, sequence, spoken, held_count)
       LEFT JOIN feeds ON feeds.name = given.feed LEFT JOIN contacts ON contacts.key = given.key
       ON CONFLICT (feed_number, number) DO UPDATE SET row_hash = excluded.row_hash, fingerprint = excluded.fingerprint,
         tried = excluded.tried, sequence = excluded.sequence, spoken = excluded.spoken, held_count = excluded.held_count)
     UPDATE feeds SET revision = revision + 1 WHERE name = ANY ($1::text[])`,
    rows.map(({ feed }) => feed),
    rows.map(({ key }) => key),
    rows.map(({ rowHash }) => hashBytes(rowHash)),
    rows.map(({ fingerprint }) => hashBytes(fingerprint)),
    rows.map(({ tried }) => hashBytes(tried)),
    rows.map(({ sequence }) => sequence),
    rows.map(({ spoken }) => spoken),
    rows.map(({ heldCount }) => heldCount),
  );
}

async function writeHeld(statements: Statements, { heldStill, held }: KeyWrites): Promise<void> {
  if (heldStill.length > 0) {
    // The fields of a key as JSON: PostgreSQL has no lists of lists of different lengths.
    await statements.run(
      `DELETE FROM held USING unnest($1::text[], $2::text[], $3::text[]) AS given (feed, key, fields)
       WHERE held.feed = given.feed AND held.key = given.key
         AND NOT EXISTS (SELECT 1 FROM json_array_elements_text(given.fields::json) AS still WHERE still = held.field)`,
      heldStill.map(({ feed }) => feed),
      heldStill.map(({ key }) => key),
      heldStill.map(({ fields }) => JSON.stringify(fields)),
    );
  }
  if (held.length === 0) return;
  const rows = lastOfEach(held, ({ feed, key, field }) => `${feed}\0${key}\0${field}`);
  await statements.run(
    `INSERT INTO held (feed, key, field, said, ours, theirs, run_id, line, since)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[],
       $9::bigint[])
     ON CONFLICT (feed, key, field) DO UPDATE SET said = excluded.said, ours = excluded.ours, theirs = excluded.theirs,
       run_id = excluded.run_id, line = excluded.line`,
    rows.map(({ feed }) => feed),
    rows.map(({ key }) => key),
    rows.map(({ field }) => field),
    rows.map(({ said }) => JSON.stringify(said)),
    rows.map(({ ours }) => JSON.stringify(ours)),
    rows.map(({ theirs }) => JSON.stringify(theirs)),
    rows.map(({ runId }) => runId),
    rows.map(({ line }) => line),
    rows.map(({ sinceMs }) => sinceMs),
  );
}

async function writeHistory(statements: Statements, { history }: KeyWrites): Promise<void> {
  if (history.length === 0) return;
  const keys = history.map(({ key }) => key);
  await statements.run(
    `INSERT INTO key_events (key, ordinal, at, run_id, kind, contact_id, detail)
     SELECT key, coalesce((SELECT max(ordinal) FROM key_events WHERE key_events.key = given.key), 0)
         + row_number() OVER (PARTITION BY key ORDER BY place), at, run_id, kind, contact_id, detail
     FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[])
       WITH ORDINALITY AS given (key, at, run_id, kind, contact_id, detail, place)`,
    keys,
    history.map(({ atMs }) => atMs),
    history.map(({ runId }) => runId),
    history.map(({ kind }) => kind),
    history.map(({ contactId }) => contactId),
    history.map(({ detail }) => detail),
  );
  await statements.run(
    `DELETE FROM key_events USING (SELECT given.key, (SELECT max(ordinal) FROM key_events WHERE key_events.key = given.key) AS last
       FROM unnest($1::text[]) AS given (key)) AS newest
     WHERE key_events.key = newest.key AND key_events.ordinal <= newest.last - ${eventsPerKeyMax}`,
    [...new Set(keys)],
  );
}
