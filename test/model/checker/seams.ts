/** Where a proof may take a guard away: at a port, a limit or the reducer. The real thing has none of these replaced. */
import type { Ledger } from '#src/ledger/port.ts';
import type { UpsertLimits, UpsertParts } from '#src/upsert/parts.ts';
import type { WriteHealth } from '#src/upsert/write-health.ts';
import type { Workspace } from '#src/workspace/port.ts';
import { type LedgerRules, realRules } from './contact-store.ts';

export interface Seams {
  readonly rules: LedgerRules;
  readonly limits: Partial<UpsertLimits>;
  readonly step: UpsertParts['step'];
  /** Wraps the ports of one worker. */
  readonly ports: (ports: { readonly ledger: Ledger; readonly workspace: Workspace }) => {
    readonly ledger: Ledger;
    readonly workspace: Workspace;
  };
  readonly health: (health: WriteHealth) => WriteHealth;
}

export const noSeams: Seams = {
  rules: realRules,
  limits: {},
  step: undefined,
  ports: (ports) => ports,
  health: (health) => health,
};

/** As in `src/config/service-figures.ts` for a real service, and `src/engine/job-context.ts`. */
export const realLimits: UpsertLimits = {
  leaseMs: 45_000,
  requestMs: 15_000,
  startGuardMs: 1_000,
  latestCommitMs: 30_000,
  visibilityLagMs: 10_000,
  readAgeMaxMs: 2_000,
  attemptsMax: 3,
  writesAtOnce: 8,
  requestsPerSecond: null,
  itemRemoval: 'owned',
  applying: { adoptionsMax: 0.3, adoptionsFloor: 10, refusalsMax: 20 },
};

/** The last check before a request and its first byte lie at most so far apart (`src/upsert/parts.ts`). */
export const socketWriteMs = 1_000;
