/**
 * A chunk: the few records that are looked up with one call and written while that read is fresh.
 *
 * It collects what became of each record. A record that is neither ended nor put off when the chunk closes keeps no
 * trace: its lease is given back and it is tried again.
 */

import type { Clock } from '#src/clock.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { ProcessIdentity } from '#src/ledger/process-identity.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { SettledRecord, StagedRecord } from '#src/ledger/staging.ts';
import { keyHash, type Logger } from '#src/log.ts';
import { inStep } from '#src/steps.ts';
import type { CallOptions, Workspace } from '#src/workspace/port.ts';
import type { ApplyingLimits } from './applying-guards.ts';
import type { stepKey } from './key-machine.ts';

interface Deferral {
  readonly position: number;
  readonly waitMs: number;
  readonly burnAttempt: boolean;
}

export interface Chunk {
  readonly parts: UpsertParts;
  readonly run: RunRecord;
  /** Names this piece of work in leases. */
  readonly owner: string;
  readonly signal: AbortSignal;
  /** Signal and accounts, for each request. */
  readonly options: CallOptions;
  readonly ends: SettledRecord[];
  readonly deferrals: Deferral[];
  /** Keys of the chunk whose look-up was refreshed or whose write came too late: the line before the gate is long. */
  lateCount: number;
  /** A request of the chunk failed in a way that stops all work: nothing more is sent. */
  broken: boolean;
}

/** Records what the chunk achieved, also when it was cut off by an error, and gives every lease back. */
export async function closeChunk(chunk: Chunk, records: readonly StagedRecord[]): Promise<void> {
  const { run, owner, ends, deferrals } = chunk;
  const { ledger, clock } = chunk.parts;
  const atMs = clock.nowMs();
  try {
    if (ends.length > 0) {
      await inStep('settle', () =>
        ledger.staging.settle({ runId: run.id, feed: run.feed, owner, bootId: clock.bootId, records: ends, atMs }),
      );
      logDead(chunk);
    }
    if (deferrals.length > 0) {
      const nowMs = await ledger.nowMs(clock);
      const due = deferrals.map(({ position, waitMs, burnAttempt }) => ({
        position,
        burnAttempt,
        notBeforeMs: nowMs + Math.max(waitMs, 1),
      }));
      await inStep('defer', () => ledger.staging.defer(run.id, due));
    }
  } finally {
    // Also those that ended: an end that came too late, for a run that was cancelled meanwhile, gives no lease back.
    const keys = records.map((record) => record.key);
    await inStep('release', () => ledger.contacts.release(owner, keys));
  }
}

function logDead({ parts, run, ends }: Chunk): void {
  for (const { end } of ends) {
    if (end.outcome !== 'dead') continue;
    const { line, key, class: of, code } = end.dead;
    const hash = key === null ? {} : { key: keyHash(key) };
    parts.log.warn({ run: run.id, feed: run.feed, line, ...hash, class: of, code }, 'row is dead');
  }
}

/** Two batches with this many each fill the connections of the client (`workspace/limits.ts`). */
export const writesAtOnceMax = 8;

/** What the upsert works with, and its limits. All times in milliseconds (`rules.md`, "One contact per key"). */
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
  /** Writes in progress at once, per batch: `writesAtOnceMax`, fewer only in a test. */
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

/**
 * Whether writes get through at all. An attempt counts against a row only while other writes succeed: an outage burns
 * none (`rules.md`, "One contact per key", step 5).
 */
export interface WriteHealth {
  succeeded(): void;
  /** Whether any write of this process succeeded since that monotonic moment. */
  succeededSince(monotonicMs: number): boolean;
}

export function createWriteHealth(clock: Clock): WriteHealth {
  let lastSuccessMs = Number.NEGATIVE_INFINITY;
  return {
    succeeded: () => {
      lastSuccessMs = clock.monotonicMs();
    },
    succeededSince: (monotonicMs) => lastSuccessMs >= monotonicMs,
  };
}

/**
 * How many keys one piece of work takes at a time under a limited rate.
 *
 * Leases are taken only as fast as the rate can serve them (`rules.md`, "One contact per key", step 1), and a read must
 * still be fresh when its write has passed the line before the gate. How long that line is depends on the other workers
 * that share the rate, which nobody here knows. So the pace feels its way: half as many after a chunk whose writes came
 * too late, one more after each that came in time.
 */
interface Pace {
  /** How many keys the next chunk takes; at least one. */
  keysPerChunk(): number;
  /** How a chunk fared: so many of its writes came too late. */
  ended(lateCount: number): void;
}

export function createPace(keysMax: number): Pace {
  let keys = keysMax;
  return {
    keysPerChunk: () => keys,
    ended: (lateCount) => {
      keys = lateCount > 0 ? Math.max(1, Math.floor(keys / 2)) : Math.min(keysMax, keys + 1);
    },
  };
}
