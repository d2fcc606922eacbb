/**
 * Migration 6, second design: runs, staged rows, batches and events.
 *
 * `staged.place` is the run's sequence × 2^23 + the row's position: rows of a run lie side by side in the order of its file.
 * What changes of a row, and is looked at of many rows, is in `staged`; what is wide is in `staged_content`. `headers` holds each header of a run once; a row of a JSON file has none.
 * `batches.first` and `last` are positions. `bitmaps` has one bit for each key, by the number of its contact.
 * `runs.pending` counts staged rows without an outcome; `pruned`: nothing of it is left that a run that has ended does not need.
 */
import { emptyBitmap, enterBit } from '#src/ledger/rules/bitmap.ts';
import type { MigratedDatabase, MigrationStep } from './step.ts';

const columnsOfRows = `
  ALTER TABLE runs ADD COLUMN pending INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN key_prefix TEXT;
  UPDATE runs SET key_prefix = nullif(mapping ->> '$.keyPrefix', '') WHERE mapping IS NOT NULL;
  ALTER TABLE runs ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0;
  UPDATE runs SET pruned = 1 WHERE finished_at IS NOT NULL AND id NOT IN (
    SELECT run_id FROM batches UNION SELECT run_id FROM dead_rows UNION SELECT run_id FROM run_events);
  CREATE INDEX runs_unpruned ON runs (sequence) WHERE pruned = 0 AND finished_at IS NOT NULL;
  CREATE INDEX runs_by_prefix ON runs (key_prefix, sequence) WHERE key_prefix IS NOT NULL;
  CREATE INDEX runs_in_line ON runs (feed, sequence) WHERE state IN ('queued', 'staging', 'applying');
  CREATE INDEX runs_of_feed ON runs (feed, sequence);
  CREATE INDEX runs_with_look ON runs (feed, sequence) WHERE look IS NOT NULL;
`;

const rowsOfRuns = `
  CREATE TABLE headers (
    run_sequence INTEGER NOT NULL,
    number INTEGER NOT NULL,
    columns TEXT NOT NULL,
    PRIMARY KEY (run_sequence, number)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO headers (run_sequence, number, columns)
    SELECT run_sequence, row_number() OVER (PARTITION BY run_sequence ORDER BY columns), columns FROM (
      SELECT DISTINCT runs.sequence AS run_sequence, staged."row" -> '$.columns' AS columns
      FROM staged JOIN runs ON runs.id = staged.run_id WHERE staged."row" ->> '$.kind' = 'cells');

  CREATE TABLE staged_content (
    place INTEGER PRIMARY KEY,
    line INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    row_hash TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    mapping_version TEXT NOT NULL,
    letter_id TEXT,
    header INTEGER,
    record INTEGER NOT NULL,
    desired TEXT NOT NULL,
    content TEXT NOT NULL,
    beyond TEXT
  ) STRICT;
  INSERT INTO staged_content (place, line, sequence, row_hash, fingerprint, mapping_version, letter_id, header, record, desired,
      content, beyond)
    SELECT runs.sequence * 8388608 + position, line, staged.sequence, row_hash, fingerprint, mapping_version, letter_id,
      (SELECT number FROM headers WHERE run_sequence = runs.sequence AND columns = staged."row" -> '$.columns'),
      coalesce(staged."row" ->> '$.record', line), desired, coalesce(staged."row" -> '$.cells', staged."row" -> '$.object'),
      staged."row" -> '$.beyond'
    FROM staged JOIN runs ON runs.id = staged.run_id ORDER BY runs.sequence, position;

  CREATE TABLE staged_rows (
    place INTEGER PRIMARY KEY,
    outcome TEXT,
    not_before INTEGER NOT NULL DEFAULT 0,
    sent INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    key TEXT NOT NULL,
    link TEXT
  ) STRICT;
  INSERT INTO staged_rows (place, outcome, not_before, sent, attempts, key, link)
    SELECT runs.sequence * 8388608 + position, outcome, not_before, sent, attempts, key, link
    FROM staged JOIN runs ON runs.id = staged.run_id ORDER BY runs.sequence, position;
  UPDATE staged_rows SET outcome = 'withdrawn' WHERE outcome IN ('dead', 'skipped') AND EXISTS (
    SELECT 1 FROM run_keys JOIN runs ON runs.id = run_keys.run_id
    WHERE runs.sequence = place / 8388608 AND run_keys.key = staged_rows.key AND run_keys.kind = 'dead');
  UPDATE runs SET pending = (
    SELECT count(*) FROM staged WHERE staged.run_id = runs.id AND outcome IS NULL) WHERE finished_at IS NULL;

  CREATE TABLE batches_of_runs (
    run_sequence INTEGER NOT NULL,
    batch INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    generation INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run_sequence, batch)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO batches_of_runs (run_sequence, batch, first, last, generation, done, due_at)
    SELECT runs.sequence, batches.batch, min(position), max(position), generation, done, due_at
    FROM batches JOIN runs ON runs.id = batches.run_id
      JOIN staged ON staged.run_id = batches.run_id AND staged.batch = batches.batch
    GROUP BY runs.sequence, batches.batch;
  DROP TABLE batches;
  DROP TABLE staged;
  ALTER TABLE batches_of_runs RENAME TO batches;
  ALTER TABLE staged_rows RENAME TO staged;
  CREATE INDEX batches_due ON batches (run_sequence, batch) WHERE done = 0;
  CREATE INDEX staged_parked ON staged (not_before) WHERE outcome IS NULL AND not_before > 0;

  CREATE TABLE events_of_runs (
    run_sequence INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (run_sequence, ordinal)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO events_of_runs (run_sequence, ordinal, event)
    SELECT runs.sequence, ordinal, event FROM run_events JOIN runs ON runs.id = run_events.run_id;
  DROP TABLE run_events;
  ALTER TABLE events_of_runs RENAME TO run_events;

  CREATE TABLE bitmaps (
    run_sequence INTEGER NOT NULL,
    kind TEXT NOT NULL,
    bits BLOB NOT NULL,
    PRIMARY KEY (run_sequence, kind)
  ) STRICT;
`;

export const runsSteps: readonly MigrationStep[] = [columnsOfRows, rowsOfRuns];

const keysAtOnce = 10_000;

/** The keys of each run's file as a bitmap, in place of a row for each. Ends: each turn goes on behind the last key. */
function gatherKeys(db: MigratedDatabase): void {
  const last = Number(db.get('SELECT max(number) AS last FROM contacts')?.last ?? 0);
  for (const run of db.all('SELECT id, sequence FROM runs WHERE id IN (SELECT run_id FROM run_keys)')) {
    const met = emptyBitmap(last);
    let after = '';
    for (;;) {
      const keys = db.all(
        `SELECT run_keys.key, number FROM run_keys LEFT JOIN contacts ON contacts.key = run_keys.key
         WHERE run_id = ? AND run_keys.key > ? ORDER BY run_keys.key LIMIT ${keysAtOnce}`,
        ...[String(run.id), after],
      );
      for (const { number } of keys) if (typeof number === 'number') enterBit(met, number);
      const end = keys.at(-1);
      if (end === undefined) break;
      after = String(end.key);
    }
    db.run("INSERT INTO bitmaps (run_sequence, kind, bits) VALUES (?, 'met', ?)", Number(run.sequence), met);
  }
}

/** Behind the steps that give keys their numbers. */
export const keysOfRunsSteps: readonly MigrationStep[] = [gatherKeys, 'DROP TABLE run_keys;\n'];

/** The host of a run. A ledger in a file has none; a ledger that comes from PostgreSQL may name some. */
export const hostSteps: readonly MigrationStep[] = ["ALTER TABLE runs ADD COLUMN host TEXT NOT NULL DEFAULT ''"];

/** Rows that a plan would have written, and whose contacts changed since it was made. */
export const movedSteps: readonly MigrationStep[] = ['ALTER TABLE runs ADD COLUMN moved INTEGER NOT NULL DEFAULT 0;\n'];

/** Contacts that an undo deleted, and the requests of that. */
export const deletedSteps: readonly MigrationStep[] = [
  `ALTER TABLE runs ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE runs ADD COLUMN "delete" INTEGER NOT NULL DEFAULT 0;
`,
];
