/**
 * Whether a ledger's file is sound: SQLite's own checks of pages, indexes and references, then what Patchbay knows must hold.
 *
 * Reads alone, beside an engine at work too: each check is one statement and so sees one instant. The ledger of an older version
 * is checked as it is.
 */
import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { ledgerTroubleOf } from './damage.ts';
import { migrations } from './migrations/migrations.ts';

/**
 * - `sound`: all holds.
 * - `damaged`: bytes of the file are broken; it must not be used.
 * - `inconsistent`: it can be read, and its contents do not fit together.
 */
export type LedgerState = 'sound' | 'damaged' | 'inconsistent';

interface LedgerFinding {
  /** Stable: `pages`, `references`, `counts`, `pending`, `batches`, `strays`, `bound`, `documents`, `twice`. */
  readonly check: string;
  /** For people; ids of runs, no values of contacts. */
  readonly message: string;
}

export interface LedgerCheck {
  readonly file: string;
  readonly bytes: number;
  /** Null where not even that can be read. */
  readonly schema: number | null;
  readonly state: LedgerState;
  readonly findings: readonly LedgerFinding[];
  /** What may be so by right and is worth a look. */
  readonly notes: readonly LedgerFinding[];
}

const problemsMax = 20;
const examplesMax = 3;
const busyTimeoutMs = 4_000;

/** One statement that finds what must not be; its first column is an example that may be shown where `shows` says so. */
interface Rule {
  readonly check: string;
  readonly sql: string;
  /** Follows the count. */
  readonly words: string;
  readonly shows: boolean;
}

const outcomes = 'created + updated + unchanged + skipped + dead';
/** Schemas before it have their rows by the run's id. */
const secondDesign = 6;

/** The tables of staged rows: how a row is found from its run, and what belongs to a run. */
interface RowTables {
  readonly ofRun: string;
  readonly ofBatch: string;
  readonly byId: readonly string[];
  readonly bySequence: readonly string[];
}

const firstRows: RowTables = {
  ofRun: 'staged.run_id = runs.id',
  ofBatch: 'batches.run_id = runs.id AND batches.batch = staged.batch',
  byId: ['staged', 'batches', 'run_keys', 'dead_rows', 'run_events'],
  bySequence: [],
};
const secondRows: RowTables = {
  ofRun: 'staged.place > runs.sequence * 8388608 AND staged.place < (runs.sequence + 1) * 8388608',
  ofBatch: 'run_sequence = runs.sequence AND staged.place % 8388608 BETWEEN first AND last',
  byId: [],
  bySequence: [
    'dead_rows',
    'dead_row_counts',
    'batches',
    'run_events',
    'headers',
    'bitmaps',
    '(SELECT place / 8388608 AS run_sequence FROM staged)',
  ],
};

const rulesOn = ({ ofRun, ofBatch, byId, bySequence }: RowTables): readonly Rule[] => [
  {
    check: 'counts',
    sql: `SELECT id FROM runs WHERE state IN ('done', 'doneWithDead') AND "rows" <> ${outcomes}`,
    words: 'finished runs whose counts do not add up',
    shows: true,
  },
  {
    check: 'pending',
    sql: `SELECT id FROM runs WHERE state IN ('applying', 'stopped') AND "rows" - (${outcomes}) <>
          (SELECT count(*) FROM staged WHERE ${ofRun} AND outcome IS NULL)`,
    words: 'runs that count other rows as pending than are staged',
    shows: true,
  },
  {
    check: 'batches',
    sql: `SELECT DISTINCT id FROM runs JOIN staged ON ${ofRun} WHERE state IN ('applying', 'stopped') AND outcome IS NULL
          AND NOT EXISTS (SELECT 1 FROM batches WHERE ${ofBatch} AND done = 0)`,
    words: 'runs with rows that no job will take, since their batch is closed or missing',
    shows: true,
  },
  {
    check: 'strays',
    sql: [
      ...byId.map((table) => `SELECT DISTINCT run_id FROM ${table} WHERE run_id NOT IN (SELECT id FROM runs)`),
      ...bySequence.map(
        (table) => `SELECT DISTINCT run_sequence FROM ${table} WHERE run_sequence NOT IN (SELECT sequence FROM runs)`,
      ),
    ].join(' UNION '),
    words: 'runs that rows belong to and that are not there',
    shows: true,
  },
  {
    check: 'bound',
    sql: "SELECT key FROM contacts WHERE state = 'bound' AND contact_id IS NULL",
    words: 'keys that are bound to no contact',
    shows: false,
  },
];

/** Legitimate after a contact was given another key in the app while the file names both keys. */
const boundTwice: Rule = {
  check: 'twice',
  sql: "SELECT contact_id FROM contacts WHERE state = 'bound' GROUP BY contact_id HAVING count(*) > 1",
  words: 'contacts that two keys are bound to',
  shows: true,
};

/** Their pages are not looked into by SQLite's checks: broken text in them is still a text. */
const documents: readonly (readonly [table: string, column: string])[] = [
  ['runs', 'options'],
  ['staged', 'desired'],
  ['staged', 'row'],
  ['staged_content', 'desired'],
  ['staged_content', 'content'],
  ['contacts', 'seen'],
  ['contacts', 'owned'],
  ['contacts', 'agreed'],
  ['contacts', 'stamps'],
  ['contacts', 'claim'],
  ['flights', 'claim'],
  ['flights', 'owned'],
  ['held', 'ours'],
  ['held', 'theirs'],
  ['runs', 'approvals'],
  ['dead_letters', 'row'],
  ['letters', 'row'],
  ['letters', 'desired'],
  ['letter_headers', 'columns'],
  ['dead_rows', 'dead'],
  ['records', 'document'],
];

/**
 * Checks the whole file; about four seconds for each gigabyte.
 * @throws PatchbayError `usage`: `ledgerMissing`, `ledgerTooNew`, `ledgerUnreadable`; `transient`.
 */
export function checkLedger(file: string): LedgerCheck {
  const bytes = bytesOf(file);
  const damaged = (messages: readonly string[], schema: number | null): LedgerCheck => {
    const findings = messages.map((message) => ({ check: 'pages', message }));
    return { file, bytes, schema, state: 'damaged', findings, notes: [] };
  };
  let schema: number | null = null;
  try {
    using db = openToRead(file);
    schema = schemaOf(db, file);
    const problems = problemsOf(db, 'quick_check');
    if (problems.length > 0) return damaged(problems, schema);
    const more = problemsOf(db, 'integrity_check');
    if (more.length > 0) return damaged(more, schema);
    const rows = schema < secondDesign ? firstRows : secondRows;
    const findings = [
      ...danglingReferences(db),
      ...rulesOn(rows).flatMap((rule) => apply(db, rule)),
      ...brokenDocuments(db),
    ];
    const state = findings.length === 0 ? 'sound' : 'inconsistent';
    return { file, bytes, schema, state, findings, notes: apply(db, boundTwice) };
  } catch (error) {
    const trouble = ledgerTroubleOf(error, file);
    if (trouble === null) throw error;
    if (trouble.kind !== 'damaged') throw trouble;
    return damaged([messageOf(error)], schema);
  }
}

/** The first problem of its pages, or null. Indexes are not compared with their tables: about a second for each gigabyte. */
export function quickLook(file: string): string | null {
  try {
    using db = openToRead(file);
    return problemsOf(db, 'quick_check').at(0) ?? null;
  } catch (error) {
    const trouble = ledgerTroubleOf(error, file);
    if (trouble === null) throw error;
    if (trouble.kind !== 'damaged') throw trouble;
    return messageOf(error);
  }
}

/** With its log, which holds what was committed last. @throws PatchbayError `usage` `ledgerMissing`. */
export function bytesOf(file: string): number {
  if (!existsSync(file)) {
    throw new PatchbayError('usage', 'ledgerMissing', `there is no ledger at ${file}`, {
      hint: 'Name the data folder with --data, or say --sandbox for that of the sandbox.',
    });
  }
  return [file, `${file}-wal`].reduce((sum, one) => sum + (statSync(one, { throwIfNoEntry: false })?.size ?? 0), 0);
}

/**
 * Opens it for reading, its schema as it is. The caller closes it. What SQLite lays beside the file meanwhile may stay.
 * @throws PatchbayError `usage`: `ledgerMissing`, `ledgerUnreadable`; SQLite's own error where it is damaged.
 */
export function openToRead(file: string): DatabaseSync {
  bytesOf(file);
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs });
    // Only a statement opens the file.
    db.prepare('PRAGMA user_version').get();
    return db;
  } catch (error) {
    db?.close();
    if (ledgerTroubleOf(error, file) !== null) throw error;
    throw new PatchbayError('usage', 'ledgerUnreadable', `the ledger ${file} cannot be opened for reading`, {
      hint: 'Check its rights, and those of its folder.',
      cause: error,
    });
  }
}

function schemaOf(db: DatabaseSync, file: string): number {
  const schema = Number(db.prepare('PRAGMA user_version').get()?.user_version);
  if (schema <= migrations.length) return schema;
  const message = `the ledger ${file} has schema ${schema}, and this Patchbay knows schemas up to ${migrations.length}`;
  throw new PatchbayError('usage', 'ledgerTooNew', message, { hint: 'Use the newer Patchbay that wrote it.' });
}

function problemsOf(db: DatabaseSync, check: 'quick_check' | 'integrity_check'): readonly string[] {
  const lines = db.prepare(`PRAGMA ${check}(${problemsMax})`).all();
  return lines.map((line) => String(line[check])).filter((line) => line !== 'ok');
}

function danglingReferences(db: DatabaseSync): readonly LedgerFinding[] {
  const count = db.prepare('PRAGMA foreign_key_check').all().length;
  return count === 0 ? [] : [{ check: 'references', message: `${count} rows that refer to what is not there` }];
}

function apply(db: DatabaseSync, { check, sql, words, shows }: Rule): readonly LedgerFinding[] {
  const found = db.prepare(`SELECT count(*) OVER () AS total, * FROM (${sql}) LIMIT ${examplesMax}`).all();
  const [first] = found;
  if (first === undefined) return [];
  const examples = found.map(({ total: _total, ...row }) => String(Object.values(row)[0])).join(', ');
  const total = Number(first.total);
  const more = total > found.length ? ', …' : '';
  return [{ check, message: `${total} ${words}${shows ? `: ${examples}${more}` : ''}` }];
}

function brokenDocuments(db: DatabaseSync): readonly LedgerFinding[] {
  const known = (table: string, column: string): boolean =>
    db.prepare('SELECT 1 FROM pragma_table_info(?) WHERE name = ?').get(table, column) !== undefined;
  return documents
    .filter(([table, column]) => known(table, column))
    .flatMap(([table, column]) => {
      const sql = `SELECT 1 FROM ${table} WHERE "${column}" IS NOT NULL AND NOT json_valid("${column}")`;
      return apply(db, {
        check: 'documents',
        sql,
        words: `documents in ${table}.${column} that are broken`,
        shows: false,
      });
    });
}
