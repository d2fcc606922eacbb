/**
 * Migrations 1 to 5: the tables of the ledger's first design, as they were released.
 *
 * The migrations are at the end of the file; later ones are put together from a text per subject.
 * `WITHOUT ROWID` where the key is the way in. Documents are JSON text; what is searched or counted is a column.
 */

/** Migration 1: runs, staged rows, keys and dead letters. */
const first = `
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
  `;

/** Migration 2: what a run touched, what its audits found, and the history of keys that were in doubt. */
const auditTables = `
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
  `;

/** The tables of schedules: part of migration 3. */
const scheduleTables = `
  CREATE TABLE schedules (
    name TEXT PRIMARY KEY,
    work TEXT NOT NULL,
    rule TEXT,
    due_at INTEGER,
    paused_at INTEGER,
    pause_reason TEXT,
    resumed_at INTEGER,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE ticks (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    schedule TEXT NOT NULL,
    work TEXT NOT NULL,
    trigger TEXT NOT NULL,
    state TEXT NOT NULL,
    user TEXT,
    due_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    outcome TEXT,
    run_ids TEXT NOT NULL DEFAULT '[]',
    taken_at INTEGER,
    code TEXT,
    kind TEXT,
    message TEXT,
    hint TEXT
  ) STRICT;
  CREATE INDEX ticks_by_schedule ON ticks (schedule, number);
  CREATE INDEX ticks_open ON ticks (state, schedule, number) WHERE ended_at IS NULL;
`;

/**
 * The tables of snapshots: part of migration 3.
 *
 * A snapshot that shows a change says in `shown` which numbers it shows and in which order (`writeRuns` in `snapshots.ts`); one that
 * shows nothing new refers to it by `content_of`. A number has a small key, and one version for each of its contents:
 * from the first snapshot that shows it until the last one, or null as long as the newest does.
 */
const snapshotTables = `
  CREATE TABLE snapshots (
    series TEXT NOT NULL,
    taken_at INTEGER NOT NULL,
    "count" INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    changed_numbers INTEGER NOT NULL,
    content_of INTEGER NOT NULL,
    shown TEXT,
    PRIMARY KEY (series, taken_at)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE snapshot_numbers (
    number_key INTEGER PRIMARY KEY,
    series TEXT NOT NULL,
    id TEXT NOT NULL,
    UNIQUE (series, id)
  ) STRICT;

  CREATE TABLE number_versions (
    number_key INTEGER NOT NULL,
    from_at INTEGER NOT NULL,
    until_at INTEGER,
    document TEXT NOT NULL,
    UNIQUE (number_key, from_at)
  ) STRICT;
  CREATE INDEX number_versions_open ON number_versions (number_key) WHERE until_at IS NULL;
  CREATE INDEX number_versions_ended ON number_versions (until_at) WHERE until_at IS NOT NULL;
`;

/**
 * The tables of takes: part of migration 3.
 *
 * One row for each path that a feed has met. Without a hash it was passed over: a newer one was taken instead.
 * `seen_at`, to the day: when it lay there last.
 */
const takeTables = `
  CREATE TABLE taken_files (
    feed TEXT NOT NULL,
    path TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    modified_at INTEGER NOT NULL,
    sha256 TEXT,
    taken_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (feed, path)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX taken_files_newest ON taken_files (feed, modified_at, path) WHERE sha256 IS NOT NULL;

  CREATE TABLE taken_urls (
    feed TEXT PRIMARY KEY,
    url_hash TEXT NOT NULL,
    answered_hash TEXT NOT NULL,
    etag TEXT,
    last_modified TEXT,
    sha256 TEXT NOT NULL,
    taken_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE takes_begun (
    feed TEXT PRIMARY KEY,
    sha256 TEXT NOT NULL,
    begun_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

/** The tables of deliveries, and the indexes for the health of feeds: part of migration 3. */
const deliveryTables = `
  CREATE TABLE deliveries (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    type TEXT NOT NULL,
    feed TEXT NOT NULL,
    data TEXT NOT NULL,
    at INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting',
    attempts INTEGER NOT NULL DEFAULT 0,
    waits_since INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    ended_at INTEGER,
    code TEXT,
    message TEXT
  ) STRICT;
  CREATE INDEX deliveries_waiting ON deliveries (kind, due_at, number) WHERE state = 'waiting';
  CREATE INDEX deliveries_waiting_of_feed ON deliveries (feed, kind, number) WHERE state = 'waiting';
  CREATE INDEX deliveries_by_state ON deliveries (state, ended_at);

  CREATE TABLE feed_conditions (
    feed TEXT PRIMARY KEY,
    troubles TEXT NOT NULL,
    since INTEGER NOT NULL,
    known_since INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX runs_by_feed ON runs (feed, kind, state, sequence);
  CREATE INDEX dead_letters_open ON dead_letters (feed, sequence) WHERE state IN ('open', 'redriven');
`;

/** What runs know of their feed: part of migration 3. */
const feedTables = `
  ALTER TABLE runs ADD COLUMN source_label TEXT;
  ALTER TABLE runs ADD COLUMN refusal TEXT;
`;

/**
 * Part of migration 4. An old ledger's agreements are derived when a key is met first (`agreementsOf`); what it knew of
 * owned items stays, by value; an update in doubt is judged by what the service holds.
 */
const agreedTables = `
  ALTER TABLE contacts ADD COLUMN agreed TEXT;
  ALTER TABLE contacts ADD COLUMN stamps TEXT;
  ALTER TABLE contacts ADD COLUMN written_at INTEGER;
  ALTER TABLE contacts ADD COLUMN written_boot TEXT;
  ALTER TABLE contacts DROP COLUMN written_sequence;
  UPDATE contacts SET claim = NULL WHERE claim IS NOT NULL;
  UPDATE contacts SET owned = json_object(
    'emails', (SELECT json_group_array(json_extract(value, '$.value')) FROM json_each(owned, '$.emails')),
    'phones', (SELECT json_group_array(json_extract(value, '$.value')) FROM json_each(owned, '$.phones')),
    'customFields', (SELECT json_group_array(json_object('key', json_extract(seen_field.value, '$.key'),
        'value', json(seen_field.value -> '$.value')))
      FROM json_each(seen, '$.customFields') AS seen_field
      WHERE json_extract(seen_field.value, '$.key') IN (
        SELECT json_extract(value, '$.key') FROM json_each(owned, '$.customFields')))) WHERE owned IS NOT NULL;

  ALTER TABLE said ADD COLUMN spoken INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE said ADD COLUMN held_count INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE said ADD COLUMN tried TEXT;
  UPDATE said SET spoken = sequence;

  CREATE TABLE held (
    feed TEXT NOT NULL,
    key TEXT NOT NULL,
    field TEXT NOT NULL,
    said TEXT NOT NULL,
    ours TEXT NOT NULL,
    theirs TEXT NOT NULL,
    run_id TEXT NOT NULL,
    line INTEGER NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (feed, key, field)
  ) STRICT, WITHOUT ROWID;
`;

/**
 * What the ledger needs to measure waiting times: part of migration 4.
 *
 * `staged_parked`: rows that were put off are few, and found without a walk over all. `stopped_at`, since when a run is
 * stopped; `stopped_ms`, how long it was so before.
 */
const clockTables = `
  CREATE INDEX staged_parked ON staged (not_before) WHERE outcome IS NULL AND not_before > 0;
  ALTER TABLE runs ADD COLUMN stopped_at INTEGER;
  ALTER TABLE runs ADD COLUMN stopped_ms INTEGER NOT NULL DEFAULT 0;
`;

/**
 * What approvals and redrives need: part of migration 4.
 *
 * `redriven_letters`: the letters that a redrive took, in the order in which they were met, until it has ended. Those of
 * redrives that were entered before this table was there are filled in.
 */
const guardTables = `
  ALTER TABLE runs ADD COLUMN approvals TEXT NOT NULL DEFAULT '[]';

  CREATE TABLE redriven_letters (
    run_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    letter_id TEXT NOT NULL,
    PRIMARY KEY (run_id, ordinal)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO redriven_letters (run_id, ordinal, letter_id)
    SELECT redrive_run_id, row_number() OVER (PARTITION BY redrive_run_id ORDER BY sequence, line, id), id
    FROM dead_letters WHERE state = 'redriven' AND redrive_run_id IS NOT NULL;
  CREATE INDEX dead_letters_by_redrive ON dead_letters (redrive_run_id) WHERE redrive_run_id IS NOT NULL;
  CREATE INDEX dead_letters_without_key ON dead_letters (feed, sequence) WHERE key IS NULL AND state = 'open';
`;

/**
 * Migration 5: contacts without an externalId, and keys in another form.
 *
 * `runs.look` is what a run found of contacts without an externalId, `staged.link` what a row was found to
 * be. `linked_to` is the contact that a key was linked to, or is about to be: no two keys have the same.
 * `contacts_by_folded_key` finds keys that differ in case.
 */
const linkTables = `
  ALTER TABLE runs ADD COLUMN look TEXT;
  ALTER TABLE runs ADD COLUMN linked INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE staged ADD COLUMN link TEXT;
  ALTER TABLE contacts ADD COLUMN linked_to TEXT;
  CREATE UNIQUE INDEX contacts_by_link ON contacts (linked_to) WHERE linked_to IS NOT NULL;
  CREATE INDEX contacts_by_folded_key ON contacts (lower(key));
`;

export const firstDesign: readonly string[] = [
  first,
  auditTables,
  scheduleTables + snapshotTables + takeTables + deliveryTables + feedTables,
  agreedTables + clockTables + guardTables,
  linkTables,
];
