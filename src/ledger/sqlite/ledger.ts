/** The ledger in one SQLite file (`node:sqlite`). */
import { randomUUID } from 'node:crypto';
import { deliveriesOver, deliveryCount, forgetDeliveries } from '#src/ledger/desk/deliveries.ts';
import { schedulesOver } from '#src/ledger/desk/schedules.ts';
import { snapshotsOver } from '#src/ledger/desk/snapshots.ts';
import type { EngineRegistration, WorkerRegistration } from '#src/ledger/engine-presence.ts';
import { forgetLetters, lettersOver, unsettledCount } from '#src/ledger/letter-ledger.ts';
import type { Ledger, Pause, ProcessRole, WorkspaceBinding } from '#src/ledger/port.ts';
import { runsOver } from '#src/ledger/run-ledger.ts';
import { stagedRowsOver } from '#src/ledger/staged-rows.ts';
import { forgetAudits, sqliteAudits, waitingAudits } from './audits.ts';
import { sqliteClock } from './clock.ts';
import { createConnection } from './connection.ts';
import { sqliteContacts } from './contacts.ts';
import { type Database, type LedgerObserver, openDatabase, parseJson } from './database.ts';
import { besideFeeds } from './deliveries.ts';
import { besideRows, besideRuns, sqliteStaging } from './staging.ts';
import { sqliteStore } from './store.ts';
import { forgetTaken, sqliteTakes } from './takes.ts';

/** Each worker has an entry of its own. */
const workerPrefix = 'worker ';

/**
 * Opens or creates the ledger. Several processes may have it open at once.
 * @throws PatchbayError `damaged`: `ledgerDamaged`; `usage`: `ledgerTooNew`, `ledgerUnreadable`.
 */
export function openSqliteLedger(file: string, observe?: LedgerObserver): Ledger {
  return sqliteLedger(openDatabase(file, observe));
}

/** There is one engine, and an entry for each worker. */
const entryOf = (role: ProcessRole, identity: string): string =>
  role === 'engine' ? 'engine' : `${workerPrefix}${identity}`;

/** The ledger in a database that is open. */
export function sqliteLedger(db: Database): Ledger {
  const meta = (name: string): string | null => {
    const row = db.get('SELECT value FROM meta WHERE name = ?', name);
    return row === null ? null : String(row.value);
  };
  const setMeta = (name: string, value: string | null): void => {
    if (value === null) db.run('DELETE FROM meta WHERE name = ?', name);
    else
      db.run(
        'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        name,
        value,
      );
  };
  db.transaction(() => {
    if (meta('id') === null) setMeta('id', randomUUID().slice(0, 8));
  });

  const connection = createConnection(db);
  const store = sqliteStore(connection);
  /** For parts that use the database directly: each call waits until no transaction of this process is open. */
  const waiting = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return async (...given: unknown[]) => {
          await connection.idle();
          return Reflect.apply(member, target, given);
        };
      },
    });

  return {
    id: meta('id') ?? '',
    ...sqliteClock(db),
    runs: {
      ...runsOver(store, besideRuns(db)),
      ...stagedRowsOver(store, besideRows(db, connection.idle)),
      ...waiting(sqliteStaging(db)),
    },
    contacts: waiting(sqliteContacts(db)),
    deadLetters: lettersOver(store),
    audits: waiting(sqliteAudits(db)),
    schedules: schedulesOver(store),
    snapshots: snapshotsOver(store),
    takes: waiting(sqliteTakes(db)),
    deliveries: deliveriesOver(store, besideFeeds(db, connection.idle)),
    binding: async () => parseJson<WorkspaceBinding>(meta('binding')),
    bind: async (binding) => db.durable(() => setMeta('binding', JSON.stringify(binding))),
    pause: async () => parseJson<Pause>(meta('pause')),
    setPause: async (pause) => db.transaction(() => setMeta('pause', pause === null ? null : JSON.stringify(pause))),
    registrations: async () => ({
      engine: parseJson<EngineRegistration>(meta('engine')),
      workers: db
        .all(`SELECT value FROM meta WHERE name LIKE '${workerPrefix}%' ORDER BY name`)
        .flatMap((row) => parseJson<WorkerRegistration>(row.value) ?? []),
    }),
    register: async (role, registration) =>
      db.transaction(() => setMeta(entryOf(role, registration.identity), JSON.stringify(registration))),
    unregister: async (role, identity) =>
      db.transaction(() => {
        const entry = entryOf(role, identity);
        if (parseJson<EngineRegistration | WorkerRegistration>(meta(entry))?.identity === identity)
          setMeta(entry, null);
      }),
    counts: async () => ({
      openLetters: await unsettledCount(store),
      waitingAudits: waitingAudits(db),
      waitingDeliveries: await deliveryCount(store.reads, 'waiting'),
      deadDeliveries: await deliveryCount(store.reads, 'dead'),
    }),
    forget: async (nowMs, keepMs) => {
      await forgetLetters(store, nowMs - keepMs);
      await forgetDeliveries(store, nowMs - keepMs);
      await connection.idle();
      // One transaction for each kind: other processes wait for none of them for long.
      db.transaction(() => forgetAudits(db, nowMs - keepMs));
      db.transaction(() => forgetTaken(db, nowMs, keepMs));
    },
    changeCount: async () => Number(db.get('PRAGMA data_version')?.data_version ?? 0),
    requireSound: async () => db.requireSound(),
    close: async () => db.close(),
  };
}
