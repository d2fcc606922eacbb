/** The ledger in a schema of a PostgreSQL database (`pg`). */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { PatchbayError } from '#src/errors.ts';
import type { FoundInLedger } from '#src/ledger/forgetting.ts';
import { ledgerOver } from '#src/ledger/over/ledger.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { Store, Tables } from '#src/ledger/tables.ts';
import { type LedgerObserver, passing } from '#src/ledger/trouble.ts';
import { type Address, parseAddress } from './address.ts';
import { forgetWriters, watchChanges } from './changes.ts';
import { type Connection, createConnection } from './connection.ts';
import { postgresDeskTables } from './desk-tables.ts';
import { postgresKeyTables } from './key-tables.ts';
import { standForLead } from './lead.ts';
import { postgresLetterTables } from './letter-tables.ts';
import { migrate, readSchema, type SchemaState } from './migrations/migrations.ts';
import { onceConnected } from './once-connected.ts';
import { openPool, type Pool, type Statements } from './pool.ts';
import { postgresRunTables } from './run-tables.ts';

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

/** Whether the schema has a ledger. @throws PatchbayError as `openPostgresLedger`. */
export async function hasPostgresLedger(databaseUrl: string, suffix = ''): Promise<boolean> {
  const address = parseAddress(databaseUrl, suffix);
  return (await onceConnected(address, (client) => readSchema(client, address.schema))) !== null;
}

async function postgresLedger(address: Address, { ledgerId }: SchemaState, observe: LedgerObserver): Promise<Ledger> {
  const pool = openPool(address, observe);
  const writer = randomUUID();
  const changes = await watchChanges(address, pool, writer);
  const connection = createConnection({ pool, schema: address.schema, writer, observe });
  let closed: Promise<unknown> | null = null;
  const ledger = ledgerOver(postgresStore(connection), {
    id: ledgerId,
    placeId: () => placeId(pool.reads),
    // The database's own clock, asked each time: hosts need not agree, and a process that was frozen does not go by what it knew. A
    // server whose clock is set back makes leases and horizons longer; one that is set forward is for its operator to avoid.
    nowMs: async () =>
      Number((await pool.reads.get('SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now'))?.now),
    // That clock knows no boots: what waits by it goes on waiting, whichever host starts anew.
    bootId: async () => `postgres-${ledgerId}`,
    changeCount: () => changes.count(),
    standForLead: (candidate) => standForLead(address, candidate),
    requireSound: async () => pool.requireSound(),
    requireWritable: () => requireWritable(pool),
    search: (texts) => searchTables(pool.reads, texts),
    saidFile: null,
    // Its files, logs and backups are the database's own matter.
    scrub: async () => 'database',
    close: async () => {
      closed ??= Promise.all([changes.close(), pool.close()]);
      await closed;
    },
  });
  return {
    ...ledger,
    forget: async (...given) => {
      await ledger.forget(...given);
      await connection.transact((statements) => statements.run(forgetWriters));
    },
  };
}

/**
 * Its tables, and transactions over them. Every commit is durable here, whatever is asked for: processes outlive a crash of the server, and
 * would miss what it lost.
 */
export function postgresStore(connection: Connection): Store {
  return {
    reads: tablesOf(connection.reads),
    transact: (work) => connection.transact((statements) => work(tablesOf(statements))),
  };
}

function tablesOf(statements: Statements): Tables {
  return {
    runs: postgresRunTables(statements),
    keys: postgresKeyTables(statements),
    letters: postgresLetterTables(statements),
    desk: postgresDeskTables(statements),
  };
}

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

/**
 * A session keeps what the database was set to when it began: one that takes no writes is ended, so that the next one tells what is set then.
 * @throws PatchbayError `transient` `ledgerReadOnly`, `ledgerAway` and its like.
 */
async function requireWritable(pool: Pool): Promise<void> {
  const { client, release } = await pool.take();
  let isOfUse = false;
  try {
    const { rows } = await pool.guarded(() => client.query<{ refuses: boolean; standby: boolean }>(askWhetherWritable));
    const [{ refuses, standby } = { refuses: false, standby: false }] = rows;
    if (refuses) {
      const why = standby ? 'it is a standby' : 'it is set to read-only';
      throw passing('ledgerReadOnly', `the ledger's database takes no writes now: ${why}`, null);
    }
    isOfUse = true;
  } finally {
    release(!isOfUse);
  }
}

const askWhetherWritable =
  "SELECT current_setting('transaction_read_only') = 'on' AS refuses, pg_is_in_recovery() AS standby";

/** By what a dump does not carry: the cluster, where this user may ask for it, the database, and a table of the ledger. */
async function placeId(reads: Statements): Promise<string> {
  const may = await reads.get("SELECT has_function_privilege('pg_control_system()', 'execute') AS may");
  const cluster = may?.may === true ? '(SELECT system_identifier FROM pg_control_system())' : "''";
  const row = await reads.get(
    `SELECT concat_ws('/', ${cluster}, oid, 'meta'::regclass::oid) AS place FROM pg_database WHERE datname = current_database()`,
  );
  return String(row?.place);
}

/** One statement a table: each row is looked at once. */
async function searchTables(reads: Statements, texts: readonly string[]): Promise<readonly FoundInLedger[]> {
  if (texts.length === 0) return [];
  const tables = await reads.all('SELECT tablename FROM pg_tables WHERE schemaname = current_schema()');
  const found: FoundInLedger[] = [];
  for (const table of tables.map(({ tablename }) => String(tablename))) {
    const row = await reads.get(
      `SELECT count(*) AS found FROM "${table}" AS looked
       WHERE EXISTS (SELECT 1 FROM unnest($1::text[]) AS wanted WHERE strpos(looked::text, wanted) > 0)`,
      texts,
    );
    const rows = Number(row?.found ?? 0);
    if (rows > 0) found.push({ table, rows });
  }
  return found;
}
