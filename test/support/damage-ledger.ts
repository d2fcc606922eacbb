/** Damages a ledger's file while others have it open, as a failing disk does: bytes change beneath SQLite. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const pageBytes = 4_096;

/** Overwrites the pages at the roots of these tables. What others have in memory of the file is void from now on. */
export function damageTables(file: string, tables: readonly string[]): void {
  overwrite(file, (db) =>
    tables.map((table) => {
      const row = db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table);
      return { offset: (Number(row?.rootpage) - 1) * pageBytes, bytes: pageBytes };
    }),
  );
}

/** Overwrites what tells SQLite that the file is a database. */
export function damageHeader(file: string): void {
  overwrite(file, () => [{ offset: 0, bytes: 100 }]);
}

function overwrite(
  file: string,
  places: (db: DatabaseSync) => readonly { readonly offset: number; readonly bytes: number }[],
): void {
  const db = new DatabaseSync(file, { timeout: 10_000 });
  try {
    const found = places(db);
    // All that was committed goes into the file, and a commit makes every other connection read it anew.
    db.exec("INSERT OR REPLACE INTO meta (name, value) VALUES ('touched by a test', '1')");
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const handle = openSync(file, 'r+');
    for (const { offset, bytes } of found) writeSync(handle, Buffer.alloc(bytes, 0xa5), 0, bytes, offset);
    closeSync(handle);
  } finally {
    db.close();
  }
}
