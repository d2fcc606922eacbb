/**
 * Requests for keys at work: one look-up for many keys or for one alone, one contact by its id; the intents of several keys
 * in one durable commit, then each POST; and PATCHes. Each returns the answer for the machine, and what it brought.
 *
 * The contacts of a look-up are compared exactly, never taken because they came first (`docs/facts.md`: a wrong filter answers
 * 200 with the contacts of others).
 *
 * Invariants: no two writes of one key are on their way in this process; what a write makes the feed's own is in the
 * ledger before the write is sent (`ownedIfLanded` in `contacts/settle.ts` says why); a write is sent while its lease, its intent and its read
 * are still good, checked after the rate gate and right before the socket write.
 */
import { type Claim, claimOf, journalOfClaim, resolveClaim } from '#src/contacts/claim.ts';
import { isLinked } from '#src/contacts/plan.ts';
import { matchByKey, sameContents, verifyReply } from '#src/contacts/reply.ts';
import { invariant, PatchbayError, unreachable } from '#src/errors.ts';
import type { ClaimedContact } from '#src/ledger/contacts.ts';
import type { StagedRecord } from '#src/ledger/staging.ts';
import { keyHash } from '#src/log.ts';
import { inStep } from '#src/steps.ts';
import { type Contact, isContactId } from '#src/wire/contact.ts';
import { isAboutOneContact, lookUpKeys } from '#src/workspace/look-up.ts';
import type { DeleteResult, WriteResult } from '#src/workspace/port.ts';
import { type Chunk, horizonMs, type UpsertParts, updateHorizonMs } from './chunk.ts';
import { baseOfFound, baseToKeep, isKeyMoved, isMadeByIntent, linkOf, withKeyMoved } from './in-place.ts';
import {
  type Answer,
  type Asking,
  allMovedSaids,
  type Claimed,
  type Contents,
  type Differs,
  hasMoved,
  type Lease,
  leaves,
  mismatch,
  ownedIfWritten,
  planAbsent,
  planFound,
  type Sendable,
} from './key-work.ts';

/** One look-up for all. @throws what reads throw, unless it concerns one key alone. */
export async function readTogether(
  chunk: Chunk,
  keys: readonly Asking<'lookUp'>[],
): Promise<ReadonlyMap<StagedRecord, Answer>> {
  const wanted = keys.map(({ record }) => record.key);
  const found = await inStep('lookUp', () => lookUpKeys(chunk.parts.workspace, wanted, chunk.options));
  return new Map(
    keys.map(({ record, state, contents: { lease } }): [StagedRecord, Answer] => {
      const failure = found.failures.get(record.key);
      if (failure !== undefined) return [record, unreadable(lease, failure)];
      const answer = lookedUp(chunk, record, lease, found.contacts, found.readAtMs);
      if (answer !== null) return [record, answer];
      // Planned even if the key is bound: the plan of a create is not used then.
      const absent = planAbsent(chunk, record, lease);
      const isMade = !state.bound && state.link === 'none';
      const kind = isMade && hasMoved(chunk, record, absent, null) ? 'moved' : 'foundNone';
      return [record, { event: { kind }, contents: absent }];
    }),
  );
}

/** A look-up in between: after a create that was refused as taken, an update that found no contact, a refused API key. */
export async function lookUpAlone(chunk: Chunk, { record, state, contents }: Asking<'lookUp'>): Promise<Answer> {
  const { contacts, readAtMs, failures } = await inStep('lookUp', () =>
    lookUpKeys(chunk.parts.workspace, [record.key], chunk.options),
  );
  if (state.phase === 'checkingKey') return { event: { kind: 'keyWorks' }, contents };
  const { lease } = contents;
  const failure = failures.get(record.key);
  if (failure !== undefined) return unreadable(lease, failure);
  // Lists may still show the contact that an update has just missed.
  const missedId = missedIdOf(contents);
  const others = contacts.filter((contact) => contact.id !== missedId);
  return lookedUp(chunk, record, lease, others, readAtMs) ?? { event: { kind: 'foundNone' }, contents };
}

function missedIdOf(contents: Asking<'lookUp'>['contents']): string | null {
  const sent = contents.is === 'refused' ? contents.sent : contents;
  return sent.is === 'claimed' ? sent.theirs.id : null;
}

/** Null where no contact has the key. */
function lookedUp(
  chunk: Chunk,
  record: StagedRecord,
  lease: Lease,
  contacts: readonly Contact[],
  readAtMs: number,
): Answer | null {
  const match = matchByKey(record.key, contacts);
  switch (match.kind) {
    case 'conflict':
      return { event: { kind: 'foundSeveral' }, contents: { is: 'conflict', lease, ids: match.ids } };
    case 'one':
      if (match.contact.missing === undefined) return found(chunk, record, lease, match.contact, readAtMs);
      return { event: { kind: 'foundOdd' }, contents: { is: 'unclear', lease, id: match.contact.id } };
    case 'none':
      return null;
  }
}

/** A contact by its id: the bound one, which no list shows; one that a list showed in part; one whose read is too old. */
export async function fetchContact(chunk: Chunk, { record, state, contents }: Asking<'fetch'>): Promise<Answer> {
  const { workspace, clock } = chunk.parts;
  const { lease } = contents;
  const id = state.phase === 'linking' ? (linkTarget(chunk, record) ?? '') : fetchedId(record, contents);
  if (!isContactId(id)) {
    return {
      event: { kind: 'foundOdd' },
      contents: { is: 'odd', lease, id, what: 'no contact can be read by such an id' },
    };
  }
  let readAtMs = clock.monotonicMs();
  const beforeSend = (): void => {
    readAtMs = clock.monotonicMs();
  };
  let contact: Contact | null;
  try {
    contact = await inStep('get', () => workspace.getContact(id, { ...chunk.options, beforeSend }));
  } catch (error) {
    if (!(error instanceof PatchbayError && (await isAboutOneContact(workspace, error, chunk.options)))) throw error;
    return unreadable(lease, error);
  }
  if (contact === null) {
    // The plan showed it, and not that it is made again.
    const isMade = state.link === 'again' && !state.mayLag && contents.is === 'absent';
    return { event: { kind: isMade && hasMoved(chunk, record, contents, null) ? 'moved' : 'foundNone' }, contents };
  }
  if (contact.id !== id || contact.missing !== undefined) {
    const what = contact.id === id ? `it lacks ${(contact.missing ?? []).join(', ')}` : 'it is another contact';
    return { event: { kind: 'foundOdd' }, contents: { is: 'odd', lease, id, what } };
  }
  // A contact to be linked has no key yet.
  const isToBeLinked = linkTarget(chunk, record) === id && lease.contact.contactId !== id && isLinked(contact);
  if (contact.externalId !== record.key && !isToBeLinked) {
    return { event: { kind: 'foundOtherKey' }, contents: { is: 'conflict', lease, ids: [id] } };
  }
  const { seen } = lease.contact;
  if (state.mayLag && seen !== null && !sameContents(seen, contact)) {
    return { event: { kind: 'foundStale' }, contents };
  }
  return found(chunk, record, lease, contact, readAtMs);
}

function fetchedId({ desired }: StagedRecord, contents: Asking<'fetch'>['contents']): string {
  if (contents.is === 'unclear') return contents.id;
  if (contents.is === 'claimed') return contents.theirs.id;
  // Where no read has shown a contact, the machine fetches the one that is bound.
  return contents.lease.contact.contactId ?? desired.undo?.contactId ?? '';
}

/** The id of the contact that the row is to be linked to; null for most. */
function linkTarget(chunk: Chunk, record: StagedRecord): string | null {
  const link = linkOf(chunk, record);
  return link?.kind === 'contact' ? link.contactId : null;
}

/** The read fails for this key and succeeds for others. What the service refuses it will refuse again. */
function unreadable(lease: Lease, failure: PatchbayError): Answer {
  return {
    event: { kind: 'readFails', forGood: failure.kind !== 'unreachable' },
    contents: { is: 'unreadable', lease, failure },
  };
}

function found(chunk: Chunk, record: StagedRecord, leased: Lease, theirs: Contact, readAtMs: number): Answer {
  const lease = withKeyMoved(record, leased, theirs);
  const known = { ...lease, base: baseOfFound(record, lease, theirs) };
  const { base, madeByUs } = recogniseOwnWrite(chunk, known, theirs);
  const planned = planFound(chunk, record, { ...lease, base }, { theirs, readAtMs, madeByUs });
  const contents: Contents = { ...planned, lease: { ...lease, base: baseToKeep(record, lease, theirs, base) } };
  if (hasMoved(chunk, record, contents, theirs.id)) return { event: { kind: 'moved' }, contents };
  const kind = contents.is === 'differs' ? contents.plan.kind : 'same';
  return { event: { kind: 'found', plan: leaves(chunk, lease) ? 'left' : kind }, contents };
}

/** After a write in doubt: what of it has landed is Patchbay's, and only what differs from that was changed by people. */
function recogniseOwnWrite(
  { run }: Chunk,
  lease: Lease,
  theirs: Contact,
): Pick<Lease, 'base'> & { readonly madeByUs: boolean } {
  const { base, contact } = lease;
  const madeByUs = isMadeByIntent(lease, theirs);
  if (contact.claim === null) return { base, madeByUs };
  return { base: resolveClaim(base, contact.claim, run.feed, theirs), madeByUs };
}

/** Commits the intents, durable. One answer for each key: one whose lease was lost is not to be created. */
export async function commitIntents(
  chunk: Chunk,
  keys: readonly Asking<'intend'>[],
): Promise<ReadonlyMap<StagedRecord, Answer>> {
  const { ledger, clock, limits } = chunk.parts;
  const intentAtMs = clock.monotonicMs();
  const horizonAtMs = intentAtMs + horizonMs(limits);
  const nowMs = await ledger.nowMs(clock);
  const held = new Set(
    await inStep('intend', () =>
      ledger.contacts.intend({
        contacts: keys.map(({ record, contents }) => ({
          ...ownedIfWritten(contents),
          claim: ofRun(record, claimOf(contents.input, contents.plan)),
          ...replaced(contents),
        })),
        owner: chunk.owner,
        runId: chunk.run.id,
        horizon: { atMs: nowMs + horizonMs(limits), spanMs: horizonMs(limits) },
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

/** A key that is still bound here is made again, since its contact is gone. */
function replaced({ lease: { contact } }: Asking<'intend'>['contents']): { readonly replaces?: string } {
  return contact.contactId === null ? {} : { replaces: contact.contactId };
}

interface ClaimedPatches {
  /** `Claimed.horizonAtMs`. */
  readonly horizonAtMs: number;
  /** Keys that are not claimed: another key is linked to their contact. */
  readonly refused: ReadonlySet<string>;
}

/** Enters what PATCHes, or deletions, are about to write. Several keys cost one commit. */
export async function claimPatches(
  chunk: Chunk,
  keys: readonly { readonly record: StagedRecord; readonly contents: Differs }[],
): Promise<ClaimedPatches> {
  const { ledger, clock, limits } = chunk.parts;
  const horizonAtMs = clock.monotonicMs() + updateHorizonMs(limits);
  const nowMs = await ledger.nowMs(clock);
  const refused = await inStep('claim', () =>
    ledger.contacts.claimItems({
      contacts: keys.map(({ record, contents }) => claimedContact(record, contents)),
      owner: chunk.owner,
      runId: chunk.run.id,
      atMs: clock.nowMs(),
      horizon: { atMs: nowMs + updateHorizonMs(limits), spanMs: updateHorizonMs(limits) },
    }),
  );
  return { horizonAtMs, refused: new Set(refused) };
}

/** The answer for a key whose PATCH was not claimed. */
export function linkTaken({ lease, theirs }: Differs): Answer {
  return { event: { kind: 'foundOtherKey' }, contents: { is: 'conflict', lease, ids: [theirs.id] } };
}

function ofRun({ runId }: StagedRecord, claim: Claim | null): Claim | null {
  return claim === null ? null : { ...claim, runId };
}

/** The claims of these patches are in the ledger; and what has landed of an earlier one, which they replace, is in the journal. */
export function asClaimed(contents: Differs, horizonAtMs: number): Claimed {
  const { lease } = contents;
  const { claim } = lease.contact;
  const contact = { ...lease.contact, claim: claim === null ? null : { ...claim, isTold: true as const } };
  return { ...contents, is: 'claimed', lease: { ...lease, contact }, horizonAtMs };
}

function claimedContact(record: StagedRecord, contents: Differs): ClaimedContact {
  const { feed, position } = record;
  const { lease, input, plan, madeByUs } = contents;
  const { claim } = lease.contact;
  const createdAs = madeByUs ? (claim?.source ?? null) : null;
  const link = isLinked(contents.theirs) ? { linkTo: contents.theirs.id } : {};
  const written = {
    ...ownedIfWritten(contents),
    position,
    claim: ofRun(record, claimOf(input, plan, createdAs)),
    ...link,
  };
  // The new claim replaces one that is resolved: what came of that must be remembered now.
  const isMoved = isKeyMoved(record, lease, contents.theirs);
  if (claim === null && !isMoved) return { ...written, resolved: null };
  const { agreed, stamps } = lease.base;
  const journal = claim === null ? null : journalOfClaim(claim, contents.theirs);
  const resolved = { agreed, stamps, saids: allMovedSaids(lease, feed), journal };
  return { ...written, ...(isMoved ? { movedTo: contents.theirs } : {}), resolved };
}

/** @throws what stops all work; nothing was sent then. */
export async function createContact(chunk: Chunk, { record, contents }: Asking<'create'>): Promise<Answer> {
  return await sendWrite(chunk, record, contents, (beforeSend) =>
    inStep('create', () => chunk.parts.workspace.createContact(contents.plan.body, { ...chunk.options, beforeSend })),
  );
}

/** @throws what stops all work; nothing was sent then. */
export async function changeContact(chunk: Chunk, record: StagedRecord, claimed: Claimed): Promise<Answer> {
  const { workspace } = chunk.parts;
  const { theirs, plan } = claimed;
  return await sendWrite(chunk, record, claimed, (beforeSend) => {
    const options = { ...chunk.options, beforeSend };
    return plan.kind === 'delete'
      ? inStep('patch', () => workspace.deleteContact(theirs.id, options))
      : inStep('patch', () => workspace.updateContact(theirs.id, plan.body, options));
  });
}

async function sendWrite(
  chunk: Chunk,
  record: StagedRecord,
  sent: Sendable,
  send: (beforeSend: () => void) => Promise<WriteResult | DeleteResult>,
): Promise<Answer> {
  const writing = keysBeingWritten(chunk.parts);
  const name = record.key;
  // The facts of a failure cost more than the check: they are put together for a failure only.
  if (writing.has(name)) invariant(false, 'two writes of one key at the same time', { key: keyHash(name) });
  writing.add(name);
  let result: WriteResult | DeleteResult;
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
  const known = writingOf.get(parts);
  if (known !== undefined) return known;
  const none = new Set<string>();
  writingOf.set(parts, none);
  return none;
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

function answerOf(chunk: Chunk, record: StagedRecord, sent: Sendable, result: WriteResult | DeleteResult): Answer {
  const { writeHealth } = chunk.parts;
  const { lease } = sent;
  switch (result.kind) {
    case 'done':
      writeHealth.succeeded();
      if ('contact' in result) return doneAnswer(chunk, record, sent, result.contact);
      return removedAnswer(sent);
    case 'notSent':
      if (result.rateLimited) return { event: { kind: 'rateLimited' }, contents: sent };
      // An error that concerns the API key, or this program, concerns all rows.
      if (result.error.kind !== 'unreachable' && result.error.kind !== 'transient') throw result.error;
      return { event: { kind: 'notSent' }, contents: sent };
    case 'refused':
    case 'unauthorized': {
      const { status, body } = result;
      const kind = result.kind === 'unauthorized' ? 'unauthorized' : refusalEvent(status, sent);
      if (kind === 'vanished' && sent.plan.kind === 'delete') return removedAnswer(sent);
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

function removedAnswer(sent: Sendable): Answer {
  if (sent.is !== 'claimed') throw mismatch('a deleted contact', sent);
  return { event: { kind: 'done', applied: true }, contents: { is: 'removed', lease: sent.lease, sent } };
}

function refusalEvent(status: number, sent: Sendable): 'taken' | 'vanished' | 'refused' {
  if (status === 409 && (sent.is === 'intended' || isLinked(sent.theirs))) return 'taken';
  return status === 404 && sent.is === 'claimed' ? 'vanished' : 'refused';
}

function doneAnswer(chunk: Chunk, record: StagedRecord, sent: Sendable, reply: Contact): Answer {
  const { expected } = sent.plan;
  invariant(expected !== null, 'a reply with a contact answers a write of one');
  const isAnother = reply.externalId !== expected.externalId || (sent.is === 'claimed' && sent.theirs.id !== reply.id);
  // A reply about another contact, or without what the interface promises, says nothing about what was written.
  if (isAnother || reply.missing !== undefined)
    return doubtAnswer(chunk, record, sent, { why: 'oddReply', status: null }, true);
  const { matches, differences, warnings } = verifyReply(expected, reply);
  const writtenAtMs = chunk.parts.clock.monotonicMs() + sent.lease.aheadMs;
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
