/**
 * What a feed's files said of keys, read by a connection of its own: another thread asks while the ledger's own connection is at work.
 *
 * It sees what was committed, as every read outside a transaction does. It changes nothing and marks no damage: where it fails, the
 * caller asks the ledger instead, which tells what is wrong.
 */
import { DatabaseSync } from 'node:sqlite';
import type { SaidRecord } from '#src/ledger/contacts.ts';
import { saidRecords } from '#src/ledger/over/known-keys.ts';
import { toSaid } from '#src/ledger/records/key.ts';
import { preparedRows } from './database.ts';
import { saidSql } from './key-tables.ts';

export interface SaidReads {
  /** As `StagingLedger.saidOf`. @throws the errors of SQLite as they are. */
  saidOf(feed: string, keys: readonly string[]): ReadonlyMap<string, SaidRecord>;
}

/** The rows lie apart from each other: few of their pages are met again. */
const cacheKib = 1_000;

/** @param file `StagingLedger.saidFile`. Closed with its thread. @throws the errors of SQLite as they are. */
export function openSaidReads(file: string): SaidReads {
  const db = new DatabaseSync(file, { readOnly: true });
  db.exec(`PRAGMA cache_size = -${cacheKib}`);
  const { statement, rowOf } = preparedRows(db.prepare(saidSql));
  return {
    saidOf: (feed, keys) =>
      saidRecords(
        feed,
        statement.all(JSON.stringify(keys), feed).map((values) => toSaid(rowOf(values))),
      ),
  };
}
