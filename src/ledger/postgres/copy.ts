/**
 * A schema of PostgreSQL as the source and as the target of a copy (`src/ledger/copy/copy-ledger.ts`).
 *
 * The target is made in one transaction, with its schema and its comparison: until it commits, no other process sees anything of it.
 * Invariant: for as long as a copy works on a schema, no other process has its ledger open.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { PatchbayError } from '#src/errors.ts';
import {
  type CopiedTable,
  type Counters,
  copiedTables,
  quoted,
  registrations,
} from '#src/ledger/copy/copied-tables.ts';
import {
  type CopiedRow,
  type CopyReader,
  type CopySource,
  type CopyTarget,
  charsOf,
  type Settled,
  sliceCharsMax,
  sliceRowsMax,
} from '#src/ledger/copy/copy-ledger.ts';
import { passing } from '#src/ledger/trouble.ts';
import { type Address, parseAddress } from './address.ts';
import { bringUp, migrate, readSchema, requireKnown } from './migrations/migrations.ts';
import { connectOnce, onceConnected } from './once-connected.ts';
import { lockOf } from './pool.ts';
import { isLost, postgresTroubleOf } from './trouble.ts';
import { toParameter, type Value } from './values.ts';

/** A command beside the copy has the ledger open for an instant; an engine keeps it open. */
const openRetries = 10;
const openRetryMs = 200;
/** Comparing a large file takes longer between two statements than a transaction may rest otherwise. */
const restMs = 600_000;
/** Of the lock on a source by which its target knows it again, whatever name of the server either URL has. */
const sourceLock = `source ${randomUUID()}` as const;

/**
 * Takes the ledger to today's schema, and keeps all others from writing until it is closed.
 * @throws PatchbayError `usage`: `ledgerMissing`, `ledgerInUse`; what opening throws.
 */
export async function openPostgresSource(databaseUrl: string, suffix: string): Promise<CopySource> {
  const { client, address, guarded } = await connect(databaseUrl, suffix);
  try {
    return await guarded(async () => {
      if ((await readSchema(client, address.schema)) === null) throw missing(address);
      const { ledgerId } = await migrate(client, address);
      await holdAlone(client, address);
      await client.query(`SELECT pg_advisory_lock(${lockOf(address.schema, sourceLock)})`);
      await client.query(`SELECT pg_advisory_lock(${lockOf(address.schema, 'write')})`);
      await client.query(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${patient}`);
      return {
        ...readerOf(client, address, guarded),
        ledgerId,
        counters: () => guarded(() => countersOf(client)),
        latestMs: () => guarded(() => clockOf(client)),
        close: () => ended(client),
      };
    });
  } catch (error) {
    await ended(client);
    throw error;
  }
}

/**
 * The schema is not there, or holds nothing, or a ledger that is empty.
 * @throws PatchbayError `usage`: `copyOntoItself`, `copyTargetTaken`, `ledgerInUse`, `ledgerTooNew`; what opening throws.
 */
export async function openPostgresTarget(databaseUrl: string, suffix: string): Promise<CopyTarget> {
  const { client, address, guarded } = await connect(databaseUrl, suffix);
  try {
    await guarded(async () => {
      await requireOther(client, address);
      await holdAlone(client, address);
      await client.query(
        `BEGIN; ${patient}; SELECT pg_advisory_xact_lock(${lockOf(address.schema, 'migrate')}), pg_advisory_xact_lock(${lockOf(address.schema, 'write')})`,
      );
      const found = await readSchema(client, address.schema);
      if (found !== null) requireKnown(found, address);
      await requireEmpty(client, address, found !== null);
      await bringUp(client, address);
      if (found !== null) await requireNoRows(client, address);
    });
  } catch (error) {
    await ended(client);
    throw error;
  }
  const types = new Map<string, ReadonlyMap<string, string>>();
  const typesOf = async ({ name }: CopiedTable): Promise<ReadonlyMap<string, string>> => {
    const known = types.get(name) ?? (await readTypes(client, name));
    types.set(name, known);
    return known;
  };
  let ledgerId = '';
  return {
    ...readerOf(client, address, guarded),
    write: (table, columns, rows) =>
      guarded(async () => {
        if (table.filled === 'anew') await client.query(`DELETE FROM ${table.name}`);
        const known = await typesOf(table);
        const lists = columns.map((column, index) => `$${index + 1}::${known.get(column)}[]`).join(', ');
        const derived = derivedOf(table);
        await client.query({
          name: `copy ${table.name}`,
          text: `INSERT INTO ${table.name} (${quoted([...columns, ...derived.map(([name]) => name)])}) OVERRIDING SYSTEM VALUE
                 SELECT ${['given.*', ...derived.map(([, sql]) => sql)].join(', ')} FROM unnest(${lists}) AS given (${quoted(columns)})`,
          values: columns.map((_column, index) => toParameter(rows.map((row) => (row[index] ?? null) as Value))),
        });
      }),
    settle: (source) =>
      guarded(async () => {
        ({ ledgerId } = source);
        await settle(client, source);
      }),
    publish: async () => {
      try {
        await client.query('COMMIT');
      } catch (error) {
        if (!isLost(error)) throw postgresTroubleOf(error, address) ?? error;
        await requireCommitted(address, ledgerId, error);
      }
    },
    // Rolls back what was not committed.
    close: () => ended(client),
  };
}

/** In one transaction of minutes. */
const patient = `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = ${restMs}`;

interface Connected {
  readonly client: pg.Client;
  readonly address: Address;
  /** Its trouble in our words. */
  readonly guarded: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

async function connect(databaseUrl: string, suffix: string): Promise<Connected> {
  const { client, address } = await connectOnce(parseAddress(databaseUrl, suffix), 'copy');
  return {
    client,
    address,
    guarded: async (work) => {
      try {
        return await work();
      } catch (error) {
        throw error instanceof PatchbayError ? error : (postgresTroubleOf(error, address) ?? error);
      }
    },
  };
}

async function ended(client: pg.Client): Promise<void> {
  // What the server does with a connection that breaks is what it does with one that ends.
  await client.end().catch(() => undefined);
}

/** Takes the lock that each process shares while it has the ledger open. @throws PatchbayError `usage` `ledgerInUse`. */
async function holdAlone(client: pg.Client, { schema, shown }: Address): Promise<void> {
  const lock = lockOf(schema, 'open');
  for (let tried = 0; tried <= openRetries; tried += 1) {
    const { rows } = await client.query<{ taken: boolean }>(`SELECT pg_try_advisory_lock(${lock}) AS taken`);
    if (rows[0]?.taken === true) return;
    await sleep(openRetryMs);
  }
  const { rows: holders } = await client.query<{ name: string; host: string | null }>(
    `SELECT application_name AS name, host(client_addr) AS host FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid() AND objsubid = 1
       AND classid::bigint << 32 | objid::bigint = ${lock} ORDER BY 2, 1 LIMIT 5`,
  );
  const who = holders.map(({ name, host }) => `${name} on ${host ?? 'its own host'}`).join(', ');
  throw new PatchbayError(
    'usage',
    'ledgerInUse',
    `other processes have the ledger ${shown} open: ${who || 'unknown'}`,
    {
      hint: 'Stop the engine, its workers and all commands on it first. Nothing was copied.',
    },
  );
}

/** @throws PatchbayError `usage` `copyOntoItself` where this process has it open as a source. */
async function requireOther(client: pg.Client, { schema, shown }: Address): Promise<void> {
  const lock = lockOf(schema, sourceLock);
  const { rows } = await client.query<{ taken: boolean }>(`SELECT pg_try_advisory_lock(${lock}) AS taken`);
  if (rows[0]?.taken === true) return;
  throw new PatchbayError(
    'usage',
    'copyOntoItself',
    `${shown} is the ledger that is to be copied: source and target are one`,
    {
      hint: 'Name another schema (schema=NAME in the URL), another database, or a file. Nothing was copied.',
    },
  );
}

async function requireEmpty(client: pg.Client, { schema, shown }: Address, isLedger: boolean): Promise<void> {
  if (isLedger) return;
  // Whatever is in a schema depends on it: tables, functions, types. Its own default privileges are in none.
  const { rows } = await client.query<{ name: string }>(
    `SELECT found.type || ' ' || coalesce(found.name, found.identity) AS name
     FROM pg_depend, pg_identify_object(classid, objid, objsubid) AS found
     WHERE refclassid = 'pg_namespace'::regclass AND refobjid = to_regnamespace($1) AND found.schema = $1
     ORDER BY classid <> 'pg_class'::regclass, 1 LIMIT 1`,
    [schema],
  );
  if (rows[0] !== undefined) throw taken(shown, `it holds the ${rows[0].name}`);
}

async function requireNoRows(client: pg.Client, { shown }: Address): Promise<void> {
  for (const { name, filled } of copiedTables) {
    if (filled === 'anew') continue;
    const { rowCount } = await client.query(`SELECT 1 FROM ${name} LIMIT 1`);
    if (rowCount !== 0) throw taken(shown, `${name} has rows`);
  }
}

function taken(shown: string, why: string): PatchbayError {
  return new PatchbayError('usage', 'copyTargetTaken', `${shown} is not empty: ${why}`, {
    hint: 'Name another schema (schema=NAME in the URL), or drop that one yourself. Nothing was changed.',
  });
}

function missing({ shown }: Address): PatchbayError {
  return new PatchbayError('usage', 'ledgerMissing', `there is no ledger at ${shown}`);
}

/** Columns that PostgreSQL alone has, made of the others. */
function derivedOf({ name }: CopiedTable): readonly (readonly [column: string, sql: string])[] {
  return name === 'letter_headers' ? [['hash', "sha256(convert_to(given.columns, 'UTF8'))"]] : [];
}

async function readTypes(client: pg.Client, table: string): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ name: string; type: string }>(
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
     WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`,
    [table],
  );
  return new Map(rows.map(({ name, type }) => [name, type]));
}

function readerOf(client: pg.Client, { shown }: Address, guarded: Connected['guarded']): CopyReader {
  return {
    shown,
    columnsOf: (table) =>
      guarded(async () => {
        const derived = derivedOf(table).map(([name]) => name);
        return [...(await readTypes(client, table.name)).keys()].filter((name) => !derived.includes(name)).sort();
      }),
    count: ({ name }) =>
      guarded(async () => {
        const { rows } = await client.query<{ rows: number }>(`SELECT count(*) AS rows FROM ${name}`);
        return rows[0]?.rows ?? 0;
      }),
    slices: (table, columns) => slicesOf(client, guarded, table, columns),
  };
}

async function* slicesOf(
  client: pg.Client,
  guarded: Connected['guarded'],
  { name, key }: CopiedTable,
  columns: readonly string[],
): AsyncGenerator<readonly CopiedRow[]> {
  await guarded(() =>
    client.query(`DECLARE copied NO SCROLL CURSOR FOR SELECT ${quoted(columns)} FROM ${name} ORDER BY ${quoted(key)}`),
  );
  // Few at first: how wide they are is not known yet.
  let atOnce = 10;
  // Ends with the table.
  for (;;) {
    const { rows } = await guarded(() =>
      client.query<CopiedRow[number][]>({ text: `FETCH ${atOnce} FROM copied`, rowMode: 'array' }),
    );
    if (rows.length === 0) break;
    yield rows;
    const chars = rows.reduce((sum, row) => sum + charsOf(row), 0);
    atOnce = Math.max(1, Math.min(sliceRowsMax, Math.floor((rows.length * sliceCharsMax) / Math.max(chars, 1))));
  }
  await guarded(() => client.query('CLOSE copied'));
}

async function countersOf(client: pg.Client): Promise<Counters> {
  const last = async (table: string, column: string): Promise<number> => {
    const { rows } = await client.query<{ last: number | null }>(
      'SELECT pg_sequence_last_value(pg_get_serial_sequence($1, $2)::regclass) AS last',
      [table, column],
    );
    return rows[0]?.last ?? 0;
  };
  return { runs: await last('runs', 'sequence'), records: await last('records', 'number') };
}

async function clockOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ now: number }>(
    'SELECT ceil(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now',
  );
  return rows[0]?.now ?? 0;
}

/** Longer than any audit or delivery waits for its next turn but after hours of failing (`src/ledger/sqlite/clock.ts`). */
const waitMsMax = 3_600_000;
const recordsAtOnce = 200;

async function settle(client: pg.Client, { ledgerId, counters }: Settled): Promise<void> {
  await client.query("UPDATE meta SET value = $1 WHERE name = 'id'", [ledgerId]);
  const { rows: numbered } = await client.query<{ table: string; column: string }>(
    `SELECT attrelid::regclass::text AS table, attname AS column FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
     WHERE relnamespace = current_schema()::regnamespace AND attidentity <> ''`,
  );
  for (const { table, column } of numbered) {
    const last = counters[table as keyof Counters] ?? 0;
    await client.query(
      `SELECT setval(pg_get_serial_sequence($1, $2), greatest(last, 1), last > 0)
       FROM (SELECT greatest($3::bigint, coalesce(max("${column}"), 0)) AS last FROM ${table}) AS numbers`,
      [table, column, last],
    );
  }
  await client.query(`DELETE FROM records WHERE ${registrations}`);
  await waitByThisClock(client);
}

/** As a ledger in a file does in a new boot (`src/ledger/sqlite/clock.ts`). */
async function waitByThisClock(client: pg.Client): Promise<void> {
  const nowMs = await clockOf(client);
  await client.query('UPDATE flights SET owner = NULL, lease_until = NULL WHERE owner IS NOT NULL');
  await client.query('UPDATE flights SET horizon = $1::bigint + horizon_span WHERE horizon IS NOT NULL', [nowMs]);
  await client.query('UPDATE staged SET not_before = 0 WHERE outcome IS NULL AND not_before > 0');
  await client.query('UPDATE batches SET due_at = 0 WHERE done = 0 AND due_at > 0');
  const latestMs = nowMs + waitMsMax;
  // Ends: each turn brings those it has read to the latest instant.
  for (;;) {
    const { rows } = await client.query<{ number: number; document: string }>(
      `SELECT number, document FROM records WHERE at > $1 AND (kind = 'delivery' AND state IN ('noticeWaits', 'changeWaits')
         OR kind = 'audit' AND state IN ('asked', 'waiting')) ORDER BY number LIMIT ${recordsAtOnce}`,
      [latestMs],
    );
    for (const { number, document } of rows) {
      const due = JSON.stringify({ ...JSON.parse(document), dueAtMs: latestMs });
      await client.query('UPDATE records SET at = $1, document = $2 WHERE number = $3', [
        latestMs,
        toParameter(due),
        number,
      ]);
    }
    if (rows.length < recordsAtOnce) break;
  }
}

const doubtTries = 20;
const doubtRetryMs = 500;

/** A COMMIT was not answered: whether the ledger is there tells. Ends with an answer, or after ten seconds. */
async function requireCommitted(address: Address, ledgerId: string, cause: unknown): Promise<void> {
  for (let tried = 0; tried < doubtTries; tried += 1) {
    await sleep(doubtRetryMs);
    const state = await onceConnected(address, (client) => readSchema(client, address.schema)).catch(() => undefined);
    if (state?.ledgerId === ledgerId) return;
    if (state !== undefined) throw postgresTroubleOf(cause, address) ?? cause;
  }
  throw passing('commitUnanswered', `the database of ${address.shown} did not say whether it took the copy`, cause);
}
