/**
 * Writes for keys at work: the intents of several in one durable commit, then each POST; and PATCHes. What their ends
 * mean for the machine.
 *
 * Invariants: no two writes of one key are on their way in this process; what a write makes the feed's own is in the
 * ledger before it leaves (`contacts/claim.ts` says why).
 */
import { claimOf } from '#src/contacts/claim.ts';
import { verifyReply } from '#src/contacts/reply.ts';
import { invariant, PatchbayError, unreachable } from '#src/errors.ts';
import type { ClaimedContact } from '#src/ledger/contacts.ts';
import { keyHash } from '#src/log.ts';
import { inStep } from '#src/steps.ts';
import type { WriteResult } from '#src/workspace/port.ts';
import { type Chunk, horizonMs, type UpsertParts, updateHorizonMs } from './chunk.ts';
import type { KeyEvent } from './key-machine.ts';
import { allMovedSaids, type KeyWork, ownedIfWritten, plannedOf } from './key-work.ts';

/** Commits the intents, durable. Answers each key with its event: one whose lease was lost is not to be created. */
export async function commitIntents(chunk: Chunk, keys: readonly KeyWork[]): Promise<ReadonlyMap<KeyWork, KeyEvent>> {
  const { ledger, clock, limits } = chunk.parts;
  const intentAtMs = clock.monotonicMs();
  const horizonAtMs = intentAtMs + horizonMs(limits);
  const held = new Set(
    await inStep('intend', () =>
      ledger.contacts.intend({
        contacts: keys.map((key) => ({ ...ownedIfWritten(key), claim: claimOf(plannedOf(key).input) })),
        owner: chunk.owner,
        runId: chunk.run.id,
        bootId: clock.bootId,
        horizonMonotonicMs: horizonAtMs,
      }),
    ),
  );
  return new Map(
    keys.map((key): [KeyWork, KeyEvent] => {
      key.intentAtMs = intentAtMs;
      key.horizonAtMs = horizonAtMs;
      return [key, { kind: held.has(key.record.key) ? 'intended' : 'leaseLost' }];
    }),
  );
}

/** Enters what PATCHes are about to write, with their horizon. Several at once cost one commit. */
export async function claimPatches(chunk: Chunk, keys: readonly KeyWork[]): Promise<void> {
  if (keys.length === 0) return;
  const { ledger, clock, limits } = chunk.parts;
  const horizonAtMs = clock.monotonicMs() + updateHorizonMs(limits);
  await inStep('claim', () =>
    ledger.contacts.claimItems({
      contacts: keys.map(claimedContact),
      owner: chunk.owner,
      runId: chunk.run.id,
      bootId: clock.bootId,
      atMs: clock.nowMs(),
      horizonMonotonicMs: horizonAtMs,
    }),
  );
  for (const key of keys) {
    key.claimed = true;
    key.horizonAtMs = horizonAtMs;
  }
}

function claimedContact(key: KeyWork): ClaimedContact {
  const { record, base, contact } = key;
  const createdAs = key.madeByUs ? (contact.claim?.source ?? null) : null;
  const claim = claimOf(plannedOf(key).input, createdAs);
  const written = { ...ownedIfWritten(key), position: record.position, claim };
  // The new claim takes the place of one that is resolved: what came of that must be remembered now.
  if (contact.claim === null) return { ...written, resolved: null };
  const { agreed, stamps } = base;
  return { ...written, resolved: { agreed, stamps, saids: allMovedSaids(key) } };
}

/** @throws what stops all work; nothing was sent then. */
export async function createContact(chunk: Chunk, key: KeyWork): Promise<KeyEvent> {
  const { plan } = plannedOf(key);
  invariant(plan.kind === 'create', 'only a create is sent as a create', { plan: plan.kind });
  invariant(key.state.phase === 'creating', 'a create is sent behind its intent only', { phase: key.state.phase });
  const { leaseUntilMs, intentAtMs } = key;
  const send = (beforeSend: () => void) =>
    inStep('create', () => chunk.parts.workspace.createContact(plan.body, { ...chunk.options, beforeSend }));
  return await sendWrite(chunk, key, { leaseUntilMs, intentAtMs }, intentAtMs, send);
}

/** @throws what stops all work; nothing was sent then. */
export async function patchContact(chunk: Chunk, key: KeyWork): Promise<KeyEvent> {
  if (!key.claimed) await claimPatches(chunk, [key]);
  const { plan, input, readAtMs } = plannedOf(key);
  const { theirs } = input;
  invariant(plan.kind === 'patch' && theirs !== null, 'only a patch is sent as a patch', { plan: plan.kind });
  const send = (beforeSend: () => void) =>
    inStep('patch', () => chunk.parts.workspace.updateContact(theirs.id, plan.body, { ...chunk.options, beforeSend }));
  return await sendWrite(chunk, key, { leaseUntilMs: key.leaseUntilMs, readAtMs }, readAtMs, send);
}

async function sendWrite(
  chunk: Chunk,
  key: KeyWork,
  deadlines: SendDeadlines,
  sinceMs: number,
  send: (beforeSend: () => void) => Promise<WriteResult>,
): Promise<KeyEvent> {
  const writing = keysBeingWritten(chunk.parts);
  const name = key.record.key;
  invariant(!writing.has(name), 'two writes of one key at the same time', { key: keyHash(name) });
  writing.add(name);
  let result: WriteResult;
  try {
    result = await send(checkBeforeSend(chunk.parts, deadlines));
  } catch (error) {
    // Whatever is thrown here was thrown before the socket write.
    const refusal = sendRefusal(error);
    if (refusal === null) throw error;
    chunk.lateCount += 1;
    return { kind: refusal === 'readTooOld' ? 'readTooOld' : 'tooLate' };
  } finally {
    writing.delete(name);
  }
  try {
    return eventOf(chunk, key, result, sinceMs);
  } catch (error) {
    // The answer is there and cannot be used: what was sent may have landed, so nothing of it is taken back.
    if (result.kind === 'notSent') throw error;
    throw new AnswerLost(error);
  }
}

/** A mistake of ours after the answer to a write: the row keeps its intent, and is looked up after the horizon. */
export class AnswerLost extends Error {
  override readonly name = 'AnswerLost';
  constructor(cause: unknown) {
    super('the answer to a write could not be used', { cause });
  }
}

function eventOf(chunk: Chunk, key: KeyWork, result: WriteResult, sinceMs: number): KeyEvent {
  const { writeHealth } = chunk.parts;
  const isUpdate = plannedOf(key).plan.kind === 'patch';
  switch (result.kind) {
    case 'done':
      writeHealth.succeeded();
      key.writtenAtMs = chunk.parts.clock.monotonicMs();
      return doneEvent(chunk, key, result);
    case 'notSent':
      if (result.rateLimited) return { kind: 'rateLimited' };
      // Whatever concerns the key, or this program, concerns all rows.
      if (result.error.kind !== 'unreachable' && result.error.kind !== 'transient') throw result.error;
      return { kind: 'notSent' };
    case 'refused':
      key.answer = { kind: 'refusal', status: result.status, body: result.body };
      if (result.status === 409 && !isUpdate) return { kind: 'taken' };
      if (result.status === 404 && isUpdate) return { kind: 'vanished' };
      return { kind: 'refused' };
    case 'unauthorized':
      key.answer = { kind: 'refusal', status: result.status, body: result.body };
      return { kind: 'unauthorized' };
    case 'doubt':
      return doubtEvent(chunk, key, result, writeHealth.succeededSince(sinceMs));
    default:
      return unreachable(result);
  }
}

function doneEvent(chunk: Chunk, key: KeyWork, { contact }: Extract<WriteResult, { kind: 'done' }>): KeyEvent {
  const { plan, input } = plannedOf(key);
  invariant(plan.expected !== null, 'a write expects something', { plan: plan.kind });
  // A reply about another contact, or without what the interface promises, tells nothing of what was written.
  const isAnother = contact.externalId !== plan.expected.externalId || (input.theirs?.id ?? contact.id) !== contact.id;
  if (isAnother || contact.missing !== undefined)
    return doubtEvent(chunk, key, { why: 'oddReply', status: null }, true);
  const { matches, differences, warnings } = verifyReply(plan.expected, contact);
  key.answer = { kind: 'contact', contact, warnings, differences };
  key.createAnswered = plan.kind === 'create';
  return { kind: 'done', applied: matches };
}

function doubtEvent(
  { parts }: Chunk,
  key: KeyWork,
  { why, status }: Pick<Extract<WriteResult, { kind: 'doubt' }>, 'why' | 'status'>,
  othersSucceed: boolean,
): KeyEvent {
  const { record } = key;
  const facts = { run: record.runId, line: record.line, key: keyHash(record.key), why, status };
  parts.log.warn(facts, plannedOf(key).plan.kind === 'patch' ? 'update in doubt' : 'create in doubt');
  key.doubtWhy = why;
  return { kind: 'doubt', othersSucceed };
}

const writingOf = new WeakMap<UpsertParts, Set<string>>();

function keysBeingWritten(parts: UpsertParts): Set<string> {
  const known = writingOf.get(parts) ?? new Set<string>();
  writingOf.set(parts, known);
  return known;
}

/**
 * The last look before a request leaves: it runs after the rate gate and right before the socket write, so that no
 * wait can make a decision stale (`rules.md`: start guard, lease, age of the read).
 */
type SendRefusal = 'leaseTooShort' | 'readTooOld' | 'startedTooLate';

/** Thrown from `beforeSend`: nothing was sent. */
function refuse(code: SendRefusal): never {
  throw new PatchbayError('transient', code, 'the request was not sent: what it rests on is out of date');
}

/** @returns the refusal, or null for any other error. */
function sendRefusal(error: unknown): SendRefusal | null {
  if (!(error instanceof PatchbayError) || error.kind !== 'transient') return null;
  const { code } = error;
  return code === 'leaseTooShort' || code === 'readTooOld' || code === 'startedTooLate' ? code : null;
}

interface SendDeadlines {
  /** Monotonic: when the lease ends. */
  readonly leaseUntilMs: number;
  /** Monotonic: the read that the write is planned from. */
  readonly readAtMs?: number;
  /** Monotonic: when the intent was committed. */
  readonly intentAtMs?: number;
}

function checkBeforeSend(parts: UpsertParts, deadlines: SendDeadlines): () => void {
  const { clock, limits } = parts;
  return () => {
    const now = clock.monotonicMs();
    if (now + limits.requestMs > deadlines.leaseUntilMs) refuse('leaseTooShort');
    if (deadlines.readAtMs !== undefined && now - deadlines.readAtMs > limits.readAgeMaxMs) refuse('readTooOld');
    if (deadlines.intentAtMs !== undefined && now - deadlines.intentAtMs > limits.startGuardMs)
      refuse('startedTooLate');
  };
}
