/**
 * How this process learns that another one has committed (`Ledger.changeCount`).
 *
 * Each transaction that changes anything leaves its number in a row of its *writer*, a ledger that is open in some process, and
 * notifies a channel of the schema with the writer's name. One connection of each process listens. While it does, the count is answered
 * from memory; while it does not, the rows of the others are read, once a second at most. The connection is made anew whenever it breaks,
 * and since a notification may have been missed meanwhile, the count moves then. The writer itself reads its row where a COMMIT was not answered
 * (`connection.ts`).
 *
 * Invariant: no commit of another process is missed, and own commits do not count. Rows of writers that are long gone are deleted, which
 * moves the count once: who is woken for nothing looks and finds nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Address } from './address.ts';
import { clientOptions, lockOf, type Pool } from './pool.ts';

export interface Changes {
  count(): Promise<number>;
  /** Whether the listener's connection is up. */
  isListening(): boolean;
  close(): Promise<void>;
}

/** How long a broken listener waits before it connects again. */
const reconnectMsMin = 250;
const reconnectMsMax = 5_000;
/** How often the listener asks whether the server is there still: a connection that is cut in silence shows nothing. */
const pingEveryMs = 10_000;
const pingTimeoutMs = 5_000;
const readEveryMs = 1_000;

const channelOf = (schema: string): string => `${schema}_changes`;

/** SQL for the end of a transaction that changed anything. @param number of the transaction: each writer counts its own. */
export function announcement(schema: string, writer: string, number: number): string {
  return `INSERT INTO changes (writer, number) VALUES ('${writer}', ${number})
    ON CONFLICT (writer) DO UPDATE SET number = excluded.number, at = excluded.at;
    SELECT pg_notify('${channelOf(schema)}', '${writer}')`;
}

/** SQL for the `number` of the last transaction of the writer that has committed; no row where none has. */
export function lastAnnounced(writer: string): string {
  return `SELECT number FROM changes WHERE writer = '${writer}'`;
}

/** SQL that deletes rows of writers that have written nothing for a day: a doubt about a COMMIT lasts seconds. */
export const forgetWriters = "DELETE FROM changes WHERE at < now() - interval '1 day'";

/** Resolves when the listener has been connected, or has failed once. @param writer as announced by this process. */
export async function watchChanges(address: Address, pool: Pool, writer: string): Promise<Changes> {
  const closing = new AbortController();
  let listener: pg.Client | null = null;
  let heard = 0;
  let counted = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  /** Resolves when the connection has ended, for whatever reason. Never rejects. */
  const listen = async (onTried: () => void): Promise<void> => {
    const client = new pg.Client(clientOptions(address, 'listener'));
    const over = new AbortController();
    const end = (): void => over.abort();
    closing.signal.addEventListener('abort', end);
    client.once('end', end);
    client.on('error', end);
    client.on('notification', ({ payload }) => {
      if (payload !== writer) heard += 1;
    });
    try {
      await client.connect();
      // Shared for as long as this connection lives: `copy.ts` takes it alone.
      await client.query(
        `SELECT pg_advisory_lock_shared(${lockOf(address.schema, 'open')}); LISTEN "${channelOf(address.schema)}"`,
      );
      listener = client;
      heard += 1;
      onTried();
      // Ends with the connection: one whose ping is not answered is given up.
      while (!over.signal.aborted) {
        await rested(pingEveryMs, over.signal);
        if (!over.signal.aborted) await answered(client);
      }
    } catch {
      // The database is away: the next read or write reports it.
    } finally {
      listener = null;
      onTried();
      closing.signal.removeEventListener('abort', end);
      await ended(client);
    }
  };

  const goOn = async (onTried: () => void): Promise<void> => {
    let waitMs = reconnectMsMin;
    // Ends when the ledger is closed.
    while (!closing.signal.aborted) {
      const startedAt = performance.now();
      await listen(onTried);
      waitMs = performance.now() - startedAt > pingEveryMs ? reconnectMsMin : Math.min(waitMs * 2, reconnectMsMax);
      await rested(waitMs, closing.signal);
    }
  };
  const tried = Promise.withResolvers<void>();
  const going = goOn(tried.resolve);
  await tried.promise;

  const read = async (): Promise<void> => {
    readAt = performance.now();
    const row = await pool.reads.get('SELECT sum(number)::bigint AS count FROM changes WHERE writer <> $1', writer);
    counted = Number(row?.count ?? 0);
  };

  return {
    count: async () => {
      if (listener === null && performance.now() - readAt >= readEveryMs) {
        reading ??= read().finally(() => {
          reading = null;
        });
        await reading;
      }
      return heard + counted;
    },
    isListening: () => listener !== null,
    close: async () => {
      closing.abort();
      await going;
    },
  };
}

/** Waits until the time is over or the signal fires. */
async function rested(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}

/** @throws where the server does not answer in time. */
async function answered(client: pg.Client): Promise<void> {
  await inTime(client.query('SELECT 1'));
}

/** Says goodbye; a server that does not take it is left. */
async function ended(client: pg.Client): Promise<void> {
  await inTime(client.end()).catch(() => undefined);
}

async function inTime(work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('the listener was not answered')), pingTimeoutMs);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
