/**
 * Migration 6, second design: dead letters and rejected rows.
 *
 * `letter_headers`: the header of a row is stored once for all rows that have it, and stays as long as one of them. `settled`:
 * closed or dropped. `letters_listed` serves the lists with any filter, `letters_met` and `letters_by_redrive` go by the order in
 * which rows were met. `letter_counts` is kept by triggers: how many letters there are of a state, by all that they are counted by;
 * an empty field is none. `letter_revision`: goes up with each of these
 * changes. `redrives`: what is taking its letters, or has not settled them all. `redrive_run_id` names the redrive
 * that took a letter last, until it is open again.
 */
import type { MigrationStep } from './step.ts';

const tables = `
  CREATE TABLE letter_headers (number INTEGER PRIMARY KEY, columns TEXT NOT NULL UNIQUE) STRICT;

  CREATE TABLE letters (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
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
    attempts INTEGER NOT NULL DEFAULT 0,
    seen_count INTEGER NOT NULL DEFAULT 1,
    state TEXT NOT NULL DEFAULT 'open',
    settled INTEGER NOT NULL DEFAULT 0,
    redrive_run_id TEXT,
    sequence INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    header INTEGER REFERENCES letter_headers (number),
    message TEXT NOT NULL,
    hint TEXT NOT NULL,
    "row" TEXT,
    desired TEXT,
    answer TEXT,
    UNIQUE (feed, identity, code)
  ) STRICT;

  CREATE TABLE letter_counts (
    state TEXT NOT NULL,
    code TEXT NOT NULL,
    class TEXT NOT NULL,
    field TEXT NOT NULL,
    run_id TEXT NOT NULL,
    feed TEXT NOT NULL,
    letters INTEGER NOT NULL,
    PRIMARY KEY (state, code, class, field, run_id, feed)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE letter_revision (revision INTEGER NOT NULL) STRICT;
  INSERT INTO letter_revision (revision) VALUES (0);

  CREATE TABLE redrives (
    run_id TEXT PRIMARY KEY,
    feed TEXT NOT NULL,
    choice TEXT NOT NULL,
    after TEXT,
    is_taking INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  ALTER TABLE dead_rows RENAME TO old_dead_rows;
  CREATE TABLE dead_rows (
    run_sequence INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    letter_id TEXT NOT NULL,
    header INTEGER REFERENCES letter_headers (number),
    dead TEXT NOT NULL,
    PRIMARY KEY (run_sequence, ordinal)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE dead_row_counts (
    run_sequence INTEGER NOT NULL,
    class TEXT NOT NULL,
    code TEXT NOT NULL,
    "rows" INTEGER NOT NULL,
    PRIMARY KEY (run_sequence, class, code)
  ) STRICT, WITHOUT ROWID;
`;

const carriedOver = `
  INSERT INTO letter_headers (columns)
    SELECT json_extract("row", '$.columns') AS columns FROM dead_letters WHERE columns IS NOT NULL
    UNION SELECT json_extract(dead, '$.row.columns') AS columns FROM old_dead_rows WHERE columns IS NOT NULL;

  INSERT INTO letters (id, feed, identity, code, key, class, run_id, first_run_id, file, line, field, attempts, seen_count, state,
      settled, redrive_run_id, sequence, first_at, last_at, header, message, hint, "row", desired, answer)
    SELECT old.id, feed, identity, code, key, class, old.run_id, first_run_id, file, line, field, attempts, seen_count, state,
      state IN ('closed', 'dropped'), coalesce(redrive_run_id, CASE WHEN state = 'open' AND taken.run_id = old.run_id THEN old.run_id END),
      sequence, first_at, last_at, (SELECT number FROM letter_headers WHERE columns = json_extract("row", '$.columns')),
      message, hint, json_remove("row", '$.columns'), desired, answer
    FROM dead_letters AS old LEFT JOIN redriven_letters AS taken ON taken.letter_id = old.id AND taken.run_id = old.run_id
    ORDER BY sequence, line, old.id;

  INSERT INTO redrives (run_id, feed, choice, after, is_taking)
    SELECT redrive_run_id, min(feed), '{"ids":[],"code":null,"metBy":[]}', NULL, 0 FROM letters
    WHERE redrive_run_id IS NOT NULL GROUP BY redrive_run_id;

  INSERT INTO dead_rows (run_sequence, ordinal, letter_id, header, dead)
    SELECT runs.sequence, ordinal, letter_id,
      (SELECT number FROM letter_headers WHERE columns = json_extract(old.dead, '$.row.columns')),
      json_remove(old.dead, '$.row.columns')
    FROM old_dead_rows AS old JOIN runs ON runs.id = old.run_id;
  INSERT INTO dead_row_counts (run_sequence, class, code, "rows")
    SELECT run_sequence, json_extract(dead, '$.class'), json_extract(dead, '$.code'), count(*) FROM dead_rows GROUP BY 1, 2, 3;

  DROP TABLE dead_letters;
  DROP TABLE redriven_letters;
  DROP TABLE old_dead_rows;
`;

const indexes = `
  CREATE INDEX letters_listed ON letters (settled, last_at DESC, line, id, state, code, run_id, feed);
  CREATE INDEX letters_by_key ON letters (feed, key) WHERE key IS NOT NULL;
  CREATE INDEX letters_met ON letters (feed, sequence, line, id, state) WHERE settled = 0;
  CREATE INDEX letters_without_key ON letters (feed, sequence, line, id) WHERE key IS NULL AND settled = 0;
  CREATE INDEX letters_by_redrive ON letters (redrive_run_id, sequence, line, id) WHERE redrive_run_id IS NOT NULL;
  CREATE INDEX letters_by_reason ON letters (code, class, field, state) WHERE settled = 0;
  CREATE INDEX letters_by_header ON letters (header) WHERE header IS NOT NULL;
  CREATE INDEX dead_rows_by_header ON dead_rows (header) WHERE header IS NOT NULL;
`;

/** What a letter is counted by. */
const counted = 'state, code, class, field, run_id, feed';
const valuesOf = (letter: 'old' | 'new'): string =>
  `${letter}.state, ${letter}.code, ${letter}.class, coalesce(${letter}.field, ''), ${letter}.run_id, ${letter}.feed`;
const countIn = `INSERT INTO letter_counts (${counted}, letters) VALUES (${valuesOf('new')}, 1)
    ON CONFLICT DO UPDATE SET letters = letters + 1;`;
const countOut = `UPDATE letter_counts SET letters = letters - 1 WHERE (${counted}) = (${valuesOf('old')});`;
const raise = 'UPDATE letter_revision SET revision = revision + 1;';
const isChanged = `(${valuesOf('new')}) IS NOT (${valuesOf('old')})`;

const countsKept = [
  `INSERT INTO letter_counts (${counted}, letters)
     SELECT state, code, class, coalesce(field, ''), run_id, feed, count(*) FROM letters GROUP BY 1, 2, 3, 4, 5, 6`,
  `CREATE TRIGGER letters_counted_in AFTER INSERT ON letters BEGIN ${countIn} ${raise} END`,
  `CREATE TRIGGER letters_counted_out AFTER DELETE ON letters BEGIN ${countOut} ${raise} END`,
  `CREATE TRIGGER letters_counted_anew AFTER UPDATE OF ${counted} ON letters WHEN ${isChanged} BEGIN ${countOut} ${countIn} ${raise} END`,
  `CREATE TRIGGER letter_counts_none AFTER UPDATE ON letter_counts WHEN new.letters = 0 BEGIN
     DELETE FROM letter_counts WHERE (${counted}) = (new.state, new.code, new.class, new.field, new.run_id, new.feed); END`,
];

/** Migration 8: all problems of a row, as JSON; of one what the columns do not tell, its value, or null. */
export const problemsSteps: readonly MigrationStep[] = ['ALTER TABLE letters ADD COLUMN problems TEXT'];

export const lettersSteps: readonly MigrationStep[] = [
  tables,
  carriedOver,
  indexes,
  ...countsKept.map(
    (sql): MigrationStep =>
      (db) =>
        void db.run(sql),
  ),
];
