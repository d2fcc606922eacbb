/** A database with the tables of a workspace, and the statements that were prepared on it. */
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { migrations } from '#src/service/store/schema.ts';

export interface WatchedDatabase {
  readonly database: DatabaseSync;
  /** Grows with every statement that is prepared. */
  readonly prepared: string[];
  /** The steps of SQLite's plan for a statement. */
  readonly planOf: (sql: string) => string[];
}

export function watchedDatabase(): WatchedDatabase {
  const database = new DatabaseSync(':memory:');
  onTestFinished(() => database.close());
  for (const migration of migrations) database.exec(migration);
  const prepare = database.prepare.bind(database);
  const prepared: string[] = [];
  database.prepare = (sql: string) => {
    prepared.push(sql);
    return prepare(sql);
  };
  const planOf = (sql: string) =>
    prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map((row) => String(row.detail));
  return { database, prepared, planOf };
}
