/** What deleted rows leave behind in a SQLite file, and the search that shows that nothing is left. */
import { PatchbayError } from '#src/errors.ts';
import type { FoundInLedger, Scrubbed } from '#src/ledger/forgetting.ts';
import type { Connection, Statements } from './connection.ts';
import type { Database } from './database.ts';

/**
 * Writes the file anew without free pages, and then the log away: deleted rows are in neither. Another process that reads at that
 * moment keeps its part of the log until it is done; the next call, or the last process to close the ledger, ends it (`later`).
 */
export async function scrub(db: Database, connection: Connection): Promise<Scrubbed> {
  try {
    return await connection.atRest(() => {
      db.get('PRAGMA secure_delete = ON');
      db.run('VACUUM');
      const checkpoint = db.get('PRAGMA wal_checkpoint(TRUNCATE)');
      return Number(checkpoint?.busy ?? 1) === 0 ? 'overwritten' : 'later';
    });
  } catch (error) {
    if (error instanceof PatchbayError && error.kind === 'transient') return 'later';
    throw error;
  }
}

/** One statement a table: each row is looked at once. */
export async function searchTables(reads: Statements, texts: readonly string[]): Promise<readonly FoundInLedger[]> {
  if (texts.length === 0) return [];
  const tables = await reads.all("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
  const found: FoundInLedger[] = [];
  for (const table of tables.map(({ name }) => String(name))) {
    const columns = await reads.all('SELECT name FROM pragma_table_info(?)', table);
    const places = columns.map(({ name }) => `instr(CAST(looked."${String(name)}" AS TEXT), wanted.value) > 0`);
    const row = await reads.get(
      `SELECT count(*) AS found FROM "${table}" AS looked WHERE EXISTS (SELECT 1 FROM json_each(?) AS wanted WHERE ${places.join(' OR ')})`,
      JSON.stringify(texts),
    );
    const rows = Number(row?.found ?? 0);
    if (rows > 0) found.push({ table, rows });
  }
  return found;
}
