/**
 * Transactions on the ledger in PostgreSQL.
 *
 * There is one writer at a time: each transaction first takes one lock of the database, named after the schema, which leaves with its
 * end. Each statement after that sees all that was committed before, as in SQLite. Within this process transactions wait
 * for each other in line, so that they hold one connection at most, and reads have the others.
 *
 * A COMMIT whose answer was lost may have happened. Each transaction that changes anything leaves its number in the row of its process
 * (`changes.ts`), so the row tells, once the lock shows that the transaction has ended. The server's own `pg_xact_status` would not do: a server that
 * crashed before the transaction reached its log gives the same id to another one, which may commit. Where nothing tells soon, the error
 * is `transient` `commitUnanswered`: the caller cannot know.
 * What callers do with it is what they do after their own death at that point, since their closures read before they write:
 * - rows of a run are settled, put off and ended only while they have no outcome, and leases are taken and left by their owner, so
 *   that a second time changes nothing;
 * - a batch or a tick that has moved on is found at another generation or state, and the caller steps back;
 * - staging begins anew, and discards what the last attempt left;
 * - a run, an audit or a redrive that was entered unseen is found in the ledger by the next sweep, like one whose process died after it
 *   entered it; a file that is entered a second time is known by its content;
 * - an attempt of a delivery or of a row may be counted though the next one is, too: it gives up a try earlier;
 * - a write to the service whose outcome was not recorded is a doubt, and is looked up.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { PatchbayError } from '#src/errors.ts';
import type { ResultRow } from '#src/ledger/records/columns.ts';
import { type LedgerObserver, passing } from '#src/ledger/trouble.ts';
import { announcement, lastAnnounced } from './changes.ts';
import { lockOf, type Pool, prepared, type Statements } from './pool.ts';
import { isLost } from './trouble.ts';
import type { Parameter } from './values.ts';

export interface Connection {
  /** Reads outside a transaction. */
  readonly reads: Statements;
  /** Runs the closure as one transaction. A throw rolls back and passes through. The closure awaits nothing but its statements. */
  transact<Result>(work: (statements: Statements) => Promise<Result>): Promise<Result>;
}

export interface ConnectionOptions {
  readonly pool: Pool;
  readonly schema: string;
  /** The name of this ledger among all that are open on the schema. */
  readonly writer: string;
  readonly observe: LedgerObserver;
}

/** How long the server is asked what became of a COMMIT. */
const doubtMsMax = 8_000;
const doubtRetryMs = 250;

export function createConnection({ pool, schema, writer, observe }: ConnectionOptions): Connection {
  /** In one round trip. */
  const begin = `BEGIN; SELECT pg_advisory_xact_lock(${lockOf(schema, 'write')})`;
  /** Of the transactions that have changed anything, or tried to. */
  let number = 0;
  /** The transactions of this process, in line: resolves when the last one has ended. Never rejects. */
  let last: Promise<unknown> = Promise.resolve();

  const held = async <Result>(work: (statements: Statements) => Promise<Result>): Promise<Result> => {
    const { client, release } = await pool.take();
    let isHeld = true;
    const giveBack = (isBroken: boolean): void => {
      if (!isHeld) return;
      isHeld = false;
      release(isBroken);
    };
    try {
      await pool.guarded(() => client.query(begin));
      const { statements, changed } = inside(pool, client);
      const result = await work(statements);
      if (changed()) number += 1;
      const sql = changed() ? `${announcement(schema, writer, number)}; COMMIT` : 'COMMIT';
      await pool.guarded(async () => {
        try {
          await client.query(sql);
        } catch (error) {
          if (!isLost(error)) throw error;
          // Its end makes the server roll back what it did not commit, so that the lock is free and the row tells.
          giveBack(true);
          const asked = `${begin}; ${lastAnnounced(writer)}; ROLLBACK`;
          if (changed()) await requireCommitted({ pool, asked, number, observe }, error);
        }
      });
      if (changed()) observe(null);
      return result;
    } catch (error) {
      // A connection that was lost, or whose server does not answer, is not asked for more; nor is a session that takes no writes, since it
      // keeps what the database was set to when it began.
      const trouble = error instanceof PatchbayError ? error : null;
      const isBroken = trouble?.code === 'ledgerReadOnly' || isLost(trouble === null ? error : trouble.cause);
      if (isHeld) giveBack(isBroken || !(await rolledBack(client)));
      throw error;
    } finally {
      giveBack(false);
    }
  };

  return {
    reads: pool.reads,
    transact: (work) => {
      const ended = last.then(() => held(work));
      last = ended.catch(() => undefined);
      return ended;
    },
  };
}

/** The statements of one transaction, one after the other, and whether one of them has changed a row. */
function inside(pool: Pool, client: pg.ClientBase): { readonly statements: Statements; changed(): boolean } {
  let hasChanged = false;
  let last: Promise<unknown> = Promise.resolve();
  const query = (sql: string, parameters: readonly Parameter[]): Promise<pg.QueryResult<ResultRow>> => {
    const answer = last.then(() => pool.guarded(() => client.query<ResultRow>(prepared(sql, parameters))));
    last = answer.catch(() => undefined);
    return answer;
  };
  const write = async (sql: string, parameters: readonly Parameter[]): Promise<pg.QueryResult<ResultRow>> => {
    const answer = await query(sql, parameters);
    hasChanged ||= (answer.rowCount ?? 0) > 0;
    return answer;
  };
  return {
    statements: {
      all: async (sql, ...parameters) => (await query(sql, parameters)).rows,
      get: async (sql, ...parameters) => (await query(sql, parameters)).rows[0] ?? null,
      run: async (sql, ...parameters) => (await write(sql, parameters)).rowCount ?? 0,
      change: async (sql, ...parameters) => (await write(sql, parameters)).rows,
    },
    changed: () => hasChanged,
  };
}

/** @returns false where the connection is of no use any more; the server has rolled back, or will. */
async function rolledBack(client: pg.ClientBase): Promise<boolean> {
  try {
    await client.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}

interface Doubt extends Pick<ConnectionOptions, 'pool' | 'observe'> {
  /** SQL that waits for the transaction's end and reads the number of the last one that this process has committed. */
  readonly asked: string;
  readonly number: number;
}

/**
 * Finds out whether a transaction whose COMMIT was not answered has committed, and returns then. Ends when that is known, or when the
 * time is over. @throws `cause` where it has not; PatchbayError `transient` `commitUnanswered` where nothing tells.
 */
async function requireCommitted({ pool, asked, number, observe }: Doubt, cause: unknown): Promise<void> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < doubtMsMax) {
    const last = await numberCommitted(pool, asked);
    if (last === number) return;
    if (last !== null) throw cause;
    await sleep(doubtRetryMs);
  }
  const doubt = passing('commitUnanswered', "the ledger's database did not say whether it took the last change", cause);
  observe(doubt);
  throw doubt;
}

/** 0 where this process has committed nothing; null where the server did not answer, or the transaction goes on. */
async function numberCommitted(pool: Pool, asked: string): Promise<number | null> {
  let isBroken = true;
  let release: ((isBroken: boolean) => void) | null = null;
  try {
    const taken = await pool.take();
    release = taken.release;
    // Several statements are answered one by one, which the driver's types leave out.
    const answers: unknown = await taken.client.query(asked);
    isBroken = false;
    const rows = Array.isArray(answers) ? answers.flatMap((answer: pg.QueryResult<ResultRow>) => answer.rows) : [];
    return Number(rows.find((row) => 'number' in row)?.number ?? 0);
  } catch {
    // Away still, or another writer has its turn: asked again, until the time is over.
    return null;
  } finally {
    release?.(isBroken);
  }
}
