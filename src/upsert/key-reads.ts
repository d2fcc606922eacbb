/**
 * Reads for keys at work: one look-up for many, one for a key alone, one contact by its id; and what they mean.
 *
 * What a look-up returns is compared exactly, never taken because it came first (`facts.md`: a wrong filter answers 200
 * with strangers).
 */
import { isMadeBy, resolveClaim } from '#src/contacts/claim.ts';
import { matchByKey, sameContents } from '#src/contacts/reply.ts';
import { PatchbayError } from '#src/errors.ts';
import { inStep } from '#src/steps.ts';
import type { Contact } from '#src/wire/contact.ts';
import { isAboutOneContact, lookUpKeys } from '#src/workspace/look-up.ts';
import type { Chunk } from './chunk.ts';
import type { KeyEvent } from './key-machine.ts';
import { type KeyWork, planKey, plannedOf } from './key-work.ts';

/** One look-up for all. Answers each key with its event. @throws what reads throw, where it is not about one key. */
export async function readTogether(chunk: Chunk, keys: readonly KeyWork[]): Promise<ReadonlyMap<KeyWork, KeyEvent>> {
  const wanted = keys.map((key) => key.record.key);
  const found = await inStep('lookUp', () => lookUpKeys(chunk.parts.workspace, wanted, chunk.options));
  return new Map(
    keys.map((key): [KeyWork, KeyEvent] => {
      const failure = found.failures.get(key.record.key);
      return [key, failure === undefined ? eventOf(chunk, key, found.contacts, found.readAtMs) : failed(key, failure)];
    }),
  );
}

/** A look-up in the middle: after a create that was refused as taken, an update that met no contact, a refused key. */
export async function lookUpAlone(chunk: Chunk, key: KeyWork): Promise<KeyEvent> {
  const { contacts, readAtMs, failures } = await inStep('lookUp', () =>
    lookUpKeys(chunk.parts.workspace, [key.record.key], chunk.options),
  );
  if (key.state.phase === 'checkingKey') return { kind: 'keyWorks' };
  const failure = failures.get(key.record.key);
  if (failure !== undefined) return failed(key, failure);
  // Lists may still show the contact that an update has just missed.
  const vanishedId = key.state.phase === 'vanished' ? plannedOf(key).input.theirs?.id : undefined;
  const others = contacts.filter((contact) => contact.id !== vanishedId);
  return eventOf(chunk, key, others, readAtMs);
}

/** The bound contact by its id: no list shows it, or its read grew old in the line. */
export async function fetchContact(chunk: Chunk, key: KeyWork): Promise<KeyEvent> {
  const { workspace, clock } = chunk.parts;
  const id =
    (key.state.phase === 'refreshing' ? plannedOf(key).input.theirs?.id : (key.fetchId ?? key.contact.contactId)) ?? '';
  let readAtMs = clock.monotonicMs();
  const beforeSend = (): void => {
    readAtMs = clock.monotonicMs();
  };
  let contact: Contact | null;
  try {
    contact = await inStep('get', () => workspace.getContact(id, { ...chunk.options, beforeSend }));
  } catch (error) {
    if (!(error instanceof PatchbayError && (await isAboutOneContact(workspace, error, chunk.options)))) throw error;
    return failed(key, error);
  }
  if (contact === null) return { kind: 'foundNone' };
  if (contact.id !== id || contact.missing !== undefined) {
    const what = contact.id === id ? `it lacks ${(contact.missing ?? []).join(', ')}` : 'it is another contact';
    key.answer = { kind: 'odd', id, what };
    return { kind: 'foundOdd' };
  }
  if (contact.externalId !== key.record.key) {
    key.answer = { kind: 'ids', ids: [id] };
    return { kind: 'foundOtherKey' };
  }
  const { seen } = key.contact;
  if (key.state.mayLag && seen !== null && !sameContents(seen, contact)) return { kind: 'foundStale' };
  return foundEvent(chunk, key, contact, readAtMs);
}

/** The read fails for this key, and passes for others. What the service refuses it will refuse again. */
function failed(key: KeyWork, failure: PatchbayError): KeyEvent {
  key.answer = { kind: 'failure', failure };
  return { kind: 'readFails', forGood: failure.kind !== 'unreachable' };
}

function eventOf(chunk: Chunk, key: KeyWork, contacts: readonly Contact[], readAtMs: number): KeyEvent {
  const match = matchByKey(key.record.key, contacts);
  switch (match.kind) {
    case 'conflict':
      key.answer = { kind: 'ids', ids: match.ids };
      return { kind: 'foundSeveral' };
    case 'one':
      if (match.contact.missing === undefined) return foundEvent(chunk, key, match.contact, readAtMs);
      key.fetchId = match.contact.id;
      return { kind: 'foundOdd' };
    case 'none':
      // Also where the key is bound: what would be created is not looked at then.
      if (key.state.phase === 'lookingUp') planKey(chunk, key, null, readAtMs);
      return { kind: 'foundNone' };
  }
}

function foundEvent(chunk: Chunk, key: KeyWork, contact: Contact, readAtMs: number): KeyEvent {
  key.answer = { kind: 'contact', contact, warnings: [], differences: [] };
  recogniseOwnWrite(chunk, key, contact);
  const { plan } = planKey(chunk, key, contact, readAtMs);
  return { kind: 'found', plan: plan.kind === 'patch' ? 'patch' : 'same' };
}

/** A write of ours that was in doubt: what of it has landed is ours, and only what differs from that is people's. */
function recogniseOwnWrite(chunk: Chunk, key: KeyWork, contact: Contact): void {
  const { state, claim } = key.contact;
  if (claim === null) {
    // An intent of an older version, which kept nothing: the contact passes for ours, and its values for anybody's.
    key.madeByUs = state === 'intent';
    return;
  }
  key.madeByUs = state === 'intent' && isMadeBy(claim, contact);
  key.base = resolveClaim(key.base, claim, chunk.run.feed, contact);
}
