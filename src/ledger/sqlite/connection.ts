/**
 * The one connection of this process to the SQLite file, for asynchronous transactions.
 *
 * There is one writer at a time. Within this process transactions wait for each other in line; between processes SQLite's own lock
 * decides, and the process that finds it taken tries again without holding the loop. A read outside a transaction waits until none is open
 * on the connection, so that it never sees what is not committed.
 *
 * Invariant: what runs between `BEGIN` and `COMMIT` is the work of one closure and nothing else.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PatchbayError } from '#src/errors.ts';
import type { Durability } from '#src/ledger/tables.ts';
import type { Database, Parameters, ResultRow } from './database.ts';

/** SQL statements; inside a transaction they belong to it. */
export interface Statements {
  all(sql: string, ...parameters: Parameters): Promise<readonly ResultRow[]>;
  get(sql: string, ...parameters: Parameters): Promise<ResultRow | null>;
  /** Only inside a transaction. @returns how many rows changed. */
  run(sql: string, ...parameters: Parameters): Promise<number>;
  /** The same statement for each of these parameters, in order; only inside a transaction. @returns how many rows changed. */
  runMany(sql: string, rows: Iterable<Parameters>): Promise<number>;
}

export interface Connection {
  /** Reads outside a transaction. */
  readonly reads: Statements;
  /** Runs the closure as one transaction. A throw rolls back and passes through. The closure must await nothing but its statements. */
  transact<Result>(work: (statements: Statements) => Promise<Result>, durability?: Durability): Promise<Result>;
  /** Resolves when no transaction of this process is open. */
  idle(): Promise<void>;
  /** Runs what uses the database directly, as soon as no transaction of this process is open. */
  atRest<Result>(work: () => Result): Promise<Awaited<Result>>;
}

/** How long a transaction waits for one of another process: shorter than the lock of a job lasts. */
const busyMsMax = 4_000;
const busyRetryMs = 5;

export function createConnection(db: Database): Connection {
  /** The transactions of this process, in line: resolves when the last one has ended. Never rejects. */
  let last: Promise<unknown> = Promise.resolve();
  let open = 0;

  const atRest = async <Result>(work: () => Result): Promise<Awaited<Result>> => {
    const startedAt = performance.now();
    // Ends with the work done, or when the time is over.
    for (;;) {
      // Ends when a turn finds no transaction in line; nothing comes between that and the work.
      while (open > 0) await last;
      try {
        return await work();
      } catch (error) {
        const isBusy = error instanceof PatchbayError && error.code === 'ledgerBusy';
        if (!isBusy || performance.now() - startedAt > busyMsMax) throw error;
        await sleep(busyRetryMs);
      }
    }
  };

  const inside: Statements = {
    all: async (sql, ...parameters) => db.all(sql, ...parameters),
    get: async (sql, ...parameters) => db.get(sql, ...parameters),
    run: async (sql, ...parameters) => db.run(sql, ...parameters),
    runMany: async (sql, rows) => db.runMany(sql, rows),
  };

  const outside = async (): Promise<never> => {
    throw new PatchbayError('bug', 'writeOutsideTransaction', 'the ledger is written in transactions only');
  };

  const held = async <Result>(work: (statements: Statements) => Promise<Result>): Promise<Result> => {
    await begin(db);
    try {
      const result = await work(inside);
      db.commit();
      return result;
    } catch (error) {
      db.rollback();
      throw error;
    }
  };

  return {
    reads: {
      all: (sql, ...parameters) => atRest(() => db.all(sql, ...parameters)),
      get: (sql, ...parameters) => atRest(() => db.get(sql, ...parameters)),
      run: outside,
      runMany: outside,
    },
    transact: (work, durability = 'quick') => {
      open += 1;
      const ended = last.then(() => held(work));
      last = ended.then(
        () => (open -= 1),
        () => (open -= 1),
      );
      return durability === 'durable' ? onceSynced(db, ended) : ended;
    },
    idle: () => atRest(() => undefined),
    atRest,
  };
}

/** Ends with the transaction begun, or when the time is over. */
async function begin(db: Database): Promise<void> {
  const startedAt = performance.now();
  while (!db.begin(performance.now() - startedAt > busyMsMax)) await sleep(busyRetryMs);
}

/** The next transaction may begin while the disk is waited for. */
async function onceSynced<Result>(db: Database, ended: Promise<Result>): Promise<Result> {
  const result = await ended;
  await db.synced();
  return result;
}
