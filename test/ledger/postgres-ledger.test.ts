/** Every contract of the ledger on a PostgreSQL of this machine. */
import { afterAll, beforeAll, describe } from 'vitest';
import { ledgerContract } from '#test/contracts/ledger-contract.ts';
import { findPostgres, type PostgresServer, startPostgres } from '#test/support/postgres-server.ts';
import { openInSchema } from './support/postgres-ledgers.ts';

const programs = findPostgres();
const reason = programs === null ? ' (skipped: no PostgreSQL is installed)' : '';

describe.skipIf(programs === null)(`on a PostgreSQL of this machine${reason}`, () => {
  let server: PostgresServer | null = null;
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
  });
  afterAll(async () => {
    await server?.close();
  });

  ledgerContract('the ledger in PostgreSQL', () => {
    if (server === null) throw new Error('the server was started');
    return openInSchema(server);
  });
});
