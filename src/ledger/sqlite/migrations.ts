/**
 * The ledger's tables. Each entry takes the schema one version further; none is ever changed once it was released.
 *
 * `WITHOUT ROWID` where the key is the way in. Documents are JSON text; what is searched or counted is a column.
 */
import { agreedTables } from './agreed-tables.ts';
import { clockTables } from './clock-tables.ts';
import { deliveryTables } from './delivery-tables.ts';
import { feedTables } from './feed-tables.ts';
import { guardTables } from './guard-tables.ts';
import { scheduleTables } from './schedule-tables.ts';
import { snapshotTables } from './snapshot-tables.ts';
import { takeTables } from './take-tables.ts';

export const migrations: readonly string[] = [
  `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE feeds (name TEXT PRIMARY KEY, created_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE runs (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    feed TEXT NOT NULL REFERENCES feeds (name),
    kind TEXT NOT NULL,
    file_name TEXT NOT NULL,
    claimed_path TEXT NOT NULL,
    import_folder TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    state TEXT NOT NULL,
    options TEXT NOT NULL,
    mapping TEXT,
    reason TEXT,
    notes TEXT NOT NULL DEFAULT '[]',
    shape TEXT,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    "rows" INTEGER NOT NULL DEFAULT 0,
    created INTEGER NOT NULL DEFAULT 0,
    updated INTEGER NOT NULL DEFAULT 0,
    unchanged INTEGER NOT NULL DEFAULT 0,
    skipped INTEGER NOT NULL DEFAULT 0,
    dead INTEGER NOT NULL DEFAULT 0,
    adopted INTEGER NOT NULL DEFAULT 0,
    heldFields INTEGER NOT NULL DEFAULT 0,
    removedValues INTEGER NOT NULL DEFAULT 0,
    deadNew INTEGER NOT NULL DEFAULT 0,
    warnings INTEGER NOT NULL DEFAULT 0,
    lookedUp INTEGER NOT NULL DEFAULT 0,
    foundUnknown INTEGER NOT NULL DEFAULT 0,
    "get" INTEGER NOT NULL DEFAULT 0,
    post INTEGER NOT NULL DEFAULT 0,
    patch INTEGER NOT NULL DEFAULT 0,
    retried INTEGER NOT NULL DEFAULT 0,
    rateLimited INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX runs_by_state ON runs (state, sequence);
  CREATE INDEX runs_by_content ON runs (feed, sha256);

  CREATE TABLE run_keys (
    run_id TEXT NOT NULL,
    key TEXT NOT NULL,
    line INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (run_id, key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE staged (
    run_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    batch INTEGER NOT NULL,
    line INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    key TEXT NOT NULL,
    row_hash TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    mapping_version TEXT NOT NULL,
    desired TEXT NOT NULL,
    "row" TEXT NOT NULL,
    letter_id TEXT,
    outcome TEXT,
    not_before INTEGER NOT NULL DEFAULT 0,
    sent INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run_id, position)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX staged_pending ON staged (run_id, batch, position) WHERE outcome IS NULL;
  CREATE INDEX staged_by_key ON staged (run_id, key);

  CREATE TABLE batches (
    run_id TEXT NOT NULL,
    batch INTEGER NOT NULL,
    generation INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run_id, batch)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX batches_due ON batches (due_at) WHERE done = 0;

  CREATE TABLE contacts (
    key TEXT PRIMARY KEY,
    state TEXT NOT NULL DEFAULT 'none',
    contact_id TEXT,
    seen TEXT,
    owned TEXT,
    written_sequence INTEGER NOT NULL DEFAULT 0,
    owner TEXT,
    lease_until INTEGER,
    lease_boot TEXT,
    horizon INTEGER,
    horizon_boot TEXT,
    intent_run TEXT,
    attempts INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE said (
    feed TEXT NOT NULL,
    key TEXT NOT NULL,
    said TEXT NOT NULL,
    row_hash TEXT,
    fingerprint TEXT,
    mapping_version TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    settled_at INTEGER NOT NULL,
    PRIMARY KEY (feed, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX said_by_row ON said (feed, row_hash) WHERE row_hash IS NOT NULL;

  CREATE TABLE dead_letters (
    id TEXT PRIMARY KEY,
    feed TEXT NOT NULL,
    identity TEXT NOT NULL,
    code TEXT NOT NULL,
    key TEXT,
    class TEXT NOT NULL,
    run_id TEXT NOT NULL,
    first_run_id TEXT NOT NULL,
    file TEXT NOT NULL,
    line INTEGER NOT NULL,
    field TEXT,
    message TEXT NOT NULL,
    hint TEXT NOT NULL,
    "row" TEXT,
    desired TEXT,
    answer TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    seen_count INTEGER NOT NULL DEFAULT 1,
    state TEXT NOT NULL DEFAULT 'open',
    redrive_run_id TEXT,
    sequence INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    UNIQUE (feed, identity, code)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX dead_letters_by_key ON dead_letters (feed, key) WHERE key IS NOT NULL;
  CREATE INDEX dead_letters_by_state ON dead_letters (state, last_at);

  CREATE TABLE dead_rows (
    run_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    letter_id TEXT NOT NULL,
    dead TEXT NOT NULL,
    PRIMARY KEY (run_id, ordinal)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE run_events (
    run_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (run_id, ordinal)
  ) STRICT, WITHOUT ROWID;
  `,
  // Audits: what a run touched, what was found, and the history of keys that were in doubt.
  `
  ALTER TABLE contacts ADD COLUMN bound_run TEXT;
  ALTER TABLE contacts ADD COLUMN bound_at INTEGER;
  ALTER TABLE contacts ADD COLUMN claim TEXT;

  CREATE TABLE key_events (
    key TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    at INTEGER NOT NULL,
    run_id TEXT,
    kind TEXT NOT NULL,
    contact_id TEXT,
    detail TEXT,
    PRIMARY KEY (key, ordinal)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX key_events_by_run ON key_events (run_id, kind);

  CREATE TABLE touched_keys (
    run_sequence INTEGER NOT NULL,
    position INTEGER NOT NULL,
    key TEXT NOT NULL,
    in_doubt INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run_sequence, position)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX touched_keys_in_doubt ON touched_keys (run_sequence, position) WHERE in_doubt = 1;

  CREATE TABLE audits (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    run_id TEXT NOT NULL,
    run_sequence INTEGER NOT NULL,
    kind TEXT NOT NULL,
    scope TEXT NOT NULL,
    state TEXT NOT NULL,
    entered_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    finished_at INTEGER,
    key_count INTEGER NOT NULL,
    position INTEGER NOT NULL DEFAULT 0,
    checked INTEGER NOT NULL DEFAULT 0,
    duplicates INTEGER NOT NULL DEFAULT 0,
    missing INTEGER NOT NULL DEFAULT 0,
    unchecked INTEGER NOT NULL DEFAULT 0,
    "get" INTEGER NOT NULL DEFAULT 0,
    retried INTEGER NOT NULL DEFAULT 0,
    rateLimited INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE UNIQUE INDEX audits_after_run ON audits (run_id, kind) WHERE kind <> 'demand';
  CREATE INDEX audits_by_run ON audits (run_id, number);
  CREATE INDEX audits_waiting ON audits (due_at) WHERE state = 'waiting';

  CREATE TABLE audit_findings (
    audit_number INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    kind TEXT NOT NULL,
    finding TEXT NOT NULL,
    PRIMARY KEY (audit_number, ordinal)
  ) STRICT, WITHOUT ROWID;
  `,
  scheduleTables + snapshotTables + takeTables + deliveryTables + feedTables,
  // What file and app agreed on, order per feed, fields that wait for a person; the ledger's own clock; approvals.
  agreedTables + clockTables + guardTables,
];
