/** Migration 6, second design: dead letters and rejected rows. */
import type { MigrationStep } from './step.ts';

export const lettersSteps: readonly MigrationStep[] = [];
