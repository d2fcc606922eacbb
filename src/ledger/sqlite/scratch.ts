/** The scratch store of a draft: a SQLite file of its own, whatever database the ledger is in (`over/draft.ts`). */
import type { Scratch } from '#src/ledger/over/draft.ts';
import { createConnection } from './connection.ts';
import { openDatabase } from './database.ts';
import { sqliteStore } from './store.ts';

/**
 * Opens a new file; the caller closes it, and removes it.
 * @param afterSequence that of the ledger's newest run.
 * @throws PatchbayError as `openSqliteLedger`.
 */
export function openScratch(file: string, afterSequence: number): Scratch & { close(): void } {
  const db = openDatabase(file);
  db.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('runs', ?)", afterSequence);
  return { ...sqliteStore(createConnection(db)), afterSequence, close: () => db.close() };
}
