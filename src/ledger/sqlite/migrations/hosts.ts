/** Migration 7: the host of a run. A ledger in a file has none; a ledger that comes from PostgreSQL may name some. */
import type { MigrationStep } from './step.ts';

export const hostSteps: readonly MigrationStep[] = ["ALTER TABLE runs ADD COLUMN host TEXT NOT NULL DEFAULT ''"];
