/** Opens the ledger in PostgreSQL that its argument names, says its id, and ends. */
import { openPostgresLedger } from '#src/ledger/postgres/ledger.ts';

const ledger = await openPostgresLedger(process.argv[2] ?? '');
process.stdout.write(`${ledger.id}\n`);
await ledger.close();
