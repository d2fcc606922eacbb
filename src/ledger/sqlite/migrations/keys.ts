/** Migration 6, second design: contacts, work in flight, what feeds know, the journal. */
import { nobodyOwns } from '#src/contacts/base.ts';
import type { FeedSaid } from '#src/ledger/contacts.ts';
import { type ContactMemory, packMemory } from '#src/ledger/packed-memory.ts';
import type { MigratedDatabase, MigrationStep } from './step.ts';

const tables = `
  CREATE TEMP TABLE feeds_before AS SELECT name, created_at FROM feeds ORDER BY created_at, name;
  PRAGMA defer_foreign_keys = ON;
  DROP TABLE feeds;
  CREATE TABLE feeds (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    revision INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  INSERT INTO feeds (name, created_at) SELECT name, created_at FROM feeds_before ORDER BY created_at, name;
  DROP TABLE feeds_before;

  DROP INDEX contacts_by_link;
  DROP INDEX contacts_by_folded_key;
  ALTER TABLE contacts RENAME TO contacts_before;
  CREATE TABLE contacts (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    contact_id TEXT,
    document TEXT,
    linked_to TEXT,
    bound_run INTEGER,
    bound_at INTEGER,
    written_at INTEGER
  ) STRICT;

  CREATE TABLE flights (
    key TEXT PRIMARY KEY,
    owner TEXT,
    lease_until INTEGER,
    horizon INTEGER,
    horizon_span INTEGER,
    claim TEXT,
    intent_run TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    owned TEXT
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE known (
    feed_number INTEGER NOT NULL,
    number INTEGER NOT NULL,
    row_hash BLOB,
    fingerprint BLOB,
    tried BLOB,
    sequence INTEGER NOT NULL,
    spoken INTEGER NOT NULL,
    held_count INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (feed_number, number)
  ) STRICT, WITHOUT ROWID;
`;

/**
 * No boot of the system that reads this ledger next knows its old horizons: each starts again in full when its clock starts
 * anew (`clock.ts`), and until then lies in the far future.
 */
const flights = `
  CREATE INDEX said_by_key_before ON said (key);
  INSERT INTO contacts_before (key) SELECT DISTINCT key FROM said WHERE key NOT IN (SELECT key FROM contacts_before);
  INSERT INTO flights (key, horizon, horizon_span, claim, intent_run, attempts, owned)
    SELECT key, CASE WHEN horizon IS NULL THEN NULL ELSE 8640000000000000 END, CASE WHEN horizon IS NULL THEN NULL ELSE 60000 END, claim,
      CASE WHEN state = 'intent' THEN coalesce(intent_run, '') END, attempts, owned
    FROM contacts_before WHERE state = 'intent' OR claim IS NOT NULL OR horizon IS NOT NULL OR attempts > 0;
  DELETE FROM meta WHERE name = 'clock';
`;

const keysAtOnce = 1_000;

/** Ends: each turn goes on behind the last key. */
function packContacts(db: MigratedDatabase): void {
  let after = '';
  for (;;) {
    const rows = db.all(
      `SELECT contacts_before.*, (SELECT json_group_array(json_object('feed', feed, 'said', json(said.said)))
         FROM said WHERE said.key = contacts_before.key) AS saids, (SELECT sequence FROM runs WHERE id = bound_run) AS bound_sequence
       FROM contacts_before WHERE key > ? ORDER BY key LIMIT ${keysAtOnce}`,
      after,
    );
    for (const row of rows) {
      const parsed = <Value>(name: string): Value | null =>
        typeof row[name] === 'string' ? (JSON.parse(row[name]) as Value) : null;
      const memory: ContactMemory = {
        seen: parsed<ContactMemory['seen']>('seen'),
        owned: parsed<ContactMemory['owned']>('owned') ?? nobodyOwns,
        agreed: parsed<ContactMemory['agreed']>('agreed'),
        stamps: parsed<ContactMemory['stamps']>('stamps') ?? [],
        saids: parsed<FeedSaid[]>('saids') ?? [],
      };
      db.run(
        `INSERT INTO contacts (key, state, contact_id, document, linked_to, bound_run, bound_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        ...[row.key ?? null, row.state === 'bound' || row.state === 'conflict' ? row.state : 'lookup'],
        ...[row.contact_id ?? null, packMemory(memory), row.linked_to ?? null],
        ...[row.bound_sequence ?? null, row.bound_at ?? null],
      );
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    after = String(last.key);
  }
}

/** Hashes of rows are made in another way than before: fingerprints tell unchanged rows until each was settled again. */
const known = `
  INSERT INTO known (feed_number, number, fingerprint, tried, sequence, spoken, held_count)
    SELECT feeds.number, contacts.number, unhex(substr(fingerprint, 1, 32)), unhex(substr(tried, 1, 32)), sequence, spoken, held_count
    FROM said JOIN feeds ON feeds.name = said.feed JOIN contacts ON contacts.key = said.key ORDER BY feeds.number, contacts.number;
  DROP TABLE said;
  DROP TABLE contacts_before;
  CREATE UNIQUE INDEX contacts_by_link ON contacts (linked_to) WHERE linked_to IS NOT NULL;
  CREATE INDEX contacts_by_folded_key ON contacts (lower(key));
`;

/** Fingerprints are 128 bits from now on, in base64url: those of rows that wait must equal what is made of them again. */
const shortFingerprints: MigrationStep = (db) => {
  for (const row of db.all(
    'SELECT place, fingerprint FROM staged JOIN staged_content USING (place) WHERE outcome IS NULL AND length(fingerprint) = 64',
  )) {
    const short = Buffer.from(String(row.fingerprint).slice(0, 32), 'hex').toString('base64url');
    db.run('UPDATE staged_content SET fingerprint = ? WHERE place = ?', short, row.place ?? null);
  }
};

/** The journal of every write begins empty: earlier writes were not entered. */
const journal = `
  CREATE TABLE journal (
    number INTEGER PRIMARY KEY,
    run_sequence INTEGER NOT NULL,
    key TEXT NOT NULL,
    contact_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    changes TEXT NOT NULL
  ) STRICT;
  CREATE INDEX journal_by_run ON journal (run_sequence);
  CREATE INDEX journal_by_key ON journal (key);
`;

export const keysSteps: readonly MigrationStep[] = [shortFingerprints, tables, flights, packContacts, known, journal];
