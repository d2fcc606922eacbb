/**
 * One batch of a run: leases, looks up, plans, writes and records its pending rows, chunk by chunk.
 *
 * Invariant: whatever ends this piece of work, each of its records has an outcome in the ledger or is pending there, and
 * no lease of it is left behind but by the death of the process.
 */
import { randomUUID } from 'node:crypto';
import pMap from 'p-map';
import { PatchbayError, unreachable } from '#src/errors.ts';
import type { RequestTotals } from '#src/ledger/runs.ts';
import type { StagedRecord } from '#src/ledger/staging.ts';
import { inLogContext } from '#src/log.ts';
import { createPace } from '#src/rate/rate-share.ts';
import { inStep } from '#src/steps.ts';
import type { CallOptions } from '#src/workspace/port.ts';
import { type LookUpCount, watchAdoptions, watchRefusals } from './applying-guards.ts';
import { type Chunk, closeChunk, createsPerIntent, keysPerChunk, type UpsertParts } from './chunk.ts';
import { endKey } from './key-ends.ts';
import { type Effect, type KeyEvent, stepKey } from './key-machine.ts';
import { fetchContact, lookUpAlone, readTogether } from './key-reads.ts';
import { beginKey, isAsking, type KeyWork, takeLeases } from './key-work.ts';
import { AnswerLost, claimPatches, commitIntents, createContact, patchContact } from './key-writes.ts';

export interface BatchReference {
  readonly runId: string;
  readonly batch: number;
  readonly generation: number;
}

interface BatchOptions {
  /** Works on so many records at most: one is enough to see whether writes get through again. */
  readonly recordsMax?: number;
}

/** `stale`: the job is not about the ledger's batch any more; there was nothing to do. */
export type BatchEnd = 'done' | 'deferred' | 'stale';

/**
 * @throws PatchbayError `guard`: the run is to be stopped (`applying-guards.ts`).
 * @throws PatchbayError `auth` or `unreachable`: all work must wait; the batch stays as it is, ready to be taken again.
 * @throws AbortError when the signal fired while a request waited; nothing is lost.
 */
export async function processBatch(
  parts: UpsertParts,
  reference: BatchReference,
  signal: AbortSignal,
  { recordsMax = Number.POSITIVE_INFINITY }: BatchOptions = {},
): Promise<BatchEnd> {
  const { ledger, clock } = parts;
  const { runId, batch, generation } = reference;
  const run = await ledger.runs.get(runId);
  const known = await ledger.staging.batch(runId, batch);
  if (run?.state !== 'applying' || known?.generation !== generation) return 'stale';
  const pace = parts.pace ?? createPace(keysPerChunk(parts.limits));
  const owner = `${parts.identity.name}#${randomUUID().slice(0, 8)}`;
  const requests = new Map<keyof RequestTotals, number>();
  const options: CallOptions = {
    signal,
    onRequest: (kind) => {
      requests.set(kind, (requests.get(kind) ?? 0) + 1);
    },
  };
  const work = { parts, run, owner, signal, options };
  const noteRequests = async (): Promise<void> => {
    if (requests.size === 0) return;
    const totals = Object.fromEntries(requests);
    requests.clear();
    await ledger.runs.record(runId, { requests: totals });
  };
  let recordsLeft = recordsMax;
  try {
    // Ends: a record that is put off is due after this moment, so that each is taken once at most.
    const startedAtMs = await ledger.nowMs(clock);
    while (recordsLeft > 0 && !signal.aborted) {
      const limit = Math.min(recordsLeft, pace.keysPerChunk());
      const records = await ledger.staging.pendingRecords(runId, batch, startedAtMs, limit);
      if (records.length === 0) break;
      recordsLeft -= records.length;
      pace.ended(await processChunk(work, records));
      await noteRequests();
      const now = await ledger.runs.get(runId);
      if (now?.state !== 'applying') break;
      await watchRefusals(parts, now);
    }
  } finally {
    await noteRequests();
  }
  const done = await inStep('releaseBatch', () => ledger.staging.releaseBatch(runId, batch, generation, 0));
  return done ? 'done' : 'deferred';
}

/** @returns how many of the chunk's writes came too late for their turn. */
async function processChunk(
  work: Pick<Chunk, 'parts' | 'run' | 'owner' | 'signal' | 'options'>,
  records: readonly StagedRecord[],
): Promise<number> {
  const chunk: Chunk = { ...work, ends: [], deferrals: [], lateCount: 0, broken: false };
  try {
    await driveKeys(chunk, records);
  } finally {
    await closeChunk(chunk, records);
  }
  return chunk.lateCount;
}

// The driver of the key machine: carries out what it asks for, and tells it the answers.
//
// Keys go together where one request or one commit serves many (lease, look-up, claim, intent), and alone where each has
// its own (fetch, PATCH, POST). It decides nothing.
//
// Invariant: whatever fails, every request on its way is waited for: its answer must not be lost.

/**
 * Takes each record as far as it goes now. Those that are neither ended nor put off afterwards stay as they are.
 * @throws PatchbayError `guard`; `auth`, `unreachable` as reads do; what the ledger throws.
 */
async function driveKeys(chunk: Chunk, records: readonly StagedRecord[]): Promise<void> {
  const keys = records.map(beginKey);
  await tellAll(chunk, await takeLeases(chunk, keys));
  const leased = keys.filter(isAsking('lookUp'));
  if (leased.length > 0) {
    await tellAll(chunk, await readTogether(chunk, leased));
    await watchAdoptions(chunk.parts, chunk.run, { all: countOf(leased), unended: countOf(leased.filter(asksOn)) });
  }
  await claimPatches(chunk, keys.filter(isAsking('patch')));
  await driveAlone(
    chunk,
    keys.filter((key) => key.question === 'patch' || key.question === 'fetch'),
  );
  await driveCreates(chunk, keys.filter(isAsking('intend')));
}

/** Ends because each turn takes keys off the list, and none is put back. */
async function driveCreates(chunk: Chunk, keys: readonly KeyWork[]): Promise<void> {
  const perIntent = createsPerIntent(chunk.parts.limits);
  for (let start = 0; start < keys.length && !isStopped(chunk); start += perIntent) {
    const together = keys.slice(start, start + perIntent);
    await tellAll(chunk, await commitIntents(chunk, together));
    await driveAlone(chunk, together);
  }
}

/** Each key by itself until it is at rest. @throws the first failure, after all have ended. */
async function driveAlone(chunk: Chunk, keys: readonly KeyWork[]): Promise<void> {
  const failures: unknown[] = [];
  const drive = async (key: KeyWork): Promise<void> => {
    try {
      await inLogContext({ line: key.record.line }, () => driveOne(chunk, key));
    } catch (error) {
      chunk.broken = true;
      failures.push(error);
    }
  };
  await pMap(keys, drive, { concurrency: chunk.parts.limits.writesAtOnce });
  if (failures.length > 0) throw failures[0];
}

/** Ends: the machine counts what it may ask for again, and comes to rest. */
async function driveOne(chunk: Chunk, key: KeyWork): Promise<void> {
  while (key.question !== null) {
    if (isStopped(chunk)) return await tell(chunk, key, { kind: 'stopped' });
    let event: KeyEvent;
    try {
      event = await ask(chunk, key);
    } catch (error) {
      if (error instanceof AnswerLost) throw error.cause;
      await tell(chunk, key, { kind: 'stopped' });
      throw error;
    }
    await tell(chunk, key, event);
  }
}

const isStopped = (chunk: Chunk): boolean => chunk.broken || chunk.signal.aborted;

async function ask(chunk: Chunk, key: KeyWork): Promise<KeyEvent> {
  switch (key.question) {
    case 'lookUp':
      return await lookUpAlone(chunk, key);
    case 'fetch':
      return await fetchContact(chunk, key);
    case 'create':
      return await createContact(chunk, key);
    case 'patch':
      return await patchContact(chunk, key);
    default:
      throw new PatchbayError('bug', 'invariant', `${key.question} is asked for many keys together`);
  }
}

async function tellAll(chunk: Chunk, events: ReadonlyMap<KeyWork, KeyEvent>): Promise<void> {
  for (const [key, event] of events) await tell(chunk, key, event);
}

/** Tells the machine an answer, and carries out what needs none. */
async function tell(chunk: Chunk, key: KeyWork, event: KeyEvent): Promise<void> {
  const { state, effects } = (chunk.parts.step ?? stepKey)(key.state, event);
  key.state = state;
  key.question = null;
  for (const effect of effects) await carryOut(chunk, key, effect);
}

async function carryOut(chunk: Chunk, key: KeyWork, effect: Effect): Promise<void> {
  const { ledger, clock } = chunk.parts;
  const { record } = key;
  switch (effect.do) {
    case 'withdraw': {
      const { owned } = key.contact;
      await inStep('withdraw', () => ledger.contacts.withdrawIntents(chunk.owner, [{ key: record.key, owned }]));
      return;
    }
    case 'unclaim': {
      // What was never claimed has nothing to take back: all work stopped before.
      if (!key.claimed) return;
      const { owned, state, claim } = key.contact;
      // A create in doubt that is not bound yet keeps its claim: its contact is known by it.
      const before = { key: record.key, owned, claim: state === 'intent' ? claim : null };
      await inStep('withdraw', () => ledger.contacts.unclaimItems(chunk.owner, [before]));
      key.claimed = false;
      return;
    }
    case 'noteDoubt': {
      const doubt = { key: record.key, runId: chunk.run.id, atMs: clock.nowMs(), why: key.doubtWhy, burn: effect.burn };
      await ledger.contacts.noteDoubt(chunk.owner, doubt);
      return;
    }
    case 'park':
      chunk.deferrals.push({ position: record.position, waitMs: waitMs(chunk, key, effect), burnAttempt: effect.burn });
      return;
    case 'end':
      endKey(chunk, key, effect.as);
      return;
    case 'lease':
    case 'lookUp':
    case 'fetch':
    case 'intend':
    case 'create':
    case 'patch':
      key.question = effect.do;
      return;
    default:
      unreachable(effect);
  }
}

const momentMs = 1_000;

function waitMs({ parts }: Chunk, key: KeyWork, { wait }: Extract<Effect, { do: 'park' }>): number {
  switch (wait) {
    case 'none':
      return 0;
    case 'moment':
      return momentMs;
    case 'lag': {
      const sinceMs = key.contact.writtenAtMs ?? parts.clock.monotonicMs();
      const leftMs = sinceMs + parts.limits.visibilityLagMs - parts.clock.monotonicMs();
      return Math.max(momentMs, key.state.mayLag ? leftMs : parts.limits.visibilityLagMs);
    }
    case 'horizon':
      return key.horizonAtMs - parts.clock.monotonicMs();
    default:
      return wait.ms;
  }
}

function countOf(keys: readonly KeyWork[]): LookUpCount {
  return { lookedUp: keys.length, foundUnknown: keys.filter(isUnknown).length };
}

const asksOn = ({ question }: KeyWork): boolean => question !== null;

/** Bound to nothing here, and no create of ours: a contact that somebody else made. One that is fetched was found. */
function isUnknown({ contact, planned, fetchId }: KeyWork): boolean {
  const isFound = fetchId !== null || (planned?.input.theirs ?? null) !== null;
  return contact.contactId === null && contact.state !== 'intent' && isFound;
}
