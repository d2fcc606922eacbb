/** A SQLite file as the source and as the target of a copy (`src/ledger/copy/copy-ledger.ts`). */
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { type CopiedTable, quoted, registrations } from '#src/ledger/copy/copied-tables.ts';
import {
  type CopiedRow,
  type CopyReader,
  type CopySource,
  type CopyTarget,
  charsOf,
  type Settled,
  sliceCharsMax,
  sliceRowsMax,
} from '#src/ledger/copy/copy-ledger.ts';
import { syncFolder } from '#src/whole-file.ts';
import { bytesOf, checkLedger, openToRead } from './check.ts';
import { ledgerTroubleOf } from './damage.ts';
import { type Database, openDatabase } from './database.ts';
import { openSqliteLedger } from './ledger.ts';
import { giveName, requireFree, syncFile } from './new-file.ts';

const busyTimeoutMs = 4_000;

/**
 * Takes the ledger to today's schema, and holds the lock of those who write until it is closed.
 * @throws PatchbayError `usage` `ledgerMissing`; what opening a ledger throws; `transient` `ledgerBusy` where another process writes.
 */
export async function openSqliteSource(file: string): Promise<CopySource> {
  bytesOf(file);
  await openSqliteLedger(file).close();
  const db = new DatabaseSync(file, { timeout: busyTimeoutMs });
  const guarded = guardOf(file);
  try {
    guarded(() => db.exec('BEGIN IMMEDIATE'));
  } catch (error) {
    db.close();
    throw error;
  }
  const meta = (name: string): string | null => {
    const value = guarded(() => db.prepare('SELECT value FROM meta WHERE name = ?').get(name)?.value);
    return typeof value === 'string' ? value : null;
  };
  return {
    ...readerOf(db, file, file),
    ledgerId: meta('id') ?? '',
    counters: async () => {
      const given = guarded(() => db.prepare('SELECT name, seq FROM sqlite_sequence').all());
      const last = (table: string): number => Number(given.find(({ name }) => name === table)?.seq ?? 0);
      return { runs: last('runs'), records: last('records') };
    },
    latestMs: async () => Number(meta('written') ?? 0),
    // Ends the transaction, which has changed nothing.
    close: async () => db.close(),
  };
}

/**
 * Writes beside the file, under a name of its own, until it is published. The caller holds a lock of the folder: what a copy that was killed
 * has left there is removed.
 * @throws PatchbayError `usage`: `copyExists`, `copyNotWritten`; `transient`.
 */
export async function openSqliteTarget(file: string): Promise<CopyTarget> {
  await requireFree(file, 'copyExists');
  const temporary = join(dirname(file), `.${basename(file)}.part`);
  await removeFile(temporary);
  const db = openTemporary(temporary, file);
  const reading = openToRead(temporary);
  let isOpen = true;
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    reading.close();
    db.close();
  };
  return {
    ...readerOf(reading, temporary, file),
    write: async (table, columns, rows) => {
      const places = columns.map(() => '?').join(', ');
      const sql = `INSERT INTO ${table.name} (${quoted(columns)}) VALUES (${places})`;
      db.transaction(() => {
        if (table.filled === 'anew') db.run(`DELETE FROM ${table.name}`);
        for (const row of rows) db.run(sql, ...(row as SQLInputValue[]));
      });
    },
    settle: async (source) => settle(db, source),
    publish: async () => {
      close();
      const check = checkLedger(temporary);
      if (check.state === 'damaged')
        throw notWritten(file, `what was written is damaged: ${check.findings[0]?.message}`);
      await syncFile(temporary);
      await giveName(temporary, file, 'copyExists');
      await syncFolder(dirname(file));
    },
    close: async () => {
      close();
      await removeFile(temporary);
    },
  };
}

function openTemporary(temporary: string, file: string): Database {
  try {
    return openDatabase(temporary);
  } catch (error) {
    throw error instanceof PatchbayError && error.kind === 'transient'
      ? error
      : notWritten(file, messageOf(error), error);
  }
}

/** Without a clock: the first process that opens the copy gives it one, as in a new boot (`clock.ts`), behind the latest instant. */
function settle(db: Database, { ledgerId, counters, latestMs }: Settled): void {
  db.durable(() => {
    for (const [table, last] of Object.entries(counters)) {
      // There is one row for each table that has ever had rows.
      db.run(
        'INSERT INTO sqlite_sequence (name, seq) SELECT ?1, 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)',
        table,
      );
      db.run('UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?', last, table);
    }
    for (const [name, value] of [
      ['id', ledgerId],
      ['written', `${latestMs}`],
    ] as const) {
      db.run('INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)', name, value);
    }
    db.run(`DELETE FROM records WHERE ${registrations}`);
  });
}

/** @param file whose trouble it is. @param shown the name that people know it by. */
function readerOf(db: DatabaseSync, file: string, shown: string): CopyReader {
  const guarded = guardOf(file);
  return {
    shown,
    columnsOf: async ({ name }) => {
      const columns = guarded(() => db.prepare('SELECT name FROM pragma_table_info(?)').all(name));
      return columns.map((column) => String(column.name)).sort();
    },
    count: async ({ name }) => Number(guarded(() => db.prepare(`SELECT count(*) AS "rows" FROM ${name}`).get()?.rows)),
    slices: (table, columns) => slicesOf(db, guarded, table, columns),
  };
}

async function* slicesOf(
  db: DatabaseSync,
  guarded: ReturnType<typeof guardOf>,
  { name, key }: CopiedTable,
  columns: readonly string[],
): AsyncGenerator<readonly CopiedRow[]> {
  const statement = guarded(() => db.prepare(`SELECT ${quoted(columns)} FROM ${name} ORDER BY ${quoted(key)}`));
  statement.setReturnArrays(true);
  const rows = guarded(() => statement.iterate());
  let slice: CopiedRow[] = [];
  let chars = 0;
  // Ends with the table.
  for (;;) {
    const { value, done } = guarded(() => rows.next());
    if (done === true) break;
    // As arrays, which its type does not say.
    const row = value as unknown as CopiedRow;
    slice.push(row);
    chars += charsOf(row);
    if (slice.length < sliceRowsMax && chars < sliceCharsMax) continue;
    yield slice;
    slice = [];
    chars = 0;
  }
  if (slice.length > 0) yield slice;
}

function guardOf(file: string): <Result>(work: () => Result) => Result {
  return (work) => {
    try {
      return work();
    } catch (error) {
      throw ledgerTroubleOf(error, file) ?? error;
    }
  };
}

async function removeFile(file: string): Promise<void> {
  for (const ending of ['', '-journal', '-wal', '-shm']) await rm(`${file}${ending}`, { force: true });
}

function notWritten(file: string, reason: string, cause?: unknown): PatchbayError {
  return new PatchbayError('usage', 'copyNotWritten', `the copy ${file} cannot be written: ${reason}`, {
    hint: 'Name a file in a folder that is there and can be written. Nothing was left behind.',
    cause,
  });
}
