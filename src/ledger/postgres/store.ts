/** The tables of the ledger in PostgreSQL, and transactions over them. */
import type { Store, Tables } from '#src/ledger/tables.ts';
import type { Connection } from './connection.ts';
import { postgresDeskTables } from './desk-tables.ts';
import { postgresKeyTables } from './key-tables.ts';
import { postgresLetterTables } from './letter-tables.ts';
import type { Statements } from './pool.ts';
import { postgresRunTables } from './run-tables.ts';

/** Every commit is durable here, whatever is asked for: processes outlive a crash of the server, and would miss what it lost. */
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
