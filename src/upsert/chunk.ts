/**
 * A chunk: the few records that are looked up with one call and written while that read is fresh; and what the upsert works
 * with, its limits and the times that follow from them (`docs/rules.md`, "One contact per key").
 *
 * A chunk collects how each record ended. One that is neither ended nor deferred when the chunk closes leaves no trace: its
 * lease is released, and it is tried again.
 */
import type { Clock } from '#src/clock.ts';
import type { ContactRecord, HeldRecord } from '#src/ledger/contacts.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { ProcessIdentity } from '#src/ledger/process-identity.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { SettledRecord, StagedRecord } from '#src/ledger/staging.ts';
import { keyHash, type Logger } from '#src/log.ts';
import { createPace, type Pace } from '#src/rate/rate-share.ts';
import { inStep } from '#src/steps.ts';
import { publishFact } from '#src/telemetry.ts';
import { type CallOptions, keysPerLookUpMax, type Workspace } from '#src/workspace/port.ts';
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
  /** The name of this piece of work in leases. */
  readonly owner: string;
  readonly signal: AbortSignal;
  /** The signal, and the counting of requests. */
  readonly options: CallOptions;
  /** What the plan that the run carries out says of the chunk's keys (`planDigest`); null where it carries out none. */
  readonly planned: ReadonlyMap<string, string> | null;
  /** Creates of one commit of intents: as many as certainly start within the start guard. */
  readonly createsPerIntent: number;
  readonly ends: SettledRecord[];
  readonly deferrals: Deferral[];
  /** Writes that were due after their deadline: the queue before the rate gate is long. */
  lateCount: number;
  /** A request of the chunk failed in a way that stops all work: no other is sent. */
  broken: boolean;
}

/**
 * Settled together while the others of the chunk are written: settling all at its end would hold the loop until the
 * service has nothing left to do.
 */
const endsPerSettling = 25;

/** Settles what has ended so far, if that is enough for a transaction. */
export async function settleSome(chunk: Chunk): Promise<void> {
  if (chunk.ends.length >= endsPerSettling) await settleEnds(chunk);
}

/** @throws what the ledger throws; the ends are then still to be settled. */
async function settleEnds(chunk: Chunk): Promise<void> {
  const { run, owner, parts } = chunk;
  // Others may end meanwhile.
  const records = chunk.ends.splice(0);
  if (records.length === 0) return;
  try {
    const atMs = parts.clock.nowMs();
    await inStep('settle', () => parts.ledger.runs.settle({ runId: run.id, feed: run.feed, owner, records, atMs }));
  } catch (error) {
    chunk.ends.push(...records);
    throw error;
  }
  logDead(chunk, records);
  const ended = Map.groupBy(records, ({ end }) => end.outcome);
  const outcomes = Object.fromEntries([...ended].map(([outcome, those]) => [outcome, those.length]));
  publishFact('rows', { feed: run.feed, outcomes });
}

/** Records what the chunk achieved, also if an error interrupted it, and releases every lease. */
export async function closeChunk(chunk: Chunk, records: readonly StagedRecord[]): Promise<void> {
  const { run, owner, deferrals } = chunk;
  const { ledger, clock } = chunk.parts;
  try {
    await settleEnds(chunk);
    if (deferrals.length > 0) {
      const nowMs = await ledger.nowMs(clock);
      const due = deferrals.map(({ position, waitMs, burnAttempt }) => ({
        position,
        burnAttempt,
        notBeforeMs: nowMs + Math.max(waitMs, 1),
      }));
      await inStep('defer', () => ledger.runs.defer(run.id, due));
    }
  } finally {
    // Those of ended records, too: settling a record of a run that was cancelled meanwhile releases no lease.
    const keys = records.map((record) => record.key);
    await inStep('release', () => ledger.contacts.release(owner, keys));
  }
}

function logDead({ parts, run }: Chunk, records: readonly SettledRecord[]): void {
  for (const { end } of records) {
    if (end.outcome !== 'dead') continue;
    const { line, key, class: of, code } = end.dead;
    const hash = key === null ? {} : { key: keyHash(key) };
    parts.log.warn({ run: run.id, feed: run.feed, line, ...hash, class: of, code }, 'row rejected');
  }
}

/**
 * The keys of one look-up are written in one round: where requests take long, a second one for a few of them would take as long as the
 * first. Two batches then fill the connections of the client (`workspace/port.ts`).
 */
export const writesAtOnceMax = 20;

export interface UpsertLimits {
  /** The time for which one piece of work holds a key. */
  readonly leaseMs: number;
  /** A lease must last at least this long when a request is sent: the whole request must fit. */
  readonly requestMs: number;
  /** The longest time from the commit of an intent to the sending of its create. */
  readonly startGuardMs: number;
  /** D: the longest time from the sending of a write to its commit by the service. */
  readonly latestCommitMs: number;
  /** V: the longest time from that commit until lists show it. */
  readonly visibilityLagMs: number;
  /** The longest time from a read to the sending of a PATCH that was planned from it. */
  readonly readAgeMaxMs: number;
  /** The number of attempts that rejects the row (`src/README.md`, *attempt*). */
  readonly attemptsMax: number;
  /** Writes in progress at once, per batch: `writesAtOnceMax`, fewer only in a test. */
  readonly writesAtOnce: number;
  /** The rate limit; null: none. */
  readonly requestsPerSecond: number | null;
  readonly itemRemoval: 'owned' | 'none';
  /** Whether the feed's file wins over values that it never agreed on, whatever the options of the run. */
  readonly adoptOf: (feed: string) => boolean;
  /** What becomes of a row whose contact was deleted: it is skipped, or the contact is made again. */
  readonly onGoneOf: (feed: string) => 'skip' | 'recreate';
  /** Whether the feed is configured or has a folder: any other feed owns nothing. */
  readonly ownsItems: (feed: string) => boolean;
  /** The limits of each feed. */
  readonly applyingOf: (feed: string) => ApplyingLimits;
}

/** Whether the contacts of a run's rows that were deleted are made again: as a person chose for this run, else as its feed says. */
export function makesGoneAgain(
  { onGoneOf }: Pick<UpsertLimits, 'onGoneOf'>,
  { feed, options }: Pick<RunRecord, 'feed' | 'options'>,
): boolean {
  return (options.onGone ?? onGoneOf(feed)) === 'recreate' && !options.updateOnly;
}

/** The longest time from the last check before a request to its first byte on the socket (`workspace/port.ts`). */
const socketWriteMs = 1_000;

/** From the moment an intent is committed until a look-up can prove that the create did not land. */
export function horizonMs(limits: UpsertLimits): number {
  return limits.startGuardMs + socketWriteMs + limits.latestCommitMs + limits.visibilityLagMs;
}

/** The same for an update: it is sent while its read is fresh, or not at all. */
export function updateHorizonMs(limits: UpsertLimits): number {
  return limits.readAgeMaxMs + socketWriteMs + limits.latestCommitMs + limits.visibilityLagMs;
}

/** The number of keys that can certainly be looked up and written while their reads are fresh; at most those of one look-up. */
export function keysPerChunk(limits: UpsertLimits): number {
  if (limits.requestsPerSecond === null) return keysPerLookUpMax;
  const fresh = Math.floor((limits.requestsPerSecond * limits.readAgeMaxMs * 0.75) / 1_000);
  return Math.min(keysPerLookUpMax, Math.max(1, fresh));
}

/** The number of creates that certainly start within the start guard. */
export function createsPerIntent(limits: UpsertLimits): number {
  if (limits.requestsPerSecond === null) return keysPerLookUpMax;
  return Math.min(
    keysPerLookUpMax,
    Math.max(1, Math.floor((limits.requestsPerSecond * limits.startGuardMs * 0.5) / 1_000)),
  );
}

/** Where the rate is high, one commit of intents serves this many keys, if chunks have been fast enough. */
const keysPerChunkMax = 100;

/**
 * The pace of the batches of a process. A chunk beyond `keysPerChunk` is one of which all creates start within the start guard: it
 * ends in half of that.
 */
export function paceOf(limits: UpsertLimits): Pace {
  const keysSure = keysPerChunk(limits);
  const isSlow = keysSure < keysPerLookUpMax || createsPerIntent(limits) < keysPerLookUpMax;
  const keysMax = isSlow ? keysSure : keysPerChunkMax;
  return createPace({ keysSure, keysMax, chunkMsMax: Math.min(limits.startGuardMs, limits.readAgeMaxMs) / 2 });
}

export interface UpsertParts {
  readonly ledger: Ledger;
  readonly workspace: Workspace;
  readonly clock: Clock;
  readonly log: Logger;
  readonly identity: ProcessIdentity;
  readonly limits: UpsertLimits;
  readonly writeHealth: WriteHealth;
  /** Shared by all batches of a process; by default each batch has one of its own. */
  readonly pace?: Pace;
  /** The key machine. Tests replace it, to prove that each of its guards is needed. */
  readonly step?: typeof stepKey;
}

/**
 * Whether writes succeed at all. An attempt counts against a row only while other writes succeed, so that an outage rejects
 * none (`docs/rules.md`, "One contact per key", step 5).
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
 * What the file of a run's feed said last of its held fields: a read may show that the app has come to hold it (`take-held.ts`). By key;
 * of most there is none.
 */
export type WaitingFields = ReadonlyMap<string, readonly HeldRecord[]>;

/** @param contacts those of one chunk. The ledger is asked only where fields of them are held for the feed. */
export async function waitingIn(
  { run, parts }: Pick<Chunk, 'run' | 'parts'>,
  contacts: readonly ContactRecord[],
): Promise<WaitingFields> {
  const { feed } = run;
  const isHeld = ({ saids }: ContactRecord): boolean =>
    saids.some((one) => one.feed === feed && one.said.held.length > 0);
  const keys = contacts.filter(isHeld).map(({ key }) => key);
  if (keys.length === 0) return new Map();
  // A contact has few fields.
  const held = await parts.ledger.contacts.held({ feed, keys, limit: Number.MAX_SAFE_INTEGER });
  return Map.groupBy(held, ({ key }) => key);
}
