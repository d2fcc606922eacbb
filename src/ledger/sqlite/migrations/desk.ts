/** Migration 6, second design: schedules, snapshots, takes, deliveries and audits. */
import type { MigrationStep } from './step.ts';

export const deskSteps: readonly MigrationStep[] = [];
