/**
 * Writes for keys at work: the intents of several keys in one durable commit, then each POST; and PATCHes. Each returns the
 * answer for the machine, and what it brought.
 *
 * Invariants: no two writes of one key are on their way in this process; what a write makes the feed's own is in the
 * ledger before the write is sent (`contacts/claim.ts` says why); a write is sent while its lease, its intent and its read
 * are still good, checked after the rate gate and right before the socket write.
 */
import { claimOf } from '#src/contacts/claim.ts';
import { verifyReply } from '#src/contacts/reply.ts';
import { invariant, PatchbayError, unreachable } from '#src/errors.ts';
import type { ClaimedContact } from '#src/ledger/contacts.ts';
import type { StagedRecord } from '#src/ledger/staging.ts';
import { keyHash } from '#src/log.ts';
import { inStep } from '#src/steps.ts';
import type { Contact } from '#src/wire/contact.ts';
import type { WriteResult } from '#src/workspace/port.ts';
import { type Chunk, horizonMs, type UpsertParts, updateHorizonMs } from './chunk.ts';
import {
  type Answer,
  type Asking,
  allMovedSaids,
  type Claimed,
  type Differs,
  ownedIfWritten,
  type Sendable,
} from './key-work.ts';

/** Commits the intents, durable. One answer for each key: one whose lease was lost is not to be created. */
export async function commitIntents(
  chunk: Chunk,
  keys: readonly Asking<'intend'>[],
): Promise<ReadonlyMap<StagedRecord, Answer>> {
  const { ledger, clock, limits } = chunk.parts;
  const intentAtMs = clock.monotonicMs();
  const horizonAtMs = intentAtMs + horizonMs(limits);
  const held = new Set(
    await inStep('intend', () =>
      ledger.contacts.intend({
        contacts: keys.map(({ contents }) => ({ ...ownedIfWritten(contents), claim: claimOf(contents.input) })),
        owner: chunk.owner,
        runId: chunk.run.id,
        bootId: clock.bootId,
        horizonMonotonicMs: horizonAtMs,
      }),
    ),
  );
  return new Map(
    keys.map(({ record, contents }): [StagedRecord, Answer] => {
      if (!held.has(record.key)) return [record, { event: { kind: 'leaseLost' }, contents }];
      const intended = { ...contents, is: 'intended', intentAtMs, horizonAtMs } as const;
      return [record, { event: { kind: 'intended' }, contents: intended }];
    }),
  );
}

/** Enters what PATCHes are about to write. Several keys cost one commit. @returns their horizon (`Claimed.horizonAtMs`). */
export async function claimPatches(
  chunk: Chunk,
  keys: readonly { readonly record: StagedRecord; readonly contents: Differs }[],
): Promise<number> {
  const { ledger, clock, limits } = chunk.parts;
  const horizonAtMs = clock.monotonicMs() + updateHorizonMs(limits);
  await inStep('claim', () =>
    ledger.contacts.claimItems({
      contacts: keys.map(({ record, contents }) => claimedContact(record, contents)),
      owner: chunk.owner,
      runId: chunk.run.id,
      bootId: clock.bootId,
      atMs: clock.nowMs(),
      horizonMonotonicMs: horizonAtMs,
    }),
  );
  return horizonAtMs;
}

function claimedContact({ feed, position }: StagedRecord, contents: Differs): ClaimedContact {
  const { lease, input, madeByUs } = contents;
  const { claim } = lease.contact;
  const createdAs = madeByUs ? (claim?.source ?? null) : null;
  const written = { ...ownedIfWritten(contents), position, claim: claimOf(input, createdAs) };
  // The new claim replaces one that is resolved: what came of that must be remembered now.
  if (claim === null) return { ...written, resolved: null };
  const { agreed, stamps } = lease.base;
  return { ...written, resolved: { agreed, stamps, saids: allMovedSaids(lease, feed) } };
}

/** @throws what stops all work; nothing was sent then. */
export async function createContact(chunk: Chunk, { record, contents }: Asking<'create'>): Promise<Answer> {
  return await sendWrite(chunk, record, contents, (beforeSend) =>
    inStep('create', () => chunk.parts.workspace.createContact(contents.plan.body, { ...chunk.options, beforeSend })),
  );
}

/** @throws what stops all work; nothing was sent then. */
export async function patchContact(chunk: Chunk, record: StagedRecord, claimed: Claimed): Promise<Answer> {
  const { theirs, plan } = claimed;
  return await sendWrite(chunk, record, claimed, (beforeSend) =>
    inStep('patch', () => chunk.parts.workspace.updateContact(theirs.id, plan.body, { ...chunk.options, beforeSend })),
  );
}

async function sendWrite(
  chunk: Chunk,
  record: StagedRecord,
  sent: Sendable,
  send: (beforeSend: () => void) => Promise<WriteResult>,
): Promise<Answer> {
  const writing = keysBeingWritten(chunk.parts);
  const name = record.key;
  invariant(!writing.has(name), 'two writes of one key at the same time', { key: keyHash(name) });
  writing.add(name);
  let result: WriteResult;
  try {
    result = await send(() => checkBeforeSend(chunk.parts, sent));
  } catch (error) {
    // Whatever is thrown here was thrown before the socket write.
    const refusal = sendRefusal(error);
    if (refusal === null) throw error;
    chunk.lateCount += 1;
    return { event: { kind: refusal === 'readTooOld' ? 'readTooOld' : 'tooLate' }, contents: sent };
  } finally {
    writing.delete(name);
  }
  try {
    return answerOf(chunk, record, sent, result);
  } catch (error) {
    // There is an answer, and it cannot be used: what was sent may have landed, so nothing of it is withdrawn.
    if (result.kind === 'notSent') throw error;
    throw new AnswerLost(error);
  }
}

const writingOf = new WeakMap<UpsertParts, Set<string>>();

function keysBeingWritten(parts: UpsertParts): Set<string> {
  const known = writingOf.get(parts) ?? new Set<string>();
  writingOf.set(parts, known);
  return known;
}

type SendRefusal = 'leaseTooShort' | 'readTooOld' | 'startedTooLate';

/** Throws if anything that the write rests on is out of date: nothing was sent then. */
function checkBeforeSend({ clock, limits }: UpsertParts, sent: Sendable): void {
  const nowMs = clock.monotonicMs();
  if (nowMs + limits.requestMs > sent.lease.untilMs) refuse('leaseTooShort');
  if (sent.is === 'claimed' && nowMs - sent.readAtMs > limits.readAgeMaxMs) refuse('readTooOld');
  if (sent.is === 'intended' && nowMs - sent.intentAtMs > limits.startGuardMs) refuse('startedTooLate');
}

function refuse(code: SendRefusal): never {
  throw new PatchbayError('transient', code, 'the request was not sent: what it rests on is out of date');
}

/** @returns the refusal, or null for any other error. */
function sendRefusal(error: unknown): SendRefusal | null {
  if (!(error instanceof PatchbayError) || error.kind !== 'transient') return null;
  const { code } = error;
  return code === 'leaseTooShort' || code === 'readTooOld' || code === 'startedTooLate' ? code : null;
}

/** A mistake of Patchbay's after the answer to a write: the row keeps its intent, and is looked up after the horizon. */
export class AnswerLost extends Error {
  override readonly name = 'AnswerLost';
  constructor(cause: unknown) {
    super('the answer to a write could not be used', { cause });
  }
}

function answerOf(chunk: Chunk, record: StagedRecord, sent: Sendable, result: WriteResult): Answer {
  const { writeHealth } = chunk.parts;
  const { lease } = sent;
  switch (result.kind) {
    case 'done':
      writeHealth.succeeded();
      return doneAnswer(chunk, record, sent, result.contact);
    case 'notSent':
      if (result.rateLimited) return { event: { kind: 'rateLimited' }, contents: sent };
      // An error that concerns the API key, or this program, concerns all rows.
      if (result.error.kind !== 'unreachable' && result.error.kind !== 'transient') throw result.error;
      return { event: { kind: 'notSent' }, contents: sent };
    case 'refused':
    case 'unauthorized': {
      const { status, body } = result;
      const kind = result.kind === 'unauthorized' ? 'unauthorized' : refusalEvent(status, sent);
      return { event: { kind }, contents: { is: 'refused', lease, sent, refusal: { status, body } } };
    }
    case 'doubt': {
      const sinceMs = sent.is === 'intended' ? sent.intentAtMs : sent.readAtMs;
      return doubtAnswer(chunk, record, sent, result, writeHealth.succeededSince(sinceMs));
    }
    default:
      return unreachable(result);
  }
}

function refusalEvent(status: number, sent: Sendable): 'taken' | 'vanished' | 'refused' {
  if (status === 409 && sent.is === 'intended') return 'taken';
  return status === 404 && sent.is === 'claimed' ? 'vanished' : 'refused';
}

function doneAnswer(chunk: Chunk, record: StagedRecord, sent: Sendable, reply: Contact): Answer {
  const { expected } = sent.plan;
  const isAnother = reply.externalId !== expected.externalId || (sent.is === 'claimed' && sent.theirs.id !== reply.id);
  // A reply about another contact, or without what the interface promises, says nothing about what was written.
  if (isAnother || reply.missing !== undefined)
    return doubtAnswer(chunk, record, sent, { why: 'oddReply', status: null }, true);
  const { matches, differences, warnings } = verifyReply(expected, reply);
  const writtenAtMs = chunk.parts.clock.monotonicMs();
  return {
    event: { kind: 'done', applied: matches },
    contents: { is: 'written', lease: sent.lease, sent, reply, warnings, differences, writtenAtMs },
  };
}

function doubtAnswer(
  { parts }: Chunk,
  record: StagedRecord,
  sent: Sendable,
  { why, status }: Pick<Extract<WriteResult, { kind: 'doubt' }>, 'why' | 'status'>,
  othersSucceed: boolean,
): Answer {
  const facts = { run: record.runId, line: record.line, key: keyHash(record.key), why, status };
  parts.log.warn(facts, sent.is === 'claimed' ? 'update in doubt' : 'create in doubt');
  return { event: { kind: 'doubt', othersSucceed }, contents: { is: 'doubted', lease: sent.lease, sent, why } };
}
