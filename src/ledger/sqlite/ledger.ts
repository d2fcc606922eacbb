/** The ledger in one SQLite file (`node:sqlite`). */
import { randomUUID } from 'node:crypto';
import { contactsOver } from '#src/ledger/contacts-over.ts';
import { auditsOver, waitingAudits } from '#src/ledger/desk/audits.ts';
import { deliveriesOver, deliveryCount } from '#src/ledger/desk/deliveries.ts';
import { presenceOver } from '#src/ledger/desk/presence.ts';
import { schedulesOver } from '#src/ledger/desk/schedules.ts';
import { snapshotsOver } from '#src/ledger/desk/snapshots.ts';
import { takesOver } from '#src/ledger/desk/takes.ts';
import { knownKeysOver } from '#src/ledger/known-keys.ts';
import { lettersOver, unsettledCount } from '#src/ledger/letter-ledger.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { forgetEnded } from '#src/ledger/retention.ts';
import { runsOver } from '#src/ledger/run-ledger.ts';
import { settleRecords } from '#src/ledger/settle.ts';
import { stagedRowsOver } from '#src/ledger/staged-rows.ts';
import { sqliteClock } from './clock.ts';
import { type Connection, createConnection } from './connection.ts';
import { type Database, type LedgerObserver, openDatabase } from './database.ts';
import { sqliteStore } from './store.ts';

/**
 * Opens or creates the ledger. Several processes may have it open at once.
 * @throws PatchbayError `damaged`: `ledgerDamaged`; `usage`: `ledgerTooNew`, `ledgerUnreadable`.
 */
export function openSqliteLedger(file: string, observe?: LedgerObserver): Ledger {
  return sqliteLedger(openDatabase(file, observe));
}

/** The ledger in a database that is open. */
export function sqliteLedger(db: Database, connection: Connection = createConnection(db)): Ledger {
  const meta = (name: string): string | null => {
    const row = db.get('SELECT value FROM meta WHERE name = ?', name);
    return row === null ? null : String(row.value);
  };
  if (meta('id') === null) {
    db.run("INSERT INTO meta (name, value) VALUES ('id', ?) ON CONFLICT DO NOTHING", randomUUID().slice(0, 8));
  }

  const store = sqliteStore(connection);

  return {
    id: meta('id') ?? '',
    ...sqliteClock(connection),
    runs: {
      ...runsOver(store),
      ...stagedRowsOver(store),
      settle: (request) => store.transact((tables) => settleRecords(tables, request)),
      ...knownKeysOver(store),
    },
    contacts: contactsOver(store),
    deadLetters: lettersOver(store),
    audits: auditsOver(store),
    schedules: schedulesOver(store),
    snapshots: snapshotsOver(store),
    takes: takesOver(store),
    deliveries: deliveriesOver(store),
    ...presenceOver(store),
    counts: async () => ({
      openLetters: await unsettledCount(store),
      waitingAudits: await waitingAudits(store.reads),
      waitingDeliveries: await deliveryCount(store.reads, 'waiting'),
      deadDeliveries: await deliveryCount(store.reads, 'dead'),
    }),
    forget: (nowMs, keepMs, longer) => forgetEnded(store, nowMs, keepMs, longer),
    changeCount: async () => Number(db.get('PRAGMA data_version')?.data_version ?? 0),
    requireSound: async () => db.requireSound(),
    close: async () => db.close(),
  };
}
