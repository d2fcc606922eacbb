/** One step of a migration: SQL statements, each closed by a semicolon at the end of its line, or a function for what SQL cannot say. */
import type { SQLInputValue } from 'node:sqlite';

export type MigrationStep = string | ((db: MigratedDatabase) => void);

/** What a step may use; all steps of a migration run in one transaction. */
export interface MigratedDatabase {
  run(sql: string, ...parameters: readonly SQLInputValue[]): number;
  get(sql: string, ...parameters: readonly SQLInputValue[]): Readonly<Record<string, SQLInputValue>> | null;
  all(sql: string, ...parameters: readonly SQLInputValue[]): readonly Readonly<Record<string, SQLInputValue>>[];
}

/** Runs the steps of one migration. The caller holds the transaction. */
export function carryOut(db: MigratedDatabase, steps: readonly MigrationStep[]): void {
  for (const step of steps) {
    if (typeof step === 'function') step(db);
    else for (const statement of step.split(';\n')) if (statement.trim() !== '') db.run(statement);
  }
}
