/** The tables of the ledger in SQLite, and transactions over them. */
import type { Store, Tables } from '#src/ledger/tables.ts';
import type { Connection, Statements } from './connection.ts';
import { deskTables } from './desk-tables.ts';
import { sqliteKeyTables } from './key-tables.ts';
import { letterTables } from './letter-tables.ts';
import { sqliteRunTables } from './run-tables.ts';

export function sqliteStore(connection: Connection): Store {
  return {
    reads: tablesOf(connection.reads),
    transact: (work, durability) => connection.transact((statements) => work(tablesOf(statements)), durability),
  };
}

/** One set of tables for each set of statements. */
const made = new WeakMap<Statements, Tables>();

function tablesOf(statements: Statements): Tables {
  let tables = made.get(statements);
  if (tables === undefined) {
    tables = {
      runs: sqliteRunTables(statements),
      keys: sqliteKeyTables(statements),
      letters: letterTables(statements),
      desk: deskTables(statements),
    };
    made.set(statements, tables);
  }
  return tables;
}
