/**
 * Takes a schema of PostgreSQL from one version to the next. No migration is ever changed once it was released.
 *
 * `meta` holds the version and the ledger's id. One process migrates, under a lock of the database; the others wait for it and find
 * it done.
 */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { PatchbayError } from '#src/errors.ts';
import type { Address } from '../address.ts';
import { lockOf } from '../pool.ts';
import { firstSchema } from './first-schema.ts';

/** The host whose file a run reads. */
const hostsOfRuns = `ALTER TABLE runs ADD COLUMN host text COLLATE "C" NOT NULL DEFAULT ''`;

/** Rows that a plan would have written, and whose contacts changed since it was made. */
const moved = 'ALTER TABLE runs ADD COLUMN moved bigint NOT NULL DEFAULT 0';

/** Contacts that an undo deleted, and the requests of that. */
const deleted = `ALTER TABLE runs ADD COLUMN deleted bigint NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN "delete" bigint NOT NULL DEFAULT 0`;

/** All problems of a rejected row, as JSON; of one what the columns do not tell, its value, or null. */
const problemsOfLetters = 'ALTER TABLE letters ADD COLUMN problems text COLLATE "C"';

/** Each entry takes the schema one version further. */
export const migrations: readonly string[] = [firstSchema, hostsOfRuns, moved, deleted, problemsOfLetters];

/** Longer than any migration holds the others up. */
const lockTimeoutMs = 60_000;

/** What a schema says of itself; null where it has no ledger. */
export interface SchemaState {
  readonly version: number;
  readonly ledgerId: string;
}

export async function readSchema(client: pg.ClientBase, schema: string): Promise<SchemaState | null> {
  const there = await client.query("SELECT to_regclass($1 || '.meta') IS NOT NULL AS there", [schema]);
  if (there.rows[0]?.there !== true) return null;
  const { rows } = await client.query<{ name: string; value: string }>(`SELECT name, value FROM ${schema}.meta`);
  const meta = new Map(rows.map(({ name, value }) => [name, value]));
  return { version: Number(meta.get('version') ?? 0), ledgerId: meta.get('id') ?? '' };
}

/**
 * Creates the schema where it is missing, and takes it to today's version.
 * @throws PatchbayError `usage` `ledgerTooNew`; the driver's errors.
 */
export async function migrate(client: pg.ClientBase, address: Address): Promise<SchemaState> {
  const { schema } = address;
  const before = await readSchema(client, schema);
  if (before !== null && before.version >= migrations.length) return requireKnown(before, address);
  await client.query(
    `BEGIN; SET LOCAL lock_timeout = ${lockTimeoutMs}; SET LOCAL statement_timeout = 0;
     SELECT pg_advisory_xact_lock(${lockOf(schema, 'migrate')})`,
  );
  try {
    await bringUp(client, address);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
  const after = await readSchema(client, schema);
  if (after === null) throw new PatchbayError('bug', 'schemaMissing', 'a schema that was migrated is not there');
  return requireKnown(after, address);
}

/** The same inside a transaction of the caller, who holds the lock of those who migrate. @throws the driver's errors. */
export async function bringUp(client: pg.ClientBase, { schema }: Address): Promise<void> {
  // Another process may have migrated while this one waited for the lock.
  const found = await readSchema(client, schema);
  if (found === null) {
    // Asked first: to create one that is there needs a right that a user of it may lack.
    const { rowCount } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
    if (rowCount === 0) await client.query(`CREATE SCHEMA ${schema}`);
    await client.query(
      `CREATE TABLE ${schema}.meta (name text COLLATE "C" PRIMARY KEY, value text COLLATE "C" NOT NULL)`,
    );
    await client.query(`INSERT INTO ${schema}.meta (name, value) VALUES ('id', $1), ('version', '0')`, [
      randomUUID().slice(0, 8),
    ]);
  }
  for (let next = found?.version ?? 0; next < migrations.length; next += 1) await client.query(migrations[next] ?? '');
  if ((found?.version ?? 0) < migrations.length) {
    await client.query(`UPDATE ${schema}.meta SET value = '${migrations.length}' WHERE name = 'version'`);
  }
}

/** @throws PatchbayError `usage` `ledgerTooNew`. */
export function requireKnown(state: SchemaState, { shown }: Address): SchemaState {
  if (state.version <= migrations.length) return state;
  throw new PatchbayError(
    'usage',
    'ledgerTooNew',
    `the ledger ${shown} has schema ${state.version}, and this Patchbay knows schemas up to ${migrations.length}`,
    { hint: 'Use the newer Patchbay that wrote it, or another schema (schema=NAME in DATABASE_URL).' },
  );
}
