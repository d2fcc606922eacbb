/**
 * Looks up the keys of a chunk and plans each contact from what it finds.
 *
 * A look-up after the lease may prove absence; what it returns is compared exactly, never taken because it came first
 * (`facts.md`: a wrong filter answers 200 with strangers).
 */
import { matchByKey } from '#src/contacts/match-key.ts';
import { planContact } from '#src/contacts/plan.ts';
import { verifyReply } from '#src/contacts/verify-reply.ts';
import { PatchbayError } from '#src/errors.ts';
import type { Contact } from '#src/wire/contact.ts';
import { lookUpChunks } from '#src/workspace/look-up-chunks.ts';
import type { CallOptions } from '#src/workspace/port.ts';
import { type Chunk, endDead, endSkipped, endWell, type LeasedRecord, type PlannedRecord, planInput } from './chunk.ts';
import type { UpsertParts } from './parts.ts';
import { doubtDeath, exhaustedDeath } from './service-answer.ts';

interface FoundContacts {
  /** Keys whose look-up fails by itself, while that of others passes. */
  readonly failures: ReadonlyMap<string, PatchbayError>;
  readonly contacts: readonly Contact[];
  readonly readAtMs: number;
}

/** Ends what needs no write; answers the rest with a plan to create or to patch. */
export async function lookUpAndPlan(
  parts: UpsertParts,
  chunk: Chunk,
  leased: readonly LeasedRecord[],
  options: CallOptions,
): Promise<readonly PlannedRecord[]> {
  const found = await lookUp(
    parts,
    leased.map((one) => one.record.key),
    options,
  );
  const planned: PlannedRecord[] = [];
  for (const one of leased) {
    const failure = found.failures.get(one.record.key);
    if (failure !== undefined) {
      endDead(chunk, one.record, exhaustedDeath(failure));
      continue;
    }
    const record = await planOne(parts, chunk, one, found, options);
    if (record !== null) planned.push(record);
  }
  return planned;
}

async function lookUp(parts: UpsertParts, keys: readonly string[], options: CallOptions): Promise<FoundContacts> {
  const wanted = new Set(keys);
  const contacts: Contact[] = [];
  let readAtMs = Number.POSITIVE_INFINITY;
  const failures = new Map<string, PatchbayError>();
  const take = async (piece: readonly string[]): Promise<void> => {
    const result = await parts.workspace.listByExternalIds(piece, options);
    contacts.push(...result.contacts);
    readAtMs = Math.min(readAtMs, result.readAtMs);
  };
  for (const piece of lookUpChunks(keys)) {
    try {
      await take(piece);
    } catch (error) {
      const [only] = piece;
      if (!isAboutTheAnswer(error) || only === undefined) throw error;
      if (piece.length > 1) await lookUpOneByOne(piece, take, failures);
      else if (error.kind === 'rejected') failures.set(only, error);
      else throw error;
    }
  }
  const strangers = contacts.filter((contact) => contact.externalId === null || !wanted.has(contact.externalId)).length;
  if (strangers > 0 && strangers === contacts.length) {
    throw new PatchbayError(
      'unreachable',
      'strangersReturned',
      'the service answered a look-up by externalId with nothing but other contacts: it seems to ignore the filter',
      { facts: { strangers, keys: keys.length } },
    );
  }
  return { contacts, readAtMs, failures };
}

/** The service answers, and what it answers is of no use: perhaps because of one key only. */
function isAboutTheAnswer(error: unknown): error is PatchbayError {
  if (!(error instanceof PatchbayError)) return false;
  return error.kind === 'rejected' || error.code === 'serviceFailing' || error.code === 'serviceAnswersOddly';
}

/** So many keys in a row that fail while none has passed mean that it is the service. */
const failuresInARowMax = 3;

/**
 * Finds the keys that spoil a look-up for all others (`rules.md`, "Retries, rate, outages": `exhausted` kills a row only while
 * other requests succeed).
 * @throws the first failure, where none of the keys passes.
 */
async function lookUpOneByOne(
  keys: readonly string[],
  take: (piece: readonly string[]) => Promise<void>,
  failures: Map<string, PatchbayError>,
): Promise<void> {
  let passed = 0;
  let first: PatchbayError | null = null;
  for (const key of keys) {
    try {
      await take([key]);
      passed += 1;
    } catch (error) {
      if (!isAboutTheAnswer(error)) throw error;
      first ??= error;
      failures.set(key, error);
      if (passed === 0 && failures.size >= failuresInARowMax) break;
    }
  }
  if (passed === 0 && first !== null) throw first;
}

async function planOne(
  parts: UpsertParts,
  chunk: Chunk,
  leased: LeasedRecord,
  found: FoundContacts,
  options: CallOptions,
): Promise<PlannedRecord | null> {
  const { record, contact } = leased;
  const match = matchByKey(record.key, found.contacts);
  switch (match.kind) {
    case 'conflict':
      endDead(chunk, record, {
        class: 'conflict',
        code: 'twoContacts',
        message: `the workspace holds ${match.ids.length} contacts with this externalId: ${match.ids.join(', ')}`,
        hint: 'Merge or delete all but one of them in the workspace, then retry the dead letter.',
      });
      return null;
    case 'one':
      if (contact.state === 'intent' && endOwnCreate(parts, chunk, leased, match.contact, found.readAtMs)) return null;
      return planFrom(parts, chunk, leased, match.contact, found.readAtMs);
    case 'none':
      if (contact.contactId !== null) return planMissing(parts, chunk, leased, contact.contactId, options);
      if (contact.attempts >= parts.limits.attemptsMax) {
        endDead(chunk, record, doubtDeath(contact.attempts));
        return null;
      }
      return planFrom(parts, chunk, leased, null, found.readAtMs);
  }
}

/**
 * Our own create landed unseen. Where the contact is what the create wanted, it is settled as if its reply had come:
 * what it holds is then the feed's own.
 */
function endOwnCreate(
  parts: UpsertParts,
  chunk: Chunk,
  leased: LeasedRecord,
  found: Contact,
  readAtMs: number,
): boolean {
  const created = planFrom(parts, chunk, leased, null, readAtMs);
  if (created.plan.kind !== 'create' || !verifyReply(created.plan.expected, found).matches) return false;
  endWell(chunk, created, 'created', found, []);
  return true;
}

/** The contact is bound, and no list shows it: it may be late in the list, or renamed, or gone. */
async function planMissing(
  parts: UpsertParts,
  chunk: Chunk,
  leased: LeasedRecord,
  contactId: string,
  options: CallOptions,
): Promise<PlannedRecord | null> {
  const { record } = leased;
  let readAtMs = parts.clock.monotonicMs();
  const contact = await parts.workspace.getContact(contactId, {
    ...options,
    beforeSend: () => {
      readAtMs = parts.clock.monotonicMs();
    },
  });
  if (contact === null) {
    endSkipped(chunk, record, 'gone');
    return null;
  }
  if (contact.externalId === record.key) return planFrom(parts, chunk, leased, contact, readAtMs);
  endDead(chunk, record, {
    class: 'conflict',
    code: 'keyMoved',
    message: `contact ${contactId} was bound to this externalId and carries another one now`,
    hint: 'Give the contact its externalId back in the workspace, or delete it, then retry the dead letter.',
  });
  return null;
}

export function planFrom(
  parts: UpsertParts,
  chunk: Chunk,
  leased: LeasedRecord,
  theirs: Contact | null,
  readAtMs: number,
): PlannedRecord {
  const input = planInput(parts, chunk, leased, theirs);
  return { ...leased, input, plan: planContact(input), readAtMs };
}
