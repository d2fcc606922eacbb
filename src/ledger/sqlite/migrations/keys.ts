/** Migration 6, second design: contacts, work in flight, what feeds know, the journal. */
import type { MigrationStep } from './step.ts';

export const keysSteps: readonly MigrationStep[] = [];
