/** Every contract of the ledger on a PostgreSQL of this machine. */
import { ledgerContract } from '#test/contracts/ledger-contract.ts';
import { describeOnPostgres } from '#test/support/with-postgres.ts';
import { openInSchema } from './support/postgres-ledgers.ts';

describeOnPostgres('on a PostgreSQL of this machine', (server) => {
  ledgerContract('the ledger in PostgreSQL', () => openInSchema(server()));
});
