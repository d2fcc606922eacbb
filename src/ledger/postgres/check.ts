/**
 * Whether a ledger in PostgreSQL is sound, as far as Patchbay can tell: its schema, its indexes, and what must hold between its tables.
 * The server's own pages are checked by `pg_amcheck`. Reads alone, beside an engine at work too: one transaction sees one instant.
 */
import type pg from 'pg';
import { PatchbayError } from '#src/errors.ts';
import {
  boundTwice,
  foundWords,
  type LedgerCheck,
  type LedgerFinding,
  type Rule,
  rulesOn,
  secondRows,
} from '#src/ledger/soundness.ts';
import { type Address, parseAddress } from './address.ts';
import { migrations, readSchema } from './migrations/migrations.ts';
import { onceConnected } from './once-connected.ts';

const examplesMax = 3;

const countsOfLetters = 'state, code, class, field, run_id, feed';

/** What triggers keep, and what PostgreSQL itself holds to be broken. */
const rulesHere: readonly Rule[] = [
  {
    check: 'letters',
    sql: `SELECT run_id FROM (SELECT state, code, class, coalesce(field, '') AS field, run_id, feed, count(*) AS letters FROM letters
            GROUP BY 1, 2, 3, 4, 5, 6) AS counted FULL JOIN letter_counts USING (${countsOfLetters}, letters)
          WHERE counted.letters IS NULL OR letter_counts.letters IS NULL`,
    words: [
      'count of dead letters that is not the number of those letters',
      'counts of dead letters that are not the number of those letters',
    ],
    shows: true,
  },
  {
    check: 'indexes',
    sql: `SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
          WHERE relnamespace = current_schema()::regnamespace AND NOT indisvalid`,
    words: [
      'index that PostgreSQL does not use, since it is not whole',
      'indexes that PostgreSQL does not use, since they are not whole',
    ],
    shows: true,
  },
];

const documents: readonly (readonly [table: string, column: string])[] = [
  ...[['runs', 'options'] as const, ['runs', 'approvals'] as const, ['staged_content', 'desired'] as const],
  ...[['staged_content', 'content'] as const, ['flights', 'claim'] as const, ['flights', 'owned'] as const],
  ...[
    ['held', 'ours'] as const,
    ['held', 'theirs'] as const,
    ['letters', 'row'] as const,
    ['letters', 'desired'] as const,
  ],
  ...[['letter_headers', 'columns'] as const, ['dead_rows', 'dead'] as const, ['records', 'document'] as const],
];
/** The first version that can say whether a text is JSON. */
const jsonVersion = 160_000;

/** @throws PatchbayError `usage`: `ledgerMissing`, `ledgerTooNew`; what opening throws. */
export async function checkPostgresLedger(databaseUrl: string, suffix = ''): Promise<LedgerCheck> {
  const address = parseAddress(databaseUrl, suffix);
  return await onceConnected(address, async (client) => {
    const schema = await requireSchema(client, address);
    // A check reads whole tables: the planner may, and takes its time.
    await client.query(
      `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; SET LOCAL enable_seqscan = on;
       SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on`,
    );
    const findings: LedgerFinding[] = [];
    for (const rule of [...rulesOn(secondRows), ...rulesHere]) findings.push(...(await apply(client, rule)));
    findings.push(...(await brokenDocuments(client)));
    const notes = await apply(client, boundTwice);
    const bytes = await bytesOfSchema(client);
    await client.query('COMMIT');
    const state = findings.length === 0 ? 'sound' : 'inconsistent';
    return { file: address.shown, bytes, schema, state, findings, notes };
  });
}

/** How much disk its tables and indexes take. @throws PatchbayError as `checkPostgresLedger`. */
export async function postgresBytes(databaseUrl: string, suffix = ''): Promise<number> {
  const address = parseAddress(databaseUrl, suffix);
  return await onceConnected(address, async (client) => {
    await requireSchema(client, address);
    return await bytesOfSchema(client);
  });
}

/** The command that backs it up, without the password, which `pg_dump` asks for or takes from PGPASSWORD. */
export function dumpCommand(databaseUrl: string, suffix: string, target: string): string {
  const { schema, shown, connection } = parseAddress(databaseUrl, suffix);
  const mode = new URL(databaseUrl).searchParams.get('sslmode');
  const url = `${shown.replace(/\?.*$/, '')}${mode === null || connection.host.startsWith('/') ? '' : `?sslmode=${mode}`}`;
  return `pg_dump --format=custom --schema=${schema} --file='${target.replaceAll("'", "'\\''")}' '${url}'`;
}

async function requireSchema(client: pg.ClientBase, { schema, shown }: Address): Promise<number> {
  const state = await readSchema(client, schema);
  if (state === null) {
    throw new PatchbayError('usage', 'ledgerMissing', `there is no ledger at ${shown}`);
  }
  if (state.version <= migrations.length) return state.version;
  const message = `the ledger ${shown} has schema ${state.version}, and this Patchbay knows schemas up to ${migrations.length}`;
  throw new PatchbayError('usage', 'ledgerTooNew', message, { hint: 'Use the newer Patchbay that wrote it.' });
}

async function bytesOfSchema(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ bytes: number }>(
    `SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint AS bytes FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`,
  );
  return rows[0]?.bytes ?? 0;
}

async function apply(client: pg.ClientBase, { check, sql, words, shows }: Rule): Promise<readonly LedgerFinding[]> {
  const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array' });
  if (rows.length === 0) return [];
  const examples = rows.slice(0, examplesMax).map(([first]) => String(first));
  const shown = shows ? `: ${examples.join(', ')}${rows.length > examplesMax ? '…' : ''}` : '';
  return [{ check, message: `${foundWords(rows.length, words)}${shown}` }];
}

async function brokenDocuments(client: pg.ClientBase): Promise<readonly LedgerFinding[]> {
  const { rows } = await client.query<{ version: number }>(
    "SELECT current_setting('server_version_num')::int AS version",
  );
  if ((rows[0]?.version ?? 0) < jsonVersion) return [];
  const findings: LedgerFinding[] = [];
  for (const [table, column] of documents) {
    const broken = await client.query<{ broken: number }>(
      `SELECT count(*) AS broken FROM ${table} WHERE "${column}" IS NOT NULL AND "${column}" IS NOT JSON`,
    );
    const count = broken.rows[0]?.broken ?? 0;
    if (count > 0)
      findings.push({
        check: 'documents',
        message: foundWords(count, [`broken document in ${table}.${column}`, `broken documents in ${table}.${column}`]),
      });
  }
  return findings;
}
