/**
 * Reads for keys at work: one look-up for many keys, one for a key alone, one contact by its id. Each returns the answer for
 * the machine, and what it brought.
 *
 * The contacts of a look-up are compared exactly, never taken because they came first (`facts.md`: a wrong filter answers
 * 200 with the contacts of others).
 */
import { isMadeBy, resolveClaim } from '#src/contacts/claim.ts';
import { matchByKey, sameContents } from '#src/contacts/reply.ts';
import { PatchbayError } from '#src/errors.ts';
import type { StagedRecord } from '#src/ledger/staging.ts';
import { inStep } from '#src/steps.ts';
import type { Contact } from '#src/wire/contact.ts';
import { isAboutOneContact, lookUpKeys } from '#src/workspace/look-up.ts';
import type { Chunk } from './chunk.ts';
import { type Answer, type Asking, type Contents, type Lease, planAbsent, planFound } from './key-work.ts';

/** One look-up for all. @throws what reads throw, unless it concerns one key alone. */
export async function readTogether(
  chunk: Chunk,
  keys: readonly Asking<'lookUp'>[],
): Promise<ReadonlyMap<StagedRecord, Answer>> {
  const wanted = keys.map(({ record }) => record.key);
  const found = await inStep('lookUp', () => lookUpKeys(chunk.parts.workspace, wanted, chunk.options));
  return new Map(
    keys.map(({ record, contents: { lease } }): [StagedRecord, Answer] => {
      const failure = found.failures.get(record.key);
      if (failure !== undefined) return [record, unreadable(lease, failure)];
      const answer = lookedUp(chunk, record, lease, found.contacts, found.readAtMs);
      // Planned even if the key is bound: the plan of a create is not used then.
      return [record, answer ?? { event: { kind: 'foundNone' }, contents: planAbsent(chunk, record, lease) }];
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
  const id = fetchedId(contents);
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
  if (contact === null) return { event: { kind: 'foundNone' }, contents };
  if (contact.id !== id || contact.missing !== undefined) {
    const what = contact.id === id ? `it lacks ${(contact.missing ?? []).join(', ')}` : 'it is another contact';
    return { event: { kind: 'foundOdd' }, contents: { is: 'odd', lease, id, what } };
  }
  if (contact.externalId !== record.key) {
    return { event: { kind: 'foundOtherKey' }, contents: { is: 'conflict', lease, ids: [id] } };
  }
  const { seen } = lease.contact;
  if (state.mayLag && seen !== null && !sameContents(seen, contact)) {
    return { event: { kind: 'foundStale' }, contents };
  }
  return found(chunk, record, lease, contact, readAtMs);
}

function fetchedId(contents: Asking<'fetch'>['contents']): string {
  if (contents.is === 'unclear') return contents.id;
  // The machine fetches only what is bound, where no read has shown a contact.
  return contents.is === 'claimed' ? contents.theirs.id : (contents.lease.contact.contactId ?? '');
}

/** The read fails for this key and succeeds for others. What the service refuses it will refuse again. */
function unreadable(lease: Lease, failure: PatchbayError): Answer {
  return {
    event: { kind: 'readFails', forGood: failure.kind !== 'unreachable' },
    contents: { is: 'unreadable', lease, failure },
  };
}

function found(chunk: Chunk, record: StagedRecord, lease: Lease, theirs: Contact, readAtMs: number): Answer {
  const { base, madeByUs } = recogniseOwnWrite(chunk, lease, theirs);
  const contents: Contents = planFound(chunk, record, { ...lease, base }, { theirs, readAtMs, madeByUs });
  return { event: { kind: 'found', plan: contents.is === 'differs' ? 'patch' : 'same' }, contents };
}

/** After a write in doubt: what of it has landed is Patchbay's, and only what differs from that was changed by people. */
function recogniseOwnWrite(
  { run }: Chunk,
  { base, contact: { state, claim } }: Lease,
  theirs: Contact,
): Pick<Lease, 'base'> & { readonly madeByUs: boolean } {
  // An intent of an older version has no claim: the contact counts as Patchbay's, and its values as anybody's.
  if (claim === null) return { base, madeByUs: state === 'intent' };
  const madeByUs = state === 'intent' && isMadeBy(claim, theirs);
  return { base: resolveClaim(base, claim, run.feed, theirs), madeByUs };
}
