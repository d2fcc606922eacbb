/** The ledger in one SQLite file (`node:sqlite`). */
import { randomUUID } from 'node:crypto';
import { alwaysLeads } from '#src/ledger/lead.ts';
import { ledgerOver } from '#src/ledger/over/ledger.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { LedgerObserver } from '#src/ledger/trouble.ts';
import { sqliteClock } from './clock.ts';
import { type Connection, createConnection } from './connection.ts';
import { type Database, openDatabase } from './database.ts';
import { scrub, searchTables } from './scrub.ts';
import { sqliteStore } from './store.ts';

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
