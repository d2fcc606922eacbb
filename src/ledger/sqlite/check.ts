/**
 * Whether a ledger's file is sound: SQLite's own checks of pages, indexes and references, then what Patchbay knows must hold.
 *
 * Reads alone, beside an engine at work too: each check is one statement and so sees one instant. The ledger of an older version
 * is checked as it is.
 */
import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, PatchbayError } from '#src/errors.ts';
import {
  boundTwice,
  foundWords,
  type LedgerCheck,
  type LedgerFinding,
  type RowTables,
  type Rule,
  rulesOn,
  secondRows,
} from '#src/ledger/soundness.ts';
import { ledgerTroubleOf } from './damage.ts';
import { migrations } from './migrations/migrations.ts';

/** Schemas before it have their rows by the run's id. */
const secondDesign = 6;

const firstRows: RowTables = {
  ofRun: 'staged.run_id = runs.id',
  ofBatch: 'batches.run_id = runs.id AND batches.batch = staged.batch',
  byId: ['staged', 'batches', 'run_keys', 'dead_rows', 'run_events'],
  bySequence: [],
};

const problemsMax = 20;
const examplesMax = 3;
const busyTimeoutMs = 4_000;

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
    throw new PatchbayError('usage', 'ledgerMissing', `there is no ledger at ${file}`);
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
  return count === 0
    ? []
    : [
        {
          check: 'references',
          message: foundWords(count, ['row that refers to what is not there', 'rows that refer to what is not there']),
        },
      ];
}

function apply(db: DatabaseSync, { check, sql, words, shows }: Rule): readonly LedgerFinding[] {
  const found = db.prepare(`SELECT count(*) OVER () AS total, * FROM (${sql}) LIMIT ${examplesMax}`).all();
  const [first] = found;
  if (first === undefined) return [];
  const examples = found.map(({ total: _total, ...row }) => String(Object.values(row)[0])).join(', ');
  const total = Number(first.total);
  const more = total > found.length ? ', …' : '';
  return [{ check, message: `${foundWords(total, words)}${shows ? `: ${examples}${more}` : ''}` }];
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
        words: [`document in ${table}.${column} that is broken`, `documents in ${table}.${column} that are broken`],
        shows: false,
      });
    });
}
