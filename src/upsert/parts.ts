/** What the upsert works with, and its limits. All times in milliseconds (`rules.md`, "One contact per key"). */
import type { Clock } from '#src/clock.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { ProcessIdentity } from '#src/ledger/process-identity.ts';
import type { Logger } from '#src/log.ts';
import type { Workspace } from '#src/workspace/port.ts';
import type { ApplyingLimits } from './applying-guards.ts';
import type { stepKey } from './key-machine.ts';
import type { Pace } from './pace.ts';
import type { WriteHealth } from './write-health.ts';

export interface UpsertLimits {
  /** How long one piece of work may hold a key. */
  readonly leaseMs: number;
  /** A lease must last at least so long when a request is sent: the whole request must fit. */
  readonly requestMs: number;
  /** A create is sent at most so long after its intent was committed. */
  readonly startGuardMs: number;
  /** D: a create that was sent lands at most so much later. */
  readonly latestCommitMs: number;
  /** V: what landed is visible in lists at most so much later. */
  readonly visibilityLagMs: number;
  /** A PATCH is sent at most so long after the read it was planned from. */
  readonly readAgeMaxMs: number;
  /** Doubts, while other writes succeed, before the row is dead. */
  readonly attemptsMax: number;
  /** Writes on their way at once, per batch. */
  readonly writesAtOnce: number;
  /** What the rate gate lets through; null: no limit. */
  readonly requestsPerSecond: number | null;
  readonly itemRemoval: 'owned' | 'none';
  /** Whether the file of that feed wins over values that it never agreed on, whatever the run was asked. */
  readonly adoptOf: (feed: string) => boolean;
  /** Whether the feed is configured or has a folder: one that is neither owns nothing. */
  readonly ownsItems: (feed: string) => boolean;
  /** Of each feed. */
  readonly applyingOf: (feed: string) => ApplyingLimits;
}

/** The last check before a request and its first byte on the socket lie at most so far apart (`workspace/limits.ts`). */
const socketWriteMs = 1_000;

/** From the moment an intent is committed until a look-up can prove that the create did not land. */
export function horizonMs(limits: UpsertLimits): number {
  return limits.startGuardMs + socketWriteMs + limits.latestCommitMs + limits.visibilityLagMs;
}

/** The same for an update: it leaves while its read is fresh, or not at all. */
export function updateHorizonMs(limits: UpsertLimits): number {
  return limits.readAgeMaxMs + socketWriteMs + limits.latestCommitMs + limits.visibilityLagMs;
}

/** As many keys as can be looked up and written while their reads are fresh; never more than one look-up takes. */
export function keysPerChunk(limits: UpsertLimits): number {
  if (limits.requestsPerSecond === null) return 20;
  const fresh = Math.floor((limits.requestsPerSecond * limits.readAgeMaxMs * 0.75) / 1_000);
  return Math.min(20, Math.max(1, fresh));
}

/** As many creates as certainly start within the start guard. */
export function createsPerIntent(limits: UpsertLimits): number {
  if (limits.requestsPerSecond === null) return 20;
  return Math.min(20, Math.max(1, Math.floor((limits.requestsPerSecond * limits.startGuardMs * 0.5) / 1_000)));
}

export interface UpsertParts {
  readonly ledger: Ledger;
  readonly workspace: Workspace;
  readonly clock: Clock;
  readonly log: Logger;
  readonly identity: ProcessIdentity;
  readonly limits: UpsertLimits;
  readonly writeHealth: WriteHealth;
  /** Shared by all batches of a process; without it a batch takes as many keys as `keysPerChunk` says. */
  readonly pace?: Pace;
  /** The key machine; another one only where a test proves that each of its guards is needed. */
  readonly step?: typeof stepKey;
}
