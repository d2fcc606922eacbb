/**
 * One SQLite file, opened with the settings the ledger's promises rest on.
 *
 * WAL with `synchronous = NORMAL`: what was committed survives a killed process. After a durable transaction the log is synced
 * (`log-sync.ts`): it survives a power cut, and all commits before it do too.
 */
import { channel } from 'node:diagnostics_channel';
import { accessSync, chmodSync, constants, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { messageOf, PatchbayError, systemCodeOf } from '#src/errors.ts';
import type { LedgerObserver } from '#src/ledger/trouble.ts';
import { makeFolderNow } from '#src/whole-file.ts';
import { damageTold, ledgerDamaged, ledgerReadOnly, ledgerTroubleOf, liftMark, markDamaged } from './damage.ts';
import { createLogSync } from './log-sync.ts';
import { migrations } from './migrations/migrations.ts';
import { carryOut } from './migrations/step.ts';

/** How long a statement waits for another process's transaction: shorter than the lock of a job lasts. */
const busyTimeoutMs = 4_000;
const walRetryMs = 10;
const sqliteBusy = 5;

export type Parameters = readonly SQLInputValue[];
export type ResultRow = Readonly<Record<string, SQLInputValue>>;

export interface Database {
  run(sql: string, ...parameters: Parameters): number;
  /** The same statement for each of these parameters, in order; only inside a transaction. @returns how many rows changed. */
  runMany(sql: string, rows: Iterable<Parameters>): number;
  get(sql: string, ...parameters: Parameters): ResultRow | null;
  all(sql: string, ...parameters: Parameters): readonly ResultRow[];
  /**
   * Runs the closure as one transaction. A throw rolls back and passes through. Where another connection writes, it throws
   * `transient` `ledgerBusy` at once: a caller that waits must not hold the loop, on which that connection may live too.
   */
  transaction<Result>(work: () => Result): Result;
  /** The same, synced to disk before it returns. */
  durable<Result>(work: () => Result): Result;
  /**
   * Begins a transaction that `commit` or `rollback` ends (`connection.ts`), without waiting.
   * @returns false where another connection holds the ledger; with `isLastTry` that is thrown.
   */
  begin(isLastTry: boolean): boolean;
  commit(): void;
  /** Also where the transaction has ended by itself. */
  rollback(): void;
  /** Resolves when all that was committed is on disk (`log-sync.ts`). @throws PatchbayError `transient`: it may be there or not. */
  synced(): Promise<void>;
  /** Throws where this process or another one has found the file damaged. Cheap. */
  requireSound(): void;
  close(): void;
}

/** A number for each transaction that has ended: how long it held the lock, in milliseconds. For measurements. */
const holds = channel('patchbay:ledger-hold');

/**
 * Opens or creates the file, mode 0600, and takes its schema to today's version. Its methods throw `transient` for trouble
 * that passes. The first damage that is met is marked and ends all use of the file: from then on each method throws it.
 * @throws PatchbayError `damaged` `ledgerDamaged`; `usage` `ledgerTooNew`; `usage` `ledgerUnreadable` where it cannot be opened;
 *   `usage` `ledgerNoRoom` where a large one is to be migrated; `transient` as its methods.
 */
export function openDatabase(file: string, observe: LedgerObserver = () => undefined): Database {
  const db = open(file);
  const statements = new Map<string, Prepared>();
  const prepare = (sql: string): Prepared => {
    let prepared = statements.get(sql);
    if (prepared === undefined) {
      // SQLite plans a statement anew at each run where the value of a bare `LIMIT ?` matters to its plan; that of an
      // expression it does not look at.
      prepared = preparedRows(db.prepare(sql.replace(/\bLIMIT \?/g, 'LIMIT +?')));
      statements.set(sql, prepared);
    }
    return prepared;
  };
  /** What this process met or was notified of: nothing is read or written after it. */
  let damage: PatchbayError | null = null;
  const guarded = <Result>(work: () => Result): Result => {
    if (damage !== null) throw damage;
    try {
      return work();
    } catch (error) {
      const trouble = ledgerTroubleOf(error, file);
      if (trouble === null) throw error;
      if (trouble.kind === 'damaged') {
        damage = trouble;
        markDamaged(file, trouble);
      }
      observe(trouble);
      throw trouble;
    }
  };
  /** Whether the transaction at hand has changed anything: only then its commit shows that the file can be written. */
  let changed = false;
  let heldSinceMs = 0;
  const begun = (): void => {
    changed = false;
    heldSinceMs = performance.now();
  };
  const ended = (): void => {
    if (holds.hasSubscribers) holds.publish(performance.now() - heldSinceMs);
  };
  const rollBack = (): void => {
    if (!db.isTransaction) return;
    db.exec('ROLLBACK');
    ended();
  };
  /** Nothing works on this connection before it is open: then it may wait for another process. */
  let isOpen = false;
  const begin = (): void => {
    if (isOpen) db.exec('PRAGMA busy_timeout = 0');
    try {
      db.exec('BEGIN IMMEDIATE');
    } finally {
      db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    }
    begun();
  };
  const transact = <Result>(work: () => Result): Result => {
    try {
      begin();
    } catch (error) {
      // No trouble yet: a caller that waits tries again.
      throw isOpen && isBusy(error) ? (ledgerTroubleOf(error, file) ?? error) : error;
    }
    try {
      const result = work();
      db.exec('COMMIT');
      ended();
      if (changed) observe(null);
      return result;
    } catch (error) {
      rollBack();
      throw error;
    }
  };
  const log = createLogSync(file, {
    carryOver: async () => {
      if (Number(database.get('PRAGMA wal_checkpoint(FULL)')?.busy ?? 1) !== 0) throw new Error('its log is in use');
    },
  });
  const database: Database = {
    run: (sql, ...parameters) =>
      guarded(() => {
        const changes = Number(prepare(sql).statement.run(...parameters).changes);
        changed ||= changes > 0;
        if (changes > 0 && !db.isTransaction) observe(null);
        return changes;
      }),
    runMany: (sql, rows) =>
      guarded(() => {
        const { statement } = prepare(sql);
        let changes = 0;
        for (const parameters of rows) changes += Number(statement.run(...parameters).changes);
        changed ||= changes > 0;
        return changes;
      }),
    get: (sql, ...parameters) =>
      guarded(() => {
        const { statement, rowOf } = prepare(sql);
        const values = statement.get(...parameters);
        return values === undefined ? null : rowOf(values);
      }),
    all: (sql, ...parameters) =>
      guarded(() => {
        const { statement, rowOf } = prepare(sql);
        return statement.all(...parameters).map(rowOf);
      }),
    transaction: (work) => guarded(() => transact(work)),
    durable: (work) =>
      guarded(() => {
        db.exec('PRAGMA synchronous = FULL');
        try {
          return transact(work);
        } finally {
          db.exec('PRAGMA synchronous = NORMAL');
        }
      }),
    begin: (isLastTry) =>
      guarded(() => {
        try {
          begin();
        } catch (error) {
          if (isLastTry || !isBusy(error)) throw error;
          return false;
        }
        return true;
      }),
    commit: () =>
      guarded(() => {
        db.exec('COMMIT');
        ended();
        if (changed) observe(null);
      }),
    rollback: rollBack,
    synced: async () => {
      try {
        await log.synced();
      } catch (error) {
        if (error instanceof PatchbayError) observe(error);
        throw error;
      }
    },
    requireSound: () => {
      if (damage === null) {
        damage = damageTold(file);
        if (damage !== null) observe(damage);
      }
      if (damage !== null) throw damage;
    },
    close: () => {
      statements.clear();
      log.close();
      db.close();
    },
  };
  try {
    if (damageTold(file) !== null) requireHealed(database, file);
    migrate(database, file);
    // What a migration has read may have other columns now.
    statements.clear();
    isOpen = true;
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

export interface Prepared {
  readonly statement: StatementSync;
  /** @param values as the statement gives a row, in the order of its columns. */
  readonly rowOf: (values: unknown) => ResultRow;
}

/**
 * A statement whose rows are made into objects here. `node:sqlite` makes each of them an object with a shape of its own, which takes
 * twice the time, and memory that only a collection of the whole heap gives back.
 */
export function preparedRows(statement: StatementSync): Prepared {
  statement.setReturnArrays(true);
  let names: readonly string[] = [];
  let empty: ResultRow = {};
  const rowOf = (given: unknown): ResultRow => {
    // The types of node:sqlite do not tell of rows as arrays; every column here is one of SQLite's own types.
    const values = given as readonly SQLInputValue[];
    // At the first row; and where a migration has added columns to what `*` stands for.
    if (values.length !== names.length) {
      names = statement.columns().map(({ name }) => name);
      empty = Object.fromEntries(names.map((name) => [name, null]));
    }
    const row: Record<string, SQLInputValue> = { ...empty };
    for (let index = 0; index < names.length; index++) row[names[index] as string] = values[index] as SQLInputValue;
    return row;
  };
  return { statement, rowOf };
}

function open(file: string): DatabaseSync {
  let db: DatabaseSync | null = null;
  try {
    if (file !== ':memory:') {
      makeFolderNow(dirname(file));
      requireWritableFile(file);
    }
    db = new DatabaseSync(file, { timeout: busyTimeoutMs });
    if (file !== ':memory:') chmodSync(file, 0o600);
    switchToWal(db);
    db.exec('PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON');
    // 4 MB keep the hot pages, and the system caches the rest. A commit carries the log over into the file from 1,000 pages on, and holds
    // the lock and the loop for that: parts of 4,000 cost a seventh less in all, and hold both for three times as long.
    db.exec('PRAGMA cache_size = -4000; PRAGMA journal_size_limit = 67108864; PRAGMA wal_autocheckpoint = 1000');
    return db;
  } catch (error) {
    db?.close();
    if (error instanceof PatchbayError) throw error;
    const trouble = ledgerTroubleOf(error, file);
    if (trouble?.kind === 'damaged') markDamaged(file, trouble);
    if (trouble !== null) throw trouble;
    throw new PatchbayError('usage', 'ledgerUnreadable', `the ledger ${file} cannot be opened: ${messageOf(error)}`, {
      hint: 'Check the data folder: its rights, its free space, and that the file is a ledger of Patchbay.',
      cause: error,
    });
  }
}

/**
 * SQLite opens what it may not write for reading alone, and each write fails then, whatever becomes of the rights. So they are set first, and what this
 * user still may not write is not opened. @throws PatchbayError `transient` `ledgerReadOnly`.
 */
function requireWritableFile(file: string): void {
  for (const one of [file, `${file}-wal`, `${file}-shm`]) {
    try {
      chmodSync(one, 0o600);
    } catch {
      // Not there, of another user, or on a disk that takes no writes: what may be done with it all the same is asked next.
    }
    try {
      accessSync(one, constants.R_OK | constants.W_OK);
    } catch (error) {
      // The last process that closes the ledger takes its companions away, at any moment.
      if (systemCodeOf(error) !== 'ENOENT') throw ledgerReadOnly(file, error);
    }
  }
}

/** A marked file may be a restored backup: SQLite's full check decides. Throws if it is not sound. */
function requireHealed(database: Database, file: string): void {
  const problem = String(database.get('PRAGMA integrity_check(1)')?.integrity_check);
  if (problem !== 'ok') throw ledgerDamaged(file, problem);
  liftMark(file);
}

/**
 * Where several processes open a new file at once, SQLite refuses the switch to WAL at once instead of waiting for its
 * time-out. Ends with the switch, or when that time-out has passed.
 */
function switchToWal(db: DatabaseSync): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  // The waiting is done here alone: else it would be done twice.
  db.exec('PRAGMA busy_timeout = 0');
  for (let waitedMs = 0; ; waitedMs += walRetryMs) {
    try {
      db.exec('PRAGMA journal_mode = WAL');
      db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
      return;
    } catch (error) {
      if (!isBusy(error) || waitedMs >= busyTimeoutMs) throw error;
      Atomics.wait(pause, 0, 0, walRetryMs);
    }
  }
}

/** The lower eight bits name the error; the upper ones say more of it. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === sqliteBusy;
}

function migrate(database: Database, file: string): void {
  const version = () => Number(database.get('PRAGMA user_version')?.user_version ?? 0);
  if (version() > migrations.length) {
    throw new PatchbayError(
      'usage',
      'ledgerTooNew',
      `the ledger ${file} has schema ${version()}, and this Patchbay knows schemas up to ${migrations.length}`,
      { hint: 'Use the newer Patchbay that wrote it, or another data folder.' },
    );
  }
  if (version() === migrations.length) return;
  if (version() > 0) prepareMigration(file);
  database.durable(() => {
    // Another process may have migrated while this one waited for the lock.
    for (let next = version(); next < migrations.length; next += 1) {
      carryOut(database, migrations[next] ?? []);
      database.run(`PRAGMA user_version = ${next + 1}`);
    }
  });
}

/** From this size on a migration takes long enough to say so: about a minute for each gigabyte. */
const largeBytes = 64 * 1_024 * 1_024;

/**
 * What is carried over is written anew, first into the log beside the file: twice the file's size is enough.
 * @throws PatchbayError `usage` `ledgerNoRoom`, with nothing changed.
 */
function prepareMigration(file: string): void {
  const bytes = file === ':memory:' ? 0 : statSync(file).size;
  if (bytes < largeBytes) return;
  const { bavail, bsize } = statfsSync(dirname(file));
  const [neededMb, freeMb] = [bytes * 2, bavail * bsize].map((one) => Math.ceil(one / 1_048_576));
  if (bavail * bsize < bytes * 2) {
    throw new PatchbayError(
      'usage',
      'ledgerNoRoom',
      `the ledger ${file} is to be carried over to this version, which needs ${neededMb} MB on its disk, and ${freeMb} MB are free`,
      { hint: 'Free that much space, or move the data folder to a larger disk. Nothing was changed.' },
    );
  }
  process.stderr.write(
    `carrying the ledger over to this version (${Math.ceil(bytes / 1_048_576)} MB): this may take minutes\n`,
  );
}
