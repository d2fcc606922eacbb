/**
 * What an end of the machine means for the row: its outcome, both halves of the base, and the words of a dead letter.
 */
import type { Said } from '#src/contacts/base.ts';
import {
  claimOf,
  journalOfClaim,
  journalOfOwners,
  journalOfReply,
  labelIn,
  resolveClaim,
} from '#src/contacts/claim.ts';
import { isOfNoRow, partOf, type UndoOrder } from '#src/contacts/desired.ts';
import { itemOf } from '#src/contacts/items.ts';
import type { DeadClass, JournalEntry, WriteWarning } from '#src/contacts/outcome.ts';
import { type CreatePlan, isLinked, type PatchPlan, type Plan } from '#src/contacts/plan.ts';
import { quotedCell } from '#src/contacts/quoted-cell.ts';
import type { ReplyDifference } from '#src/contacts/reply.ts';
import { nextOwnership, type Settled, type SettleInput, settle } from '#src/contacts/settle.ts';
import { labelLeft, settleUndo } from '#src/contacts/undo.ts';
import { invariant, type PatchbayError, unreachable } from '#src/errors.ts';
import type { RecordEnd, ServiceAnswer, SettledRecord, StagedRecord } from '#src/ledger/staging.ts';
import type { Contact } from '#src/wire/contact.ts';
import type { Chunk } from './chunk.ts';
import { baseOfMade, isKeyMoved, isLinkedInPlace, isLinkOf } from './in-place.ts';
import type { KeyEnd } from './key-machine.ts';
import {
  allMovedSaids,
  type Contents,
  type Lease,
  mismatch,
  movedSaids,
  type Refusal,
  type Refused,
  type Same,
  type Sendable,
  type Written,
} from './key-work.ts';
import { type RefusedMember, refusedMember } from './refused-member.ts';

type Ended = Pick<SettledRecord, 'end' | 'bound' | 'said' | 'others' | 'afterDoubt' | 'journal'>;

/**
 * The end by the plan that the run carries out: a contact that it showed, and that is not there any more, has moved like one that
 * was edited. A write of this run that was sent before was part of the plan.
 */
export function endByPlan({ planned }: Pick<Chunk, 'planned'>, { key, sent }: StagedRecord, as: KeyEnd): KeyEnd {
  const isWithoutContact = as === 'gone' || as === 'notSelected';
  return isWithoutContact && !sent && planned?.has(key) === true ? 'moved' : as;
}

/** The end that the machine has decided, with all that the ledger is to keep of it. */
export function endOf(record: StagedRecord, as: KeyEnd, contents: Contents): SettledRecord {
  const { position, line, key, sequence, desired } = record;
  const part = partOf(desired);
  const whole = part === null ? { says: desired } : { part };
  return { position, line, key, sequence, ...whole, ...endedAs(record, as, contents) };
}

/** @throws PatchbayError `bug` `invariant`: the contents are not those of this end. */
function endedAs(record: StagedRecord, as: KeyEnd, contents: Contents): Ended {
  switch (as) {
    case 'gone':
      // A deletion in doubt has landed, or people have deleted the contact.
      if (record.desired.undo?.deletes === true && record.sent && contents.is !== 'begun')
        return removed(contents.lease, record.desired.undo);
      return { end: { outcome: 'skipped', reason: as }, bound: null, said: null, others: [] };
    case 'deleted':
      if (contents.is === 'removed' && record.desired.undo !== undefined)
        return removed(contents.lease, record.desired.undo);
      break;
    case 'superseded':
    case 'moved':
    case 'notSelected':
      return { end: { outcome: 'skipped', reason: as }, bound: null, said: null, others: [] };
    case 'unchanged':
      if (contents.is === 'same') return unchanged(record, contents);
      break;
    case 'created':
    case 'updated':
      if (contents.is === 'written') return written(record, contents);
      break;
    case 'notApplied':
      if (contents.is === 'written')
        return { ...dead(record, notAppliedDeath(contents.differences)), ...partlyWritten(record, contents) };
      break;
    case 'refused':
      if (contents.is === 'refused')
        return { ...dead(record, refusedDeath(contents, record)), ...unwritten(record, contents) };
      break;
    case 'keyTaken':
      if (contents.is === 'refused') return dead(record, keyTakenDeath(contents.refusal));
      break;
    case 'twoContacts':
      if (contents.is === 'conflict') return dead(record, twoContactsDeath(contents.ids));
      break;
    case 'linkUnclear':
      return dead(record, linkUnclearDeath);
    case 'linkGone':
      return dead(record, linkGoneDeath);
    case 'linkTaken':
      if (contents.is === 'conflict') return dead(record, linkTakenDeath(contents.ids));
      break;
    case 'keyMoved':
      // Of a person who left: there is nothing to correct in a file, and nothing to clear or tag under the key.
      if (isOfMissing(record))
        return { end: { outcome: 'skipped', reason: 'gone' }, bound: null, said: null, others: [] };
      if (contents.is === 'conflict') return dead(record, keyMovedDeath(contents.ids));
      break;
    case 'oddReply':
      if (contents.is === 'odd') return dead(record, oddReplyDeath(contents.id, contents.what));
      break;
    case 'lookUpFails':
      if (contents.is === 'unreadable') return dead(record, lookUpFailsDeath(contents.failure));
      break;
    case 'doubt':
      // Doubts of creates are counted with the key, since another run may continue them; those of updates with the row.
      if (contents.is === 'absent') return dead(record, doubtDeath(contents.lease.contact.attempts));
      // The machine's `vanished`.
      if (contents.is !== 'doubted') return dead(record, shownAndGoneDeath);
      return dead(record, doubtDeath(record.attempts + 1));
    default:
      return unreachable(as);
  }
  throw mismatch(as, contents);
}

/** Whether the contact is to be cleared or tagged, since the newest full file of its feed lacks its person. */
function isOfMissing({ line, desired }: StagedRecord): boolean {
  return line === 0 && partOf(desired) === null;
}

function unchanged(record: StagedRecord, { lease, input, plan, theirs, madeByUs }: Same): Ended {
  const { said, others, ...bound } = settled(record, { ...input, plan, reply: theirs });
  const adopted = !madeByUs && isNewlyBound(record, lease, theirs);
  // A contact that an intent of Patchbay's made counts as created, whenever it is found. One that is adopted counts as
  // updated, and so does one that an update of Patchbay's may have changed before its answer was lost. A deletion of a contact
  // that is still there has not landed.
  const { undo } = record.desired;
  const isThere = undo?.deletes === true && undo.contactId === theirs.id;
  const outcome = madeByUs ? 'created' : adopted || (record.sent && !isThere) ? 'updated' : 'unchanged';
  const { claim } = lease.contact;
  const landed = claim === null ? null : journalOfClaim(claim, theirs);
  const owners = journalOfOwners(plan, theirs);
  const journal = [landed, owners].flatMap((entry) => entry ?? []);
  // Another feed has decided since about all that was left of the row.
  const isOvertaken = outcome === 'unchanged' && plan.passed.length > 0 && plan.held.length === 0;
  return {
    end: isOvertaken
      ? { outcome: 'skipped', reason: 'superseded' }
      : { ...success(outcome, adopted, plan, []), ...linkedEnd(record, lease, adopted, theirs) },
    // An undo binds no key to a contact that nothing is known of.
    bound:
      undo !== undefined && isKeyMoved(record, lease, theirs)
        ? null
        : { contactId: theirs.id, ...bound, writtenAtMs: null },
    said: saidOf(record, said, plan, isKeyMoved(record, lease, theirs)),
    others: movedSaids(lease, others, false),
    ...(lease.contact.state === 'intent' ? { afterDoubt: 'adopted' } : {}),
    ...(journal.length === 0 ? {} : { journal }),
  };
}

/** Nothing else that is known of the key changes: its contact stays gone, and its feed goes on from what it said. */
function removed({ contact }: Lease, { contactId, changes, source }: UndoOrder): Ended {
  const left = changes.filter(({ left: value, isLabel }) => value !== null && !isLabel);
  const entry: JournalEntry = {
    runId: null,
    contactId,
    kind: 'delete',
    changes: left.map(({ field, left: from }) => ({
      ...{ field, from, to: null },
      ...(itemOf(field) === null
        ? { why: 'cleared' as const }
        : { why: 'removed' as const, label: labelLeft(changes, field) ?? labelIn(contact.seen, field) }),
    })),
    source: source ?? contact.seen?.source ?? null,
  };
  return {
    end: { ...nothingToTell, outcome: 'updated', deleted: true },
    bound: null,
    said: null,
    others: [],
    journal: [entry],
  };
}

const nothingToTell = { adopted: false, heldFields: [], removedValues: 0, warnings: [] };

/** What is remembered from now on. */
function settled(record: StagedRecord, input: SettleInput): Settled {
  if (record.desired.undo === undefined) return settle(input);
  // No feed has said anything by an undo: a contact that is made again is the one that they spoke of.
  return input.plan.kind === 'create' ? { ...settle(input), others: [] } : settleUndo(input);
}

function written(record: StagedRecord, { lease, sent, reply, warnings, writtenAtMs }: Written): Ended {
  const { input, plan } = sent;
  const { said, others, ...bound } = settled(record, { ...input, plan, reply });
  const isCreate = sent.is === 'intended';
  const madeByUs = isCreate || sent.madeByUs;
  const isMoved = sent.is === 'claimed' && isKeyMoved(record, lease, sent.theirs);
  // One to which the key has moved was counted with its claim.
  const adopted = sent.is === 'claimed' && !madeByUs && !isMoved && isNewlyBound(record, lease, sent.theirs);
  const isLink = sent.is === 'claimed' ? linkedEnd(record, lease, adopted, sent.theirs) : {};
  const end = { ...success(madeByUs ? 'created' : 'updated', adopted, plan, warnings), ...isLink };
  return {
    end: isCreate ? end : { ...end, changedFields: plan.reasons.map((change) => change.field) },
    bound: { contactId: reply.id, ...bound, writtenAtMs },
    said: saidOf(record, said, plan, isMoved),
    others: movedSaids(lease, others, isCreate),
    ...(lease.contact.state === 'intent' ? { afterDoubt: isCreate ? 'created' : 'adopted' } : {}),
    journal: [journalOfReply(input, writtenPlan(plan), reply)],
  };
}

/** That of a write which is answered with a contact. */
function writtenPlan(plan: Sendable['plan']): CreatePlan | PatchPlan {
  invariant(plan.kind !== 'delete', 'a deletion is answered with no contact');
  return plan;
}

type Success = Extract<RecordEnd, { readonly outcome: 'created' | 'updated' | 'unchanged' }>;

function success(
  outcome: Success['outcome'],
  adopted: boolean,
  plan: Plan,
  warnings: readonly WriteWarning[],
): Success {
  return {
    outcome,
    adopted,
    heldFields: plan.held,
    removedValues: plan.removals,
    warnings: [...plan.notes, ...warnings],
  };
}

/** To a contact that Patchbay has not made. */
function isNewlyBound(record: StagedRecord, lease: Lease, theirs: Contact): boolean {
  if (record.desired.undo === undefined && isKeyMoved(record, lease, theirs)) return true;
  return lease.contact.contactId === null || isLinkedInPlace(record, lease, theirs);
}

/** Counts once: when the key is bound. */
function linkedEnd(record: StagedRecord, lease: Lease, adopted: boolean, theirs: Contact): Pick<Success, 'linked'> {
  return adopted && isLinkOf(record, lease, theirs) ? { linked: true } : {};
}

/**
 * Null for an undo: it moves nothing that a file has said, so that the same file says nothing new.
 * @param isOther the key has moved: where that is not met by a whole row, the next one is looked at, whatever it says.
 */
function saidOf(record: StagedRecord, said: Said, { held }: Plan, isOther: boolean): Ended['said'] {
  if (record.desired.undo !== undefined) return null;
  const { mappingVersion, desired } = record;
  const looksAgain = isOther && partOf(desired) !== null;
  const { rowHash, fingerprint } = looksAgain ? { rowHash: null, fingerprint: null } : record;
  const taken = new Map(desired.taken?.map((one) => [one.field, one]));
  return { said, rowHash, fingerprint, mappingVersion, held: held.map((one) => ({ ...one, ...taken.get(one.field) })) };
}

function dead(record: StagedRecord, death: Death): Ended {
  const { line, key, row, letterId, desired } = record;
  const { code, message, hint, field = null, value = null, answer = null } = death;
  const problem = { code, line, field, value, message, hint };
  const letter = letterId === undefined ? {} : { letterId };
  const deadRow = { class: death.class, code, line, key, problems: [problem], row, ...letter, desired, answer };
  return { end: { outcome: 'dead', dead: deadRow }, bound: null, said: null, others: [] };
}

/** An update was refused, and nothing of it landed: what was claimed for it has no owner again. */
function unwritten({ feed }: StagedRecord, { lease, sent }: Refused): Partial<Ended> {
  // A contact that refused the key is not the key's.
  if (sent.is === 'intended' || isLinked(sent.theirs)) return {};
  const { seen, owned, agreed, stamps } = lease.base;
  const { theirs } = sent;
  const bound = { contactId: theirs.id, seen: seen ?? theirs, owned, agreed, stamps, writtenAtMs: null };
  return { bound, others: allMovedSaids(lease, feed) };
}

/** What has landed of the write is agreed, and stays the feed's own; the rest is still to be done. */
function partlyWritten(record: StagedRecord, { lease, sent, reply, writtenAtMs }: Written): Partial<Ended> {
  const { plan, input } = sent;
  const claim = claimOf(input, plan);
  const before = sent.is === 'intended' ? baseOfMade(lease, record) : lease.base;
  const base = claim === null ? before : resolveClaim(before, claim, input.feed, reply);
  const owned = nextOwnership(base.owned, plan.written, reply);
  const bound = { contactId: reply.id, ...base, seen: reply, owned, writtenAtMs };
  return {
    bound,
    others: allMovedSaids({ ...lease, base }, record.feed),
    journal: [journalOfReply(input, writtenPlan(plan), reply)],
  };
}

/** Why a row was rejected, in the words of its dead letter: what happened, and what to do next. */
interface Death {
  readonly class: DeadClass;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly field?: string | null;
  readonly value?: string | null;
  readonly answer?: ServiceAnswer | null;
}

function answerOf({ status, body }: Refusal): ServiceAnswer {
  return { status, code: body.code, title: body.title, message: body.message, trace: body.trace };
}

/** 400, 404, 422…, and 401 or 403 about one contact: the same request would be refused again. */
function refusedDeath({ refusal, sent }: Refused, { line, desired }: StagedRecord): Death {
  const { status, body } = refusal;
  const words = [body.title, body.message].filter((text) => text !== null).join(': ');
  const [path] = body.paths;
  const member = path === undefined ? null : refusedMember(path, sent.plan.body);
  const says = body.message ?? body.title;
  return {
    class: 'refused',
    code: body.title === 'Invalid Custom Field Item' ? 'customFieldRefused' : `refused${status}`,
    ...member,
    message: `the service refused the contact with ${status}${words === '' ? '' : `: ${inField(words, path, member)}`}`,
    // The key itself works: a look-up has passed since.
    hint:
      status === 401 || status === 403
        ? 'Nothing is wrong with the row: the API key reads contacts, and may not write this one. Give it that right in the workspace, then retry the dead letter.'
        : isOfNoRow(line, desired)
          ? 'The fix-file cannot correct this. Change the contact in the workspace and drop the dead letter; or, once the service takes it, retry the dead letter.'
          : `Correct the row as the service says${says === null ? '' : ` (${quotedCell(inField(says, path, member), wordsMax)})`}, and drop the fix-file in again.`,
    answer: answerOf(refusal),
  };
}

/** Of the service's words: they may repeat what was sent, as a quoted cell does. */
const wordsMax = 200;

/** Rows have a custom field in different places of their bodies, and a person knows its name. */
function inField(words: string, path: string | undefined, member: RefusedMember | null): string {
  return path === undefined || member === null ? words : words.replaceAll(path, () => member.field);
}

function twoContactsDeath(ids: readonly string[]): Death {
  return {
    class: 'conflict',
    code: 'twoContacts',
    message: `the workspace holds ${ids.length} contacts with this externalId: ${ids.join(', ')}`,
    hint: 'Merge or delete all but one of them in the workspace, then retry the dead letter.',
  };
}

function keyMovedDeath([contactId]: readonly string[]): Death {
  return {
    class: 'conflict',
    code: 'keyMoved',
    message: `contact ${contactId} had this externalId and has another one now`,
    hint: 'Give the contact its externalId back in the workspace, then retry the dead letter.',
  };
}

/** The row may be one of several contacts without an externalId: none was taken, and none made. */
const linkUnclearDeath: Death = {
  class: 'conflict',
  code: 'linkUnclear',
  message:
    'the workspace may hold this contact already, without an externalId: it shares a phone number or an e-mail address with several contacts or rows',
  hint: 'Merge the contacts in the workspace, or remove the row. To decide again, retry the dead letter: the run stops if the contact may still be there, and can create it.',
};

const linkGoneDeath: Death = {
  class: 'conflict',
  code: 'linkGone',
  message: 'the contact that the row was to be linked to is no longer in the workspace',
  hint: 'If it was deleted on purpose, remove the row. Otherwise retry the dead letter: a new contact is created.',
};

function linkTakenDeath([contactId]: readonly string[]): Death {
  return {
    class: 'conflict',
    code: 'linkTaken',
    message: `contact ${contactId}, which the row was to be linked to, has another externalId by now`,
    hint: 'Two files may hold this person: remove the row from one of them. Otherwise retry the dead letter: a contact of its own is created.',
  };
}

/** 409 for a key that no look-up finds. */
function keyTakenDeath(refusal: Refusal): Death {
  return {
    class: 'conflict',
    code: 'keyTaken',
    message: 'the service reports that the externalId is taken, but lists no contact with it',
    hint: 'Look for the contact in the workspace (it may have been deleted, or belong to another source), then retry the dead letter.',
    answer: answerOf(refusal),
  };
}

const doubtHint =
  'Check the contact in the workspace, then retry the dead letter: the contact is looked up before anything is written.';

function doubtDeath(attempts: number): Death {
  const [writes, they] = attempts === 1 ? ['1 write', 'it'] : [`${attempts} writes`, 'they'];
  const message = `${writes} of this contact ended without an answer, so it is unknown whether ${they} landed`;
  return { class: 'doubt', code: 'doubt', message, hint: doubtHint };
}

const shownAndGoneDeath: Death = {
  class: 'doubt',
  code: 'doubt',
  message:
    'each look-up shows a contact with this externalId, and each write to it was answered with 404 (there is no such contact)',
  hint: doubtHint,
};

/** The look-up of this one key keeps failing, while those of others succeed. */
function lookUpFailsDeath(failure: PatchbayError): Death {
  return {
    class: 'exhausted',
    code: 'lookUpFails',
    message: `the service answers for other externalIds, but not for this one: ${failure.message}`,
    hint: 'Check the contact in the workspace, then retry the dead letter.',
  };
}

/** Neither the list nor the contact itself shows all that the interface promises. */
function oddReplyDeath(id: string, what: string): Death {
  return {
    class: 'exhausted',
    code: 'oddReply',
    message: `the service's answer for contact ${id.toWellFormed()} is not this contact as the interface describes it: ${what}`,
    hint: 'Nothing was written, since values could be lost. Check the contact in the workspace, then retry the dead letter.',
  };
}

/** The service accepted the write and holds something else: never a success (`docs/facts.md`, what goes wrong, 9). */
function notAppliedDeath(differences: readonly ReplyDifference[]): Death {
  const fields = differences.map((difference) => difference.field.replace(/:.*$/, ''));
  return {
    class: 'notApplied',
    code: 'notApplied',
    field: fields[0] ?? null,
    message: `the service accepted the contact, but its reply differs from what was sent: ${[...new Set(fields)].join(', ')}`,
    hint: 'Check the contact in the workspace: another tool may write to it, or the service may change such values.',
  };
}
