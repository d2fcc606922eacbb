/** Where a proof may take a guard away: at a port, a limit or the reducer. The real thing has none of these replaced. */
import type { LeaseRequest } from '#src/ledger/contacts.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { Database } from '#src/ledger/sqlite/database.ts';
import type { UpsertLimits, UpsertParts, WriteHealth } from '#src/upsert/chunk.ts';
import type { Workspace } from '#src/workspace/port.ts';
import { defaultLimits } from '#test/upsert/support/default-limits.ts';
import type { Scenario } from './scenario.ts';

/** The rules of the ledger that guards consist of; the proofs switch them off one at a time. */
export interface LedgerRules {
  /** Changes what a lease is decided by. */
  readonly beforeLease: ((db: Database, request: LeaseRequest) => void) | null;
  /** Changes what a new boot of the system finds. */
  readonly afterBoot: ((db: Database) => void) | null;
  /** Whether a power cut leaves the intents in place. */
  readonly intentIsDurable: boolean;
  /** Whether an owner that lost its lease may still settle. */
  readonly settleIsFenced: boolean;
}

export const realRules: LedgerRules = {
  ...{ beforeLease: null, afterBoot: null },
  ...{ intentIsDurable: true, settleIsFenced: true },
};

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

export const realLimits: UpsertLimits = defaultLimits;

/** The last check before a request and its first byte lie at most so far apart (`src/upsert/chunk.ts`). */
export const socketWriteMs = 1_000;

/** What holds in a scenario. */
export function limitsOf({ onGone }: Pick<Scenario, 'onGone'>): UpsertLimits {
  return { ...realLimits, onGoneOf: () => onGone ?? 'skip' };
}
