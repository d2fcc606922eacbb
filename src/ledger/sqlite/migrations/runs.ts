/** Migration 6, second design: runs, staged rows, batches and events. */
import type { MigrationStep } from './step.ts';

export const runsSteps: readonly MigrationStep[] = [];
