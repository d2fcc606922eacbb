/**
 * One batch of a run: leases, looks up, plans, writes and records its pending rows, chunk by chunk.
 *
 * Invariant: however this piece of work ends, each of its records has an outcome in the ledger or is pending there; only
 * the death of the process leaves leases behind.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pMap from 'p-map';
import { sleepUnlessCut } from '#src/clock.ts';
import { PatchbayError, unreachable } from '#src/errors.ts';
import { planOf } from '#src/ledger/rules/runs.ts';
import type { RequestTotals } from '#src/ledger/runs.ts';
import type { StagedRecord } from '#src/ledger/staging.ts';
import { inLogContext } from '#src/log.ts';
import { inStep } from '#src/steps.ts';
import { inWork } from '#src/telemetry.ts';
import type { CallOptions } from '#src/workspace/port.ts';
import { type LookUpCount, watchAdoptions, watchRefusals } from './applying-guards.ts';
import {
  type Chunk,
  closeChunk,
  createsPerIntent,
  keysPerChunk,
  paceOf,
  settleSome,
  type UpsertParts,
} from './chunk.ts';
import { endByPlan, endOf } from './key-ends.ts';
import { type Effect, type KeyState, stepKey } from './key-machine.ts';
import {
  AnswerLost,
  asClaimed,
  changeContact,
  claimPatches,
  commitIntents,
  createContact,
  fetchContact,
  linkTaken,
  lookUpAlone,
  readTogether,
} from './key-requests.ts';
import {
  type Answer,
  beginKey,
  type Contents,
  isAsking,
  isQuestion,
  isUnknown,
  type KeyWork,
  mismatch,
  type Question,
  takeLeases,
  withQuestion,
} from './key-work.ts';

export interface BatchReference {
  readonly runId: string;
  readonly batch: number;
  readonly generation: number;
}

interface BatchOptions {
  /** The most records to work on: one is enough to see whether writes succeed again. */
  readonly recordsMax?: number;
}

/** `stale`: the ledger's batch has another generation by now, or its run is not applying; nothing was done. */
export type BatchEnd = 'done' | 'deferred' | 'stale';

/**
 * @throws PatchbayError `guard`: the run is to be stopped (`applying-guards.ts`).
 * @throws PatchbayError `auth` or `unreachable`: all work must wait; the batch stays as it is, for the next job.
 * @throws AbortError if the signal fired while a request waited; nothing is lost.
 */
export async function processBatch(
  parts: UpsertParts,
  reference: BatchReference,
  signal: AbortSignal,
  options: BatchOptions = {},
): Promise<BatchEnd> {
  const { runId: run, batch } = reference;
  return await inWork('batch', { run, batch, feed: null, end: null }, async (known) => {
    known.end = await workOn(parts, reference, signal, { ...options, onFeed: (feed) => (known.feed = feed) });
    return known.end;
  });
}

async function workOn(
  parts: UpsertParts,
  reference: BatchReference,
  signal: AbortSignal,
  { recordsMax = Number.POSITIVE_INFINITY, onFeed }: BatchOptions & { readonly onFeed: (feed: string) => void },
): Promise<BatchEnd> {
  const { ledger, clock } = parts;
  const { runId, batch, generation } = reference;
  const run = await ledger.runs.get(runId);
  const known = await ledger.runs.batch(runId, batch);
  if (run?.state !== 'applying' || known?.generation !== generation) return 'stale';
  onFeed(run.feed);
  const pace = parts.pace ?? paceOf(parts.limits);
  const owner = `${parts.identity.name}#${randomUUID().slice(0, 8)}`;
  const requests = new Map<keyof RequestTotals, number>();
  let sent = 0;
  const options: CallOptions = {
    signal,
    onRequest: (kind) => {
      if (kind === 'get' || kind === 'post' || kind === 'patch') sent += 1;
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
  let writesMax = await watchRefusals(parts, run);
  try {
    // Ends: a deferred record is due after this moment, so that each is taken at most once.
    const startedAtMs = await ledger.nowMs(clock);
    while (recordsLeft > 0 && !signal.aborted) {
      const keysMax = Math.min(pace.keysPerChunk(), keysAtRate(run.options.rate), writesMax);
      const limit = Math.min(recordsLeft, keysMax);
      const records = await ledger.runs.pendingRecords(runId, batch, startedAtMs, limit);
      if (records.length === 0) break;
      recordsLeft -= records.length;
      const isFast = keysMax > keysPerChunk(parts.limits);
      const perIntent = isFast ? keysMax : createsPerIntent(parts.limits);
      const beganAtMs = clock.monotonicMs();
      sent = 0;
      const lateCount = await processChunk({ ...work, batch, createsPerIntent: perIntent }, records);
      pace.ended({ lateCount, keyCount: records.length, tookMs: clock.monotonicMs() - beganAtMs });
      await noteRequests();
      const now = await ledger.runs.get(runId);
      if (now?.state !== 'applying') break;
      writesMax = await watchRefusals(parts, now);
      const restMs = restAtRate(run.options.rate, sent) - (clock.monotonicMs() - beganAtMs);
      if (restMs > 0) await sleepUnlessCut(clock, restMs, signal);
      // A chunk may need no request at all, and the ledger answers at once: signals and timers get their turn here.
      await nextTurn();
    }
  } finally {
    await noteRequests();
  }
  const done = await inStep('releaseBatch', () => ledger.runs.releaseBatch(runId, batch, generation, 0));
  return done ? 'done' : 'deferred';
}

/**
 * Of a run with a rate of its own (`dead retry --rate`): a chunk's requests are sent together, as many as a second allows (a look-up, and a
 * write for each key), and the rest of their time is waited for behind it, without a lease. So the rate holds from chunk to chunk.
 */
function keysAtRate(rate: number | null): number {
  return rate === null ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(rate) - 1);
}

function restAtRate(rate: number | null, sent: number): number {
  return rate === null ? 0 : (sent / rate) * 1_000;
}

/** @returns how many of the chunk's writes came too late for their turn. */
async function processChunk(
  {
    batch,
    ...work
  }: Pick<Chunk, 'parts' | 'run' | 'owner' | 'signal' | 'options' | 'createsPerIntent'> & { readonly batch: number },
  records: readonly StagedRecord[],
): Promise<number> {
  const planned = await plannedOf(work, records);
  const chunk: Chunk = { ...work, planned, ends: [], deferrals: [], lateCount: 0, broken: false };
  const { id: run, feed } = work.run;
  const firstLine = Math.min(...records.map(({ line }) => line));
  return await inWork('chunk', { run, feed, batch, rowCount: records.length, firstLine }, async () => {
    try {
      await driveKeys(chunk, records);
    } finally {
      await closeChunk(chunk, records);
    }
    return chunk.lateCount;
  });
}

/** What the plan that the run carries out says of these keys; null where it carries out none. */
async function plannedOf(
  { run, parts }: Pick<Chunk, 'run' | 'parts'>,
  records: readonly StagedRecord[],
): Promise<Chunk['planned']> {
  const planId = planOf(run);
  if (planId === null) return null;
  return await parts.ledger.plans.digests(
    planId,
    records.map(({ key }) => key),
  );
}

/** A key of the chunk, replaced with each step. */
interface Slot {
  work: KeyWork;
}

/**
 * Drives the key machine: carries out what it asks for, and gives it the answers; it decides nothing. Keys go together where
 * one request or one commit serves many (lease, look-up, claim, intent), and alone where each has its own (fetch, PATCH,
 * POST). Records that are neither ended nor deferred afterwards stay as they are.
 *
 * Invariant: whatever fails, every request on its way is waited for, so that its answer is not lost.
 * @throws PatchbayError `guard`; `auth`, `unreachable` as reads do; what the ledger throws.
 */
async function driveKeys(chunk: Chunk, records: readonly StagedRecord[]): Promise<void> {
  const slots = records.map((record): Slot => ({ work: beginKey(record) }));
  await answerAll(chunk, slots, await takeLeases(chunk, asking(slots, 'lease')));
  const leased = slots.filter(({ work }) => work.question === 'lookUp');
  if (leased.length > 0) {
    await answerAll(chunk, leased, await readTogether(chunk, asking(leased, 'lookUp')));
    const unended = leased.filter(({ work }) => work.question !== null);
    await watchAdoptions(chunk.parts, chunk.run, { all: countOf(leased), unended: countOf(unended) });
  }
  await claimAll(chunk, slots);
  await driveAlone(
    chunk,
    slots.filter(({ work }) => work.question === 'patch' || work.question === 'delete' || work.question === 'fetch'),
  );
  await driveCreates(
    chunk,
    slots.filter(({ work }) => work.question === 'intend'),
  );
}

function asking<Q extends Question>(slots: readonly Slot[], question: Q) {
  return slots.map(({ work }) => work).filter(isAsking(question));
}

async function claimAll(chunk: Chunk, slots: readonly Slot[]): Promise<void> {
  const unclaimed = slots.flatMap((slot) => {
    const { work } = slot;
    const { question } = work;
    if ((question !== 'patch' && question !== 'delete') || work.contents.is !== 'differs') return [];
    return [{ slot, record: work.record, state: work.state, question, contents: work.contents }];
  });
  if (unclaimed.length === 0) return;
  const { horizonAtMs, refused } = await claimPatches(chunk, unclaimed);
  for (const { slot, record, state, question, contents } of unclaimed) {
    if (refused.has(record.key)) {
      await answer(chunk, slot, linkTaken(contents));
      continue;
    }
    slot.work = withQuestion(record, state, question, asClaimed(contents, horizonAtMs));
  }
}

/** Ends because each turn takes keys off the list, and none is put back. */
async function driveCreates(chunk: Chunk, slots: readonly Slot[]): Promise<void> {
  const perIntent = chunk.createsPerIntent;
  for (let start = 0; start < slots.length && !isStopped(chunk); start += perIntent) {
    const together = slots.slice(start, start + perIntent);
    await answerAll(chunk, together, await commitIntents(chunk, asking(together, 'intend')));
    await driveAlone(chunk, together);
  }
}

/** Each key by itself until it is at rest. @throws the first failure, after all have ended. */
async function driveAlone(chunk: Chunk, slots: readonly Slot[]): Promise<void> {
  const failures: unknown[] = [];
  const drive = async (slot: Slot): Promise<void> => {
    try {
      await inLogContext({ line: slot.work.record.line }, () => driveOne(chunk, slot));
      await settleSome(chunk);
    } catch (error) {
      chunk.broken = true;
      failures.push(error);
    }
  };
  await pMap(slots, drive, { concurrency: chunk.parts.limits.writesAtOnce });
  if (failures.length > 0) throw failures[0];
}

/** Ends: the machine counts what it may ask for again, and comes to rest, or to an intent, which is committed with others. */
async function driveOne(chunk: Chunk, slot: Slot): Promise<void> {
  const stopped = (): Answer => ({ event: { kind: 'stopped' }, contents: slot.work.contents });
  while (slot.work.question !== null && slot.work.question !== 'intend') {
    if (isStopped(chunk)) return await answer(chunk, slot, stopped());
    let given: Answer;
    try {
      given = await ask(chunk, slot);
    } catch (error) {
      if (error instanceof AnswerLost) throw error.cause;
      await answer(chunk, slot, stopped());
      throw error;
    }
    await answer(chunk, slot, given);
  }
}

const isStopped = (chunk: Chunk): boolean => chunk.broken || chunk.signal.aborted;

async function ask(chunk: Chunk, slot: Slot): Promise<Answer> {
  const { work } = slot;
  switch (work.question) {
    case 'lookUp':
      return await lookUpAlone(chunk, work);
    case 'fetch':
      return await fetchContact(chunk, work);
    case 'create':
      return await createContact(chunk, work);
    case 'patch':
    case 'delete': {
      const { record, state, question, contents } = work;
      if (contents.is === 'claimed') return await changeContact(chunk, record, contents);
      const { horizonAtMs, refused } = await claimPatches(chunk, [{ record, contents }]);
      if (refused.has(record.key)) return linkTaken(contents);
      const claimed = asClaimed(contents, horizonAtMs);
      slot.work = withQuestion(record, state, question, claimed);
      return await changeContact(chunk, record, claimed);
    }
    default:
      throw new PatchbayError('bug', 'invariant', `${work.question} is asked for many keys together`);
  }
}

async function answerAll(
  chunk: Chunk,
  slots: readonly Slot[],
  answers: ReadonlyMap<StagedRecord, Answer>,
): Promise<void> {
  for (const slot of slots) {
    const given = answers.get(slot.work.record);
    if (given === undefined) continue;
    // Most answers to many keys lead to a question alone, and nothing is to be waited for.
    for (const deed of advance(chunk, slot, given)) await carryOut(chunk, slot.work, deed);
  }
}

async function answer(chunk: Chunk, slot: Slot, given: Answer): Promise<void> {
  for (const deed of advance(chunk, slot, given)) await carryOut(chunk, slot.work, deed);
}

type Deed = Exclude<Effect, { readonly do: Question }>;
const nothingToDo: readonly Deed[] = [];

/** Gives the machine an answer. @returns the effects that need none: they are to be carried out now. */
function advance(chunk: Chunk, slot: Slot, { event, contents }: Answer): readonly Deed[] {
  const { record } = slot.work;
  const { state, effects } = (chunk.parts.step ?? stepKey)(slot.work.state, event);
  const question = effects.find(isQuestion)?.do ?? null;
  slot.work = withQuestion(record, state, question, contents);
  return question !== null && effects.length === 1 ? nothingToDo : effects.filter(isDeed);
}

const isDeed = (effect: Effect): effect is Deed => !isQuestion(effect);

async function carryOut(chunk: Chunk, { record, state, contents }: KeyWork, effect: Deed): Promise<void> {
  const { ledger, clock } = chunk.parts;
  switch (effect.do) {
    case 'withdraw': {
      if (contents.is === 'begun') throw mismatch('an intent withdrawn', contents);
      const { owned } = contents.lease.contact;
      await inStep('withdraw', () => ledger.contacts.withdrawIntents(chunk.owner, [{ key: record.key, owned }]));
      return;
    }
    case 'unclaim': {
      const sent = contents.is === 'refused' ? contents.sent : contents;
      // Where all work stopped before the claim, there is nothing to take back.
      if (sent.is !== 'claimed') return;
      const { owned, state: known, claim } = sent.lease.contact;
      // A create in doubt that is not bound yet keeps its claim: its contact is identified by it.
      const before = { key: record.key, owned, claim: known === 'intent' ? claim : null };
      await inStep('withdraw', () => ledger.contacts.unclaimItems(chunk.owner, [before]));
      return;
    }
    case 'noteDoubt': {
      if (contents.is !== 'doubted') throw mismatch('a doubt noted', contents);
      const doubt = {
        key: record.key,
        runId: chunk.run.id,
        atMs: clock.nowMs(),
        why: contents.why,
        burn: effect.countsAttempt,
      };
      await ledger.contacts.noteDoubt(chunk.owner, doubt);
      return;
    }
    case 'defer': {
      const waitMs = waitOf(chunk, state, contents, effect.wait);
      chunk.deferrals.push({ position: record.position, waitMs, burnAttempt: effect.countsAttempt });
      return;
    }
    case 'end':
      chunk.ends.push(endOf(record, endByPlan(chunk, record, effect.as), contents));
      return;
    default:
      unreachable(effect);
  }
}

const momentMs = 1_000;

function waitOf(
  { parts: { clock, limits } }: Chunk,
  { mayLag }: KeyState,
  contents: Contents,
  wait: Extract<Effect, { do: 'defer' }>['wait'],
): number {
  switch (wait) {
    case 'none':
      return 0;
    case 'moment':
      return momentMs;
    case 'lag': {
      const lease = contents.is === 'begun' ? null : contents.lease;
      const writtenAtMs = lease?.contact.writtenAtMs ?? null;
      if (!mayLag || lease === null || writtenAtMs === null) return Math.max(momentMs, limits.visibilityLagMs);
      return Math.max(momentMs, writtenAtMs + limits.visibilityLagMs - lease.aheadMs - clock.monotonicMs());
    }
    case 'horizon':
      if (contents.is !== 'doubted') throw mismatch('a horizon waited for', contents);
      return contents.sent.horizonAtMs - clock.monotonicMs();
    default:
      return wait.ms;
  }
}

function countOf(slots: readonly Slot[]): LookUpCount {
  return { lookedUp: slots.length, foundUnknown: slots.filter(({ work }) => isUnknown(work)).length };
}
