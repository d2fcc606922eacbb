/**
 * What an end of the machine means for the row: outcome, both halves of the base, the words of a dead letter.
 */
import { claimOf, resolveClaim } from '#src/contacts/claim.ts';
import type { DeadClass } from '#src/contacts/outcome.ts';
import type { ReplyDifference } from '#src/contacts/reply.ts';
import { nextOwnership, settle } from '#src/contacts/settle.ts';
import { invariant, type PatchbayError, unreachable } from '#src/errors.ts';
import type { RecordEnd, ServiceAnswer, SettledRecord } from '#src/ledger/staging.ts';
import type { Contact } from '#src/wire/contact.ts';
import type { ServiceErrorBody } from '#src/wire/error.ts';
import type { Chunk } from './chunk.ts';
import type { KeyEnd } from './key-machine.ts';
import { type Answer, allMovedSaids, type KeyWork, movedSaids, plannedOf } from './key-work.ts';

export function endKey(chunk: Chunk, key: KeyWork, as: KeyEnd): void {
  const ended = endOf(key, as);
  const { position, line, key: name, sequence } = key.record;
  chunk.ends.push({ position, line, key: name, sequence, ...ended });
}

type Ended = Pick<SettledRecord, 'end' | 'bound' | 'said' | 'others' | 'afterDoubt'>;

function endOf(key: KeyWork, as: KeyEnd): Ended {
  switch (as) {
    case 'created':
    case 'updated':
    case 'unchanged':
      return well(key, as);
    case 'gone':
    case 'superseded':
      return { end: { outcome: 'skipped', reason: as }, bound: null, said: null, others: [] };
    case 'twoContacts':
      return dead(key, twoContactsDeath(answered(key, 'ids').ids));
    case 'keyMoved':
      return dead(key, keyMovedDeath(answered(key, 'ids').ids));
    case 'keyTaken':
      return dead(key, keyTakenDeath(answered(key, 'refusal')));
    case 'refused':
      return { ...dead(key, refusedDeath(answered(key, 'refusal'))), ...unwritten(key) };
    case 'notApplied':
      return { ...dead(key, notAppliedDeath(answered(key, 'contact').differences)), ...partlyWritten(key) };
    case 'oddReply': {
      const { id, what } = answered(key, 'odd');
      return dead(key, oddReplyDeath(id, what));
    }
    case 'doubt':
      return dead(key, doubtDeath(doubtsOf(key)));
    case 'lookUpFails':
      return dead(key, lookUpFailsDeath(answered(key, 'failure').failure));
    default:
      return unreachable(as);
  }
}

function answered<Kind extends Answer['kind']>(key: KeyWork, kind: Kind): Extract<Answer, { kind: Kind }> {
  const { answer } = key;
  invariant(answer.kind === kind, 'an end has its answer', { wanted: kind, answer: answer.kind });
  // The line above has compared the kinds, which the compiler cannot follow through a type parameter.
  return answer as Extract<Answer, { kind: Kind }>;
}

/** The doubts of an update are counted with its row, those of creates with the key: another run may go on with them. */
function doubtsOf({ contact, record, planned }: KeyWork): number {
  return planned?.plan.kind === 'patch' ? record.attempts + 1 : contact.attempts;
}

/** The record reached its contact: the base moves. */
function well(key: KeyWork, outcome: 'created' | 'updated' | 'unchanged'): Ended {
  const { record, contact } = key;
  const { plan, input } = plannedOf(key);
  const { contact: reply, warnings } = answered(key, 'contact');
  const { said, others, ...bound } = settle({ ...input, plan, reply });
  const madeByUs = key.createAnswered || key.madeByUs;
  const adopted = outcome !== 'created' && contact.contactId === null && !madeByUs;
  // What our own intent made counts as created, whenever it was found; what we adopt counts as updated, and so does
  // what an update of ours changed before its answer was lost.
  const counted = madeByUs ? 'created' : outcome === 'unchanged' && (adopted || record.sent) ? 'updated' : outcome;
  // All that was left of it another feed has decided since.
  const isOvertaken = counted === 'unchanged' && plan.passed.length > 0 && plan.held.length === 0;
  const end: RecordEnd = isOvertaken
    ? { outcome: 'skipped', reason: 'superseded' }
    : {
        outcome: counted,
        adopted,
        heldFields: plan.held,
        ...(outcome === 'updated' ? { changedFields: plan.reasons.map((change) => change.field) } : {}),
        removedValues: plan.removals,
        warnings: [...plan.notes.map((note) => note.message), ...warnings],
      };
  return {
    end,
    bound: { contactId: reply.id, ...bound, writtenAtMs: key.writtenAtMs },
    said: {
      said,
      rowHash: record.rowHash,
      fingerprint: record.fingerprint,
      mappingVersion: record.mappingVersion,
      held: plan.held,
    },
    others: movedSaids(key, others, plan.kind === 'create'),
    ...(contact.state === 'intent' ? { afterDoubt: key.createAnswered ? 'created' : 'adopted' } : {}),
  };
}

function dead(key: KeyWork, death: Death): Ended {
  const { line, key: name, row, letterId, desired } = key.record;
  const { code, message, hint, field = null, answer = null } = death;
  const deadClass: DeadClass = death.class;
  const problem = { code, line, field, value: null, message, hint };
  const letter = letterId === undefined ? {} : { letterId };
  const deadRow = { class: deadClass, code, line, key: name, problems: [problem], row, ...letter, desired, answer };
  return { end: { outcome: 'dead', dead: deadRow }, bound: null, said: null, others: [] };
}

/** An update was refused, and nothing of it landed: what was claimed for it is nobody's again. */
function unwritten(key: KeyWork): Partial<Ended> {
  const theirs = key.planned?.input.theirs ?? null;
  if (theirs === null) return {};
  const { seen, owned, agreed, stamps } = key.base;
  const bound = { contactId: theirs.id, seen: seen ?? theirs, owned, agreed, stamps, writtenAtMs: null };
  return { bound, others: allMovedSaids(key) };
}

/** What of the write did land is agreed, and stays the feed's own; the rest stays to be done. */
function partlyWritten(key: KeyWork): Partial<Ended> {
  const { plan, input } = plannedOf(key);
  const reply: Contact = answered(key, 'contact').contact;
  const claim = claimOf(input);
  const base = claim === null ? key.base : resolveClaim(key.base, claim, input.feed, reply);
  const owned = nextOwnership(base.owned, plan.written, reply);
  const bound = { contactId: reply.id, ...base, seen: reply, owned, writtenAtMs: key.writtenAtMs };
  return { bound, others: allMovedSaids({ ...key, base }) };
}

/** Why a row was given up, in the words of its dead letter: what happened, and what to do next. */
interface Death {
  readonly class: DeadClass;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly field?: string | null;
  readonly answer?: ServiceAnswer | null;
}

/** What the service answered, where it said no. */
interface Refusal {
  readonly status: number;
  readonly body: ServiceErrorBody;
}

function answerOf({ status, body }: Refusal): ServiceAnswer {
  return { status, code: body.code, title: body.title, message: body.message, trace: body.trace };
}

/** 400, 404, 422…, and 401 or 403 that concern one contact: sending the same again is of no use. */
function refusedDeath(refusal: Refusal): Death {
  const { status, body } = refusal;
  const words = [body.title, body.message].filter((text) => text !== null).join(': ');
  return {
    class: 'refused',
    code: body.title === 'Invalid Custom Field Item' ? 'customFieldRefused' : `refused${status}`,
    field: body.paths[0] ?? null,
    message: `the service refused the contact with ${status}${words === '' ? '' : `: ${words}`}`,
    hint: 'Correct the row by what the service says, and drop the fix-file in again.',
    answer: answerOf(refusal),
  };
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
    message: `contact ${contactId} was bound to this externalId and carries another one now`,
    hint: 'Give the contact its externalId back in the workspace, then retry the dead letter.',
  };
}

/** 409 for a key that no look-up finds. */
function keyTakenDeath(refusal: Refusal): Death {
  return {
    class: 'conflict',
    code: 'keyTaken',
    message: 'the service says that the externalId is taken, and lists no contact that has it',
    hint: 'Look for the contact in the workspace (perhaps it was deleted, or belongs to another source), then retry the dead letter.',
    answer: answerOf(refusal),
  };
}

function doubtDeath(attempts: number): Death {
  return {
    class: 'doubt',
    code: 'doubt',
    message: `${attempts} writes of this contact ended without an answer that tells whether they landed`,
    hint: 'Look at the contact in the workspace, then retry the dead letter: it is looked up before anything is written.',
  };
}

/** The look-up of this one key fails again and again, while that of others passes. */
function lookUpFailsDeath(failure: PatchbayError): Death {
  return {
    class: 'exhausted',
    code: 'lookUpFails',
    message: `the service cannot answer for this externalId, and does for others: ${failure.message}`,
    hint: 'Look at the contact in the workspace, then retry the dead letter.',
  };
}

/** Neither the list nor the contact itself answers with all that the interface promises. */
function oddReplyDeath(id: string, what: string): Death {
  return {
    class: 'exhausted',
    code: 'oddReply',
    message: `the service answers for contact ${id} with something that is not this contact as the interface describes it: ${what}`,
    hint: 'Nothing was written, since values could be lost. Look at the contact in the workspace, then retry the dead letter.',
  };
}

/** The service said yes and holds something else: never a success (`facts.md`, what goes wrong, 9). */
function notAppliedDeath(differences: readonly ReplyDifference[]): Death {
  const fields = differences.map((difference) => difference.field.replace(/:.*$/, ''));
  return {
    class: 'notApplied',
    code: 'notApplied',
    field: fields[0] ?? null,
    message: `the service accepted the contact, and its reply differs from what was sent in: ${[...new Set(fields)].join(', ')}`,
    hint: 'Look at the contact in the workspace; perhaps another tool writes to it, or the service changes such values.',
  };
}
