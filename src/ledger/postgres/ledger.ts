/** The ledger in a schema of a PostgreSQL database (`pg`). */
import { randomUUID } from 'node:crypto';
import { connect as connectSocket } from 'node:net';
import pg from 'pg';
import { PatchbayError } from '#src/errors.ts';
import { ledgerOver } from '#src/ledger/over.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { LedgerObserver } from '#src/ledger/trouble.ts';
import { type Address, parseAddress } from './address.ts';
import { announcement, watchChanges } from './changes.ts';
import { createConnection } from './connection.ts';
import { migrate, type SchemaState } from './migrations/migrations.ts';
import { clientOptions, limits, openPool } from './pool.ts';
import { postgresStore } from './store.ts';
import { postgresTroubleOf } from './trouble.ts';

/**
 * Opens the ledger, and creates it where there is none. Several processes may have it open at once.
 * @param databaseUrl `postgres://…`, as `address.ts` reads it.
 * @param suffix of the schema's name.
 * @throws PatchbayError `usage`: `databaseUrlInvalid`, `ledgerTooNew`, `ledgerRefused`, `ledgerDatabaseMissing`, `ledgerNoRights`,
 *   `ledgerDatabaseUnfit`; `transient` `ledgerAway` and its like.
 */
export async function openPostgresLedger(
  databaseUrl: string,
  observe: LedgerObserver = () => undefined,
  suffix = '',
): Promise<Ledger> {
  const { address, state } = await onceConnected(parseAddress(databaseUrl, suffix), async (client, connected) => {
    await requireFit(client, connected);
    return { address: connected, state: await migrate(client, connected) };
  });
  return await postgresLedger(address, state, observe);
}

async function postgresLedger(address: Address, { ledgerId }: SchemaState, observe: LedgerObserver): Promise<Ledger> {
  const pool = openPool(address, observe);
  const name = randomUUID();
  const changes = await watchChanges(address, pool, name);
  const connection = createConnection({
    ...{ pool, schema: address.schema, observe },
    announce: announcement(address.schema, name),
  });
  let closed: Promise<unknown> | null = null;
  return ledgerOver(postgresStore(connection), {
    id: ledgerId,
    // The database's own clock, asked each time: hosts need not agree, and a process that was frozen does not go by what it knew. A
    // server whose clock is set back makes leases and horizons longer; one that is set forward is for its operator to avoid.
    nowMs: async () =>
      Number((await pool.reads.get('SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now'))?.now),
    // That clock knows no boots: what waits by it goes on waiting, whichever host starts anew.
    bootId: async () => `postgres-${ledgerId}`,
    changeCount: () => changes.count(),
    requireSound: async () => pool.requireSound(),
    close: async () => {
      closed ??= Promise.all([changes.close(), pool.close()]);
      await closed;
    },
  });
}

/** Runs work on a connection of its own. @throws PatchbayError as `postgresTroubleOf` names it. */
export async function onceConnected<Result>(
  asked: Address,
  work: (client: pg.Client, address: Address) => Promise<Result>,
): Promise<Result> {
  let client: pg.Client | null = null;
  try {
    const address = asked.mayBePlain && !(await isEncrypted(asked)) ? plain(asked) : asked;
    client = new pg.Client(clientOptions(address, 'setup'));
    // What breaks between two statements is met by the next one.
    client.on('error', () => undefined);
    await client.connect();
    return await work(client, address);
  } catch (error) {
    throw error instanceof PatchbayError ? error : (postgresTroubleOf(error, asked) ?? error);
  } finally {
    await client?.end().catch(() => undefined);
  }
}

const plain = (address: Address): Address => ({ ...address, connection: { ...address.connection, ssl: false } });

/** `prefer`: the server is asked, as libpq does, and answers one letter. */
async function isEncrypted({ connection: { host, port } }: Address): Promise<boolean> {
  const socket = connectSocket({ host, port });
  const answer = Promise.withResolvers<boolean>();
  socket.setTimeout(limits.connectTimeoutMs, () => socket.destroy(new Error('timeout expired')));
  socket.once('connect', () => socket.write(sslRequest));
  socket.once('data', (data) => answer.resolve(data.toString('latin1') === 'S'));
  socket.once('error', answer.reject);
  socket.once('close', () => answer.reject(new Error('Connection terminated unexpectedly')));
  try {
    return await answer.promise;
  } finally {
    socket.destroy();
  }
}

/** Its length, and the number of the request. */
const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

const serverVersionMin = 150_000;

/** @throws PatchbayError `usage` `ledgerDatabaseUnfit`. */
async function requireFit(client: pg.Client, { shown }: Address): Promise<void> {
  const { rows } = await client.query<{ version: number; encoding: string }>(
    "SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding",
  );
  const [{ version, encoding } = { version: 0, encoding: '' }] = rows;
  const why =
    version < serverVersionMin
      ? `is older than PostgreSQL ${serverVersionMin / 10_000}`
      : encoding !== 'UTF8'
        ? `has the encoding ${encoding}, which cannot hold all text`
        : null;
  if (why === null) return;
  throw new PatchbayError('usage', 'ledgerDatabaseUnfit', `the database ${shown} ${why}`, {
    hint: 'Name another one in DATABASE_URL: PostgreSQL 15 or newer, created with the encoding UTF8.',
  });
}
