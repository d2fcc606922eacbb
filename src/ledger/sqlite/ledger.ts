/** The ledger in one SQLite file (`node:sqlite`). */
import { createHash, randomUUID } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { PatchbayError } from '#src/errors.ts';
import type { FoundInLedger, Scrubbed } from '#src/ledger/forgetting.ts';
import { alwaysLeads } from '#src/ledger/lead.ts';
import type { Scratch } from '#src/ledger/over/draft.ts';
import { ledgerOver } from '#src/ledger/over/ledger.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { Store, Tables } from '#src/ledger/tables.ts';
import type { LedgerObserver } from '#src/ledger/trouble.ts';
import { sqliteClock } from './clock.ts';
import { type Connection, createConnection, type Statements } from './connection.ts';
import { type Database, openDatabase } from './database.ts';
import { deskTables } from './desk-tables.ts';
import { sqliteKeyTables } from './key-tables.ts';
import { letterTables } from './letter-tables.ts';
import { sqliteRunTables } from './run-tables.ts';

/**
 * Opens or creates the ledger. Several processes may have it open at once.
 * @throws PatchbayError `damaged`: `ledgerDamaged`; `usage`: `ledgerTooNew`, `ledgerUnreadable`.
 */
export function openSqliteLedger(file: string, observe?: LedgerObserver): Ledger {
  const db = openDatabase(file, observe);
  return sqliteLedger(db, createConnection(db), file === ':memory:' ? null : file);
}

/** The ledger in a database that is open. @param file where other connections find the same; null: nowhere. */
export function sqliteLedger(
  db: Database,
  connection: Connection = createConnection(db),
  file: string | null = null,
): Ledger {
  const meta = (name: string): string | null => {
    const row = db.get('SELECT value FROM meta WHERE name = ?', name);
    return row === null ? null : String(row.value);
  };
  if (meta('id') === null) {
    db.run("INSERT INTO meta (name, value) VALUES ('id', ?) ON CONFLICT DO NOTHING", randomUUID().slice(0, 8));
  }
  return ledgerOver(sqliteStore(connection), {
    id: meta('id') ?? '',
    placeId: async () => placeId(file),
    ...sqliteClock(connection),
    changeCount: async () => Number(db.get('PRAGMA data_version')?.data_version ?? 0),
    standForLead: alwaysLeads,
    requireSound: async () => db.requireSound(),
    requireWritable: async () => undefined,
    search: (texts) => searchTables(connection.reads, texts),
    scrub: () => scrub(db, connection),
    saidFile: file,
    close: async () => db.close(),
  });
}

/** Copied with its data folder it is another file, in another place or on another machine. The name of a folder stays here. */
function placeId(file: string | null): string {
  if (file === null) return 'memory';
  const place = [hostname(), realpathSync(file), statSync(file).ino].join('\n');
  return createHash('sha256').update(place).digest('hex').slice(0, 16);
}

/** Its tables, and transactions over them. */
export function sqliteStore(connection: Connection): Store {
  return {
    reads: tablesOf(connection.reads),
    transact: (work, durability) => connection.transact((statements) => work(tablesOf(statements)), durability),
  };
}

/** One set of tables for each set of statements. */
const made = new WeakMap<Statements, Tables>();

function tablesOf(statements: Statements): Tables {
  let tables = made.get(statements);
  if (tables === undefined) {
    tables = {
      runs: sqliteRunTables(statements),
      keys: sqliteKeyTables(statements),
      letters: letterTables(statements),
      desk: deskTables(statements),
    };
    made.set(statements, tables);
  }
  return tables;
}

/**
 * The scratch store of a draft, in a file of its own, whatever database the ledger is in (`over/draft.ts`). The caller closes it, and
 * removes the file.
 * @param file a new one.
 * @param afterSequence that of the ledger's newest run.
 * @throws PatchbayError as `openSqliteLedger`.
 */
export function openScratch(file: string, afterSequence: number): Scratch & { close(): void } {
  const db = openDatabase(file);
  db.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('runs', ?)", afterSequence);
  return { ...sqliteStore(createConnection(db)), afterSequence, close: () => db.close() };
}

/**
 * Writes the file anew without free pages, and then the log away: deleted rows are in neither. Another process that reads at that
 * moment keeps its part of the log until it is done; the next call, or the last process to close the ledger, ends it (`later`).
 */
async function scrub(db: Database, connection: Connection): Promise<Scrubbed> {
  try {
    return await connection.atRest(() => {
      db.get('PRAGMA secure_delete = ON');
      db.run('VACUUM');
      const checkpoint = db.get('PRAGMA wal_checkpoint(TRUNCATE)');
      return Number(checkpoint?.busy ?? 1) === 0 ? 'overwritten' : 'later';
    });
  } catch (error) {
    if (error instanceof PatchbayError && error.kind === 'transient') return 'later';
    throw error;
  }
}

/** One statement a table: each row is looked at once. Numbers are passed over, and so are bytes, which are hashes and bits: no person is named there. */
async function searchTables(reads: Statements, texts: readonly string[]): Promise<readonly FoundInLedger[]> {
  if (texts.length === 0) return [];
  const tables = await reads.all("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
  const found: FoundInLedger[] = [];
  for (const table of tables.map(({ name }) => String(name))) {
    const columns = await reads.all("SELECT name FROM pragma_table_info(?) WHERE type = 'TEXT'", table);
    const places = columns.map(({ name }) => `instr(looked."${String(name)}", wanted.value) > 0`);
    if (places.length === 0) continue;
    // Materialised: the list of texts would be parsed for each row.
    const row = await reads.get(
      `WITH wanted AS MATERIALIZED (SELECT value FROM json_each(?))
       SELECT count(*) AS found FROM "${table}" AS looked WHERE EXISTS (SELECT 1 FROM wanted WHERE ${places.join(' OR ')})`,
      JSON.stringify(texts),
    );
    const rows = Number(row?.found ?? 0);
    if (rows > 0) found.push({ table, rows });
  }
  return found;
}
