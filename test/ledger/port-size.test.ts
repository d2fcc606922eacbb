/** What a database has to provide for the ledger stays small: it is written anew for each database. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createConnection } from '#src/ledger/sqlite/connection.ts';
import { openDatabase } from '#src/ledger/sqlite/database.ts';
import { sqliteStore } from '#src/ledger/sqlite/ledger.ts';
import { tempFolder } from './support/temp-ledger.ts';

const methodsMax = 60;

test(`the tables of a ledger have at most ${methodsMax} methods, in four groups`, () => {
  const db = openDatabase(join(tempFolder(), 'ledger.sqlite'));
  try {
    const groups = Object.values(sqliteStore(createConnection(db)).reads);
    expect(groups).toHaveLength(4);
    expect(groups.flatMap((group) => Object.keys(group)).length).toBeLessThanOrEqual(methodsMax);
  } finally {
    db.close();
  }
});
