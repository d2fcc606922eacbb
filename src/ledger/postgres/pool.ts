/**
 * Connections of this process to the ledger's database, and statements over them.
 *
 * Every statement is prepared under a name of its own, once for a connection, and its plan is kept: the tables' statements are few, and
 * each is written for one index. So the planner is told to plan once, for any values, and to walk indexes: with the statistics
 * of a table that is still empty it would choose to read all of it, and keep to that while the table grows.
 */
import { createHash } from 'node:crypto';
import pg from 'pg';
import { PatchbayError } from '#src/errors.ts';
import type { ResultRow } from '#src/ledger/records/columns.ts';
import type { LedgerObserver } from '#src/ledger/trouble.ts';
import type { Address } from './address.ts';
import { postgresTroubleOf } from './trouble.ts';
import { columnTypes, type Parameter, toParameter } from './values.ts';

/** SQL statements; inside a transaction they belong to it. */
export interface Statements {
  all(sql: string, ...parameters: readonly Parameter[]): Promise<readonly ResultRow[]>;
  get(sql: string, ...parameters: readonly Parameter[]): Promise<ResultRow | null>;
  /** Only inside a transaction. @returns how many rows changed, by the outermost statement. */
  run(sql: string, ...parameters: readonly Parameter[]): Promise<number>;
  /** A write that answers rows; only inside a transaction. */
  change(sql: string, ...parameters: readonly Parameter[]): Promise<readonly ResultRow[]>;
}

export const limits = {
  /** One writes, the others read; a server has a hundred for all. */
  connectionsMax: 5,
  connectTimeoutMs: 4_000,
  idleTimeoutMs: 60_000,
  /** How long a transaction waits for one of another process: shorter than the lock of a job lasts. */
  lockTimeoutMs: 4_000,
  statementTimeoutMs: 30_000,
  /** Behind the server's own: a server that is frozen, or cut off in silence, ends nothing. */
  answerTimeoutMs: 35_000,
  /** No closure awaits anything but its statements: a transaction that rests has lost its process. */
  idleInTransactionMs: 10_000,
  keepAliveAfterMs: 10_000,
} as const;

/** What each session is given. A commit is answered only once it is on disk: processes outlive a crash of the server here. */
const sessionSettings = (schema: string): Readonly<Record<string, string | number>> => ({
  search_path: schema,
  synchronous_commit: 'on',
  default_transaction_isolation: 'read\\ committed',
  plan_cache_mode: 'force_generic_plan',
  ...{ enable_seqscan: 'off', enable_bitmapscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' },
  ...{ enable_material: 'off', enable_memoize: 'off' },
  ...{ random_page_cost: 1.1, jit: 'off', timezone: 'UTC' },
  statement_timeout: limits.statementTimeoutMs,
  lock_timeout: limits.lockTimeoutMs,
  idle_in_transaction_session_timeout: limits.idleInTransactionMs,
});

/** @param role what `pg_stat_activity` shows of the connection, after the program's name. */
export function clientOptions(address: Address, role: string): pg.ClientConfig {
  return {
    ...(address.connection as pg.ClientConfig),
    application_name: `patchbay ${role} ${process.pid}`,
    connectionTimeoutMillis: limits.connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: limits.keepAliveAfterMs,
    types: columnTypes,
    options: Object.entries(sessionSettings(address.schema))
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
  };
}

/**
 * The number of a lock of the database, for a schema: that of all who write to it, that of those who migrate it, that of the engine that leads, and one that each process
 * shares while it has the ledger open, so that a process which takes it alone knows that no other one has. A copy has one of its own, by which its
 * target knows its source.
 */
export function lockOf(schema: string, what: 'write' | 'migrate' | 'open' | 'lead' | `source ${string}`): string {
  return createHash('sha256').update(`patchbay ${what} ${schema}`).digest().readBigInt64BE(0).toString();
}

export interface Pool {
  readonly reads: Statements;
  /** A connection for one transaction. The caller gives it back, `isBroken` where it must not be used again. */
  take(): Promise<{ readonly client: pg.ClientBase; release(isBroken: boolean): void }>;
  /** Runs work on the database, its trouble in our words. The observer gets it too. */
  guarded<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Throws where this process has met damage. */
  requireSound(): void;
  close(): Promise<void>;
}

export function openPool(
  address: Address,
  observe: LedgerObserver,
  answerTimeoutMs: number = limits.answerTimeoutMs,
): Pool {
  const pool = new pg.Pool({
    ...clientOptions(address, 'ledger'),
    max: limits.connectionsMax,
    idleTimeoutMillis: limits.idleTimeoutMs,
    query_timeout: answerTimeoutMs,
  });
  // An idle connection that breaks has left the pool; the next user connects anew, and reports what it meets.
  pool.on('error', () => undefined);
  // One in use: without a listener its error would end the process, and a server that stops may send it in one piece with the greeting, before
  // the connection is handed out. The next statement meets it.
  pool.on('connect', (client) => client.on('error', () => undefined));
  let damage: PatchbayError | null = null;
  const guarded = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (damage !== null) throw damage;
    try {
      return await work();
    } catch (error) {
      const trouble = error instanceof PatchbayError ? null : postgresTroubleOf(error, address);
      if (trouble === null) throw error;
      if (trouble.kind === 'damaged') damage = trouble;
      observe(trouble);
      throw trouble;
    }
  };
  const read = (sql: string, parameters: readonly Parameter[]): Promise<readonly ResultRow[]> =>
    guarded(async () => (await pool.query<ResultRow>(prepared(sql, parameters))).rows);
  return {
    reads: {
      all: (sql, ...parameters) => read(sql, parameters),
      get: async (sql, ...parameters) => (await read(sql, parameters))[0] ?? null,
      run: outside,
      change: outside,
    },
    take: () =>
      guarded(async () => {
        const client = await pool.connect();
        return { client, release: (isBroken) => client.release(isBroken) };
      }),
    guarded,
    requireSound: () => {
      if (damage !== null) throw damage;
    },
    close: () => pool.end(),
  };
}

async function outside(): Promise<never> {
  throw new PatchbayError('bug', 'writeOutsideTransaction', 'the ledger is written in transactions only');
}

const names = new Map<string, string>();

/** A statement with its name: the same for the same text in every process. */
export function prepared(sql: string, parameters: readonly Parameter[]): pg.QueryConfig {
  let name = names.get(sql);
  if (name === undefined) {
    name = createHash('sha256').update(sql).digest('base64url').slice(0, 22);
    names.set(sql, name);
  }
  return { name, text: sql, values: parameters.map(toParameter) };
}
