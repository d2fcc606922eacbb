/** The limits of the upsert as they are for a real service (`src/config/schema.ts`, `src/engine/job-context.ts`). */
import type { UpsertLimits } from '#src/upsert/chunk.ts';

export const defaultLimits: UpsertLimits = {
  leaseMs: 45_000,
  requestMs: 15_000,
  startGuardMs: 1_000,
  latestCommitMs: 30_000,
  visibilityLagMs: 10_000,
  readAgeMaxMs: 2_000,
  attemptsMax: 3,
  writesAtOnce: 8,
  // Tests wait for nothing.
  requestsPerSecond: null,
  itemRemoval: 'owned',
  adoptOf: () => false,
  onGoneOf: () => 'skip',
  ownsItems: () => true,
  applyingOf: () => ({ adoptionsMax: 0.3, adoptionsFloor: 10, refusalsMax: 20 }),
};
