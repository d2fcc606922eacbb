/** The keys of a workspace as rows: hashes in the order in which they were given, never a raw key. */
import type { DatabaseSync } from 'node:sqlite';
import { type KnownKeys, noKeys } from '../keys/known-keys.ts';

export interface ApiKeyTable {
  readonly all: () => KnownKeys;
  /** Forgets all others, in one transaction. */
  readonly replace: (known: KnownKeys) => void;
}

export function createApiKeyTable(database: DatabaseSync): ApiKeyTable {
  const select = database.prepare('SELECT hash, salt, printed FROM api_keys ORDER BY place');
  const insert = database.prepare('INSERT INTO api_keys (place, hash, salt, printed) VALUES (?, ?, ?, ?)');
  return {
    all: () => {
      const rows = select.all();
      const [first] = rows;
      if (first === undefined) return noKeys;
      return {
        salt: bytesOf(first.salt),
        keys: rows.map(({ hash, printed }) => ({ hash: bytesOf(hash), printed: printed === 1 })),
      };
    },
    replace: ({ salt, keys }) => {
      database.exec('BEGIN IMMEDIATE');
      try {
        database.exec('DELETE FROM api_keys');
        for (const [place, { hash, printed }] of keys.entries()) insert.run(place, hash, salt, printed ? 1 : 0);
        database.exec('COMMIT');
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    },
  };
}

/** The columns hold what `replace` wrote, and nothing else. */
function bytesOf(column: unknown): Uint8Array {
  return column as Uint8Array;
}
