/**
 * The first schema in PostgreSQL: the tables of the ledger's second design, as SQLite has them since its schema 6.
 *
 * Text is ordered by its bytes (`"C"`), so that lists have one order on both databases. Flags are 0 or 1; documents are JSON text and
 * not `jsonb`, which would take them apart, order their members and refuse `\u0000`; instants are milliseconds. Nothing is
 * referred to by foreign keys but runs by their feeds: a check of each row would cost more than the row.
 *
 * `staged.place` is the run's sequence × 2^23 + the row's position: rows of a run lie side by side in the order of its file. What
 * changes of a row is in `staged`, what is wide in `staged_content`, and a change writes a narrow row anew. `contacts.number` names a
 * key in bitmaps, and is given by the statement that enters it. Tables whose rows change often keep room in their pages, so that a
 * change stays in its page and touches no index.
 *
 * `letter_counts` and `letter_revision` are kept by triggers, one for each statement and not for each row. An empty field is none.
 * `changes`: the last transaction of each ledger that is open, or was lately (`changes.ts`).
 */

const runs = `
  CREATE TABLE changes (
    writer text COLLATE "C" PRIMARY KEY,
    number bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
  ) WITH (fillfactor = 50);

  CREATE TABLE feeds (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    created_at bigint NOT NULL,
    revision bigint NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50);

  CREATE TABLE runs (
    sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    feed text COLLATE "C" NOT NULL REFERENCES feeds (name),
    kind text COLLATE "C" NOT NULL,
    file_name text COLLATE "C" NOT NULL,
    claimed_path text COLLATE "C" NOT NULL,
    import_folder text COLLATE "C" NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    bytes bigint NOT NULL,
    state text COLLATE "C" NOT NULL,
    options text COLLATE "C" NOT NULL,
    mapping text COLLATE "C",
    key_prefix text COLLATE "C",
    source_label text COLLATE "C",
    refusal text COLLATE "C",
    reason text COLLATE "C",
    notes text COLLATE "C" NOT NULL DEFAULT '[]',
    shape text COLLATE "C",
    approvals text COLLATE "C" NOT NULL DEFAULT '[]',
    look text COLLATE "C",
    created_at bigint NOT NULL,
    started_at bigint,
    finished_at bigint,
    stopped_at bigint,
    stopped_ms bigint NOT NULL DEFAULT 0,
    pending bigint NOT NULL DEFAULT 0,
    pruned smallint NOT NULL DEFAULT 0,
    "rows" bigint NOT NULL DEFAULT 0,
    created bigint NOT NULL DEFAULT 0,
    updated bigint NOT NULL DEFAULT 0,
    unchanged bigint NOT NULL DEFAULT 0,
    skipped bigint NOT NULL DEFAULT 0,
    dead bigint NOT NULL DEFAULT 0,
    adopted bigint NOT NULL DEFAULT 0,
    linked bigint NOT NULL DEFAULT 0,
    "heldFields" bigint NOT NULL DEFAULT 0,
    "removedValues" bigint NOT NULL DEFAULT 0,
    "deadNew" bigint NOT NULL DEFAULT 0,
    warnings bigint NOT NULL DEFAULT 0,
    "lookedUp" bigint NOT NULL DEFAULT 0,
    "foundUnknown" bigint NOT NULL DEFAULT 0,
    "get" bigint NOT NULL DEFAULT 0,
    post bigint NOT NULL DEFAULT 0,
    patch bigint NOT NULL DEFAULT 0,
    retried bigint NOT NULL DEFAULT 0,
    "rateLimited" bigint NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50);
  CREATE INDEX runs_by_content ON runs (feed, sha256);
  CREATE INDEX runs_by_feed ON runs (feed, kind, state, sequence);
  CREATE INDEX runs_by_prefix ON runs (key_prefix, sequence) WHERE key_prefix IS NOT NULL;
  CREATE INDEX runs_by_state ON runs (state, sequence);
  CREATE INDEX runs_in_line ON runs (feed, sequence) WHERE state IN ('queued', 'staging', 'applying');
  CREATE INDEX runs_of_feed ON runs (feed, sequence);
  CREATE INDEX runs_unpruned ON runs (sequence) WHERE pruned = 0 AND finished_at IS NOT NULL;
  CREATE INDEX runs_with_look ON runs (feed, sequence) WHERE look IS NOT NULL;

  CREATE TABLE headers (
    run_sequence bigint NOT NULL,
    number bigint NOT NULL,
    columns text COLLATE "C" NOT NULL,
    PRIMARY KEY (run_sequence, number)
  );

  CREATE TABLE staged (
    place bigint PRIMARY KEY,
    not_before bigint NOT NULL DEFAULT 0,
    attempts integer NOT NULL DEFAULT 0,
    sent smallint NOT NULL DEFAULT 0,
    outcome text COLLATE "C",
    key text COLLATE "C" NOT NULL,
    link text COLLATE "C"
  ) WITH (fillfactor = 50);

  CREATE TABLE staged_content (
    place bigint PRIMARY KEY,
    line bigint NOT NULL,
    sequence bigint NOT NULL,
    header bigint,
    record bigint NOT NULL,
    row_hash text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    mapping_version text COLLATE "C" NOT NULL,
    letter_id text COLLATE "C",
    desired text COLLATE "C" NOT NULL,
    content text COLLATE "C" NOT NULL,
    beyond text COLLATE "C"
  );

  CREATE TABLE batches (
    run_sequence bigint NOT NULL,
    batch bigint NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    generation bigint NOT NULL DEFAULT 0,
    due_at bigint NOT NULL DEFAULT 0,
    done smallint NOT NULL DEFAULT 0,
    PRIMARY KEY (run_sequence, batch)
  );
  CREATE INDEX batches_due ON batches (run_sequence, batch) WHERE done = 0;

  CREATE TABLE run_events (
    run_sequence bigint NOT NULL,
    ordinal bigint NOT NULL,
    event text COLLATE "C" NOT NULL,
    PRIMARY KEY (run_sequence, ordinal)
  );

  CREATE TABLE bitmaps (
    run_sequence bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    bits bytea NOT NULL,
    PRIMARY KEY (run_sequence, kind)
  );

  CREATE TABLE touched_keys (
    run_sequence bigint NOT NULL,
    position bigint NOT NULL,
    in_doubt smallint NOT NULL DEFAULT 0,
    key text COLLATE "C" NOT NULL,
    PRIMARY KEY (run_sequence, position)
  );
  CREATE INDEX touched_keys_in_doubt ON touched_keys (run_sequence, position) WHERE in_doubt = 1;
`;

const keys = `
  CREATE TABLE contacts (
    number integer PRIMARY KEY,
    bound_run bigint,
    bound_at bigint,
    written_at bigint,
    key text COLLATE "C" NOT NULL UNIQUE,
    state text COLLATE "C" NOT NULL,
    contact_id text COLLATE "C",
    linked_to text COLLATE "C",
    document text COLLATE "C"
  ) WITH (fillfactor = 80);
  CREATE UNIQUE INDEX contacts_by_link ON contacts (linked_to) WHERE linked_to IS NOT NULL;
  CREATE INDEX contacts_by_folded_key ON contacts (lower(key));

  CREATE TABLE flights (
    lease_until bigint,
    horizon bigint,
    horizon_span bigint,
    attempts integer NOT NULL DEFAULT 0,
    key text COLLATE "C" PRIMARY KEY,
    owner text COLLATE "C",
    intent_run text COLLATE "C",
    claim text COLLATE "C",
    owned text COLLATE "C"
  ) WITH (fillfactor = 50);
  CREATE INDEX flights_in_doubt ON flights (key) WHERE claim IS NOT NULL OR intent_run IS NOT NULL;

  CREATE TABLE known (
    feed_number integer NOT NULL,
    number integer NOT NULL,
    sequence integer NOT NULL,
    spoken integer NOT NULL,
    held_count integer NOT NULL DEFAULT 0,
    row_hash bytea,
    fingerprint bytea,
    tried bytea,
    PRIMARY KEY (feed_number, number)
  ) WITH (fillfactor = 80);

  CREATE TABLE held (
    feed text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    field text COLLATE "C" NOT NULL,
    said text COLLATE "C" NOT NULL,
    ours text COLLATE "C" NOT NULL,
    theirs text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    line bigint NOT NULL,
    since bigint NOT NULL,
    PRIMARY KEY (feed, key, field)
  );

  CREATE TABLE key_events (
    key text COLLATE "C" NOT NULL,
    ordinal bigint NOT NULL,
    at bigint NOT NULL,
    run_id text COLLATE "C",
    kind text COLLATE "C" NOT NULL,
    contact_id text COLLATE "C",
    detail text COLLATE "C",
    PRIMARY KEY (key, ordinal)
  );
  CREATE INDEX key_events_by_age ON key_events (at);

  CREATE TABLE journal (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_sequence bigint NOT NULL,
    at bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    contact_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    changes text COLLATE "C" NOT NULL
  );
  CREATE INDEX journal_by_run ON journal (run_sequence, number);
  CREATE INDEX journal_by_key ON journal (key, number);
`;

const letters = `
  CREATE TABLE letter_headers (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash bytea NOT NULL UNIQUE,
    columns text COLLATE "C" NOT NULL
  );

  CREATE TABLE letters (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    line bigint NOT NULL,
    sequence bigint NOT NULL,
    first_at bigint NOT NULL,
    last_at bigint NOT NULL,
    header bigint,
    attempts bigint NOT NULL DEFAULT 0,
    seen_count bigint NOT NULL DEFAULT 1,
    settled smallint NOT NULL DEFAULT 0,
    id text COLLATE "C" NOT NULL UNIQUE,
    feed text COLLATE "C" NOT NULL,
    identity text COLLATE "C" NOT NULL,
    code text COLLATE "C" NOT NULL,
    key text COLLATE "C",
    class text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    first_run_id text COLLATE "C" NOT NULL,
    file text COLLATE "C" NOT NULL,
    field text COLLATE "C",
    state text COLLATE "C" NOT NULL DEFAULT 'open',
    redrive_run_id text COLLATE "C",
    message text COLLATE "C" NOT NULL,
    hint text COLLATE "C" NOT NULL,
    "row" text COLLATE "C",
    desired text COLLATE "C",
    answer text COLLATE "C",
    UNIQUE (feed, identity, code)
  );
  CREATE INDEX letters_listed ON letters (settled, last_at DESC, line, id, state, code, run_id, feed);
  CREATE INDEX letters_by_key ON letters (feed, key) WHERE key IS NOT NULL;
  CREATE INDEX letters_met ON letters (feed, sequence, line, id, state) WHERE settled = 0;
  CREATE INDEX letters_without_key ON letters (feed, sequence, line, id) WHERE key IS NULL AND settled = 0;
  CREATE INDEX letters_by_redrive ON letters (redrive_run_id, sequence, line, id) WHERE redrive_run_id IS NOT NULL;
  CREATE INDEX letters_by_reason ON letters (code, class, md5(coalesce(field, '')), state) WHERE settled = 0;
  CREATE INDEX letters_by_header ON letters (header) WHERE header IS NOT NULL;

  CREATE TABLE letter_counts (
    state text COLLATE "C" NOT NULL,
    code text COLLATE "C" NOT NULL,
    class text COLLATE "C" NOT NULL,
    field text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    feed text COLLATE "C" NOT NULL,
    letters bigint NOT NULL
  ) WITH (fillfactor = 50);
  CREATE UNIQUE INDEX letter_counts_of ON letter_counts (state, code, class, md5(field), run_id, feed);
  CREATE INDEX letter_counts_of_run ON letter_counts (run_id);

  CREATE TABLE letter_revision (revision bigint NOT NULL);
  INSERT INTO letter_revision (revision) VALUES (0);

  CREATE TABLE redrives (
    run_id text COLLATE "C" PRIMARY KEY,
    feed text COLLATE "C" NOT NULL,
    choice text COLLATE "C" NOT NULL,
    after text COLLATE "C",
    is_taking smallint NOT NULL
  );

  CREATE TABLE dead_rows (
    run_sequence bigint NOT NULL,
    ordinal bigint NOT NULL,
    header bigint,
    letter_id text COLLATE "C" NOT NULL,
    dead text COLLATE "C" NOT NULL,
    PRIMARY KEY (run_sequence, ordinal)
  );
  CREATE INDEX dead_rows_by_header ON dead_rows (header) WHERE header IS NOT NULL;

  CREATE TABLE dead_row_counts (
    run_sequence bigint NOT NULL,
    class text COLLATE "C" NOT NULL,
    code text COLLATE "C" NOT NULL,
    "rows" bigint NOT NULL,
    PRIMARY KEY (run_sequence, class, code)
  );
`;

/** What a letter is counted by. */
const counted = 'state, code, class, field, run_id, feed';
const of = `state, code, class, coalesce(field, '') AS field, run_id, feed`;

/** @param rows a query for the letters of a statement, each with `by`: how many it adds to its count. */
const count = (rows: string): string => `
    INSERT INTO letter_counts (${counted}, letters)
      SELECT ${counted}, sum(by) FROM (${rows}) AS turned GROUP BY ${counted} HAVING sum(by) <> 0
      ON CONFLICT (state, code, class, md5(field), run_id, feed)
      DO UPDATE SET letters = letter_counts.letters + excluded.letters;
    DELETE FROM letter_counts WHERE letters = 0;`;
const raise = 'UPDATE letter_revision SET revision = revision + 1;';

const trigger = (name: string, event: string, transition: string, body: string): string => `
  CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
    ${body}
    RETURN NULL;
  END $$;
  CREATE TRIGGER ${name} AFTER ${event} ON letters REFERENCING ${transition} FOR EACH STATEMENT EXECUTE FUNCTION ${name}();
`;

const counts = [
  trigger(
    'letters_counted_in',
    'INSERT',
    'NEW TABLE AS entered',
    `IF EXISTS (SELECT 1 FROM entered) THEN ${count(`SELECT ${of}, 1 AS by FROM entered`)} ${raise} END IF;`,
  ),
  trigger(
    'letters_counted_out',
    'DELETE',
    'OLD TABLE AS gone',
    `IF EXISTS (SELECT 1 FROM gone) THEN ${count(`SELECT ${of}, -1 AS by FROM gone`)} ${raise} END IF;`,
  ),
  trigger(
    'letters_counted_anew',
    'UPDATE',
    'OLD TABLE AS before NEW TABLE AS after',
    `IF EXISTS (SELECT 1 FROM (SELECT number, ${of} FROM before EXCEPT SELECT number, ${of} FROM after) AS turned) THEN
      ${count(`SELECT ${of}, 1 AS by FROM after UNION ALL SELECT ${of}, -1 AS by FROM before`)} ${raise} END IF;`,
  ),
].join('');

/** `src/ledger/tables/desk.ts` says what the columns mean and which lists the indexes are for. A number is never given twice. */
const desk = `
  CREATE TABLE records (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at bigint,
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    owner text COLLATE "C",
    state text COLLATE "C" NOT NULL,
    document text COLLATE "C" NOT NULL
  ) WITH (fillfactor = 70);
  CREATE UNIQUE INDEX records_by_id ON records (kind, id);
  CREATE INDEX records_of_owner ON records (kind, owner, number) WHERE owner IS NOT NULL;
  CREATE INDEX records_of_owner_in_state ON records (kind, owner, state, number) WHERE owner IS NOT NULL;
  CREATE INDEX records_in_state ON records (kind, state, number);
  CREATE INDEX records_due ON records (kind, state, at, number) WHERE at IS NOT NULL;
  CREATE INDEX records_latest ON records (kind, owner, state, at, id) WHERE owner IS NOT NULL AND at IS NOT NULL;

  CREATE TABLE snapshot_numbers (
    number_key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    series text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    UNIQUE (series, id)
  );
  CREATE TABLE number_versions (
    number_key bigint NOT NULL,
    from_at bigint NOT NULL,
    until_at bigint,
    document text COLLATE "C" NOT NULL,
    UNIQUE (number_key, from_at)
  );
  CREATE INDEX number_versions_begun ON number_versions (from_at);
  CREATE INDEX number_versions_ended ON number_versions (until_at) WHERE until_at IS NOT NULL;
  CREATE INDEX number_versions_open ON number_versions (number_key) WHERE until_at IS NULL;
`;

export const firstSchema = [runs, keys, letters, counts, desk].join('\n');
