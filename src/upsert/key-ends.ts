/**
 * What an end of the machine means for the row: outcome, both halves of the base, the words of a dead letter.
 */
import { isSettled } from '#src/contacts/fingerprint.ts';
import type { DeadClass } from '#src/contacts/outcome.ts';
import { settle } from '#src/contacts/settle.ts';
import { invariant, unreachable } from '#src/errors.ts';
import type { RecordEnd } from '#src/ledger/staged-record.ts';
import type { SettledRecord } from '#src/ledger/staging-ledger.ts';
import type { Contact } from '#src/wire/contact.ts';
import type { Chunk } from './chunk.ts';
import {
  type Death,
  doubtDeath,
  keyMovedDeath,
  keyTakenDeath,
  lookUpFailsDeath,
  notAppliedDeath,
  refusedDeath,
  twoContactsDeath,
} from './deaths.ts';
import type { KeyEnd } from './key-state.ts';
import { type Answer, type KeyWork, ownedIfWritten, plannedOf } from './key-work.ts';

export function endKey(chunk: Chunk, key: KeyWork, as: KeyEnd): void {
  const ended = endOf(key, as);
  const { position, key: name, sequence } = key.record;
  const landed = key.landed === null ? {} : { landed: key.landed };
  chunk.ends.push({ position, key: name, sequence, ...ended, ...landed });
}

type Ended = Pick<SettledRecord, 'end' | 'bound' | 'said' | 'afterDoubt'>;

function endOf(key: KeyWork, as: KeyEnd): Ended {
  switch (as) {
    case 'created':
    case 'updated':
    case 'unchanged':
      return well(key, as);
    case 'gone':
    case 'superseded':
      return { end: { outcome: 'skipped', reason: as }, bound: null, said: null };
    case 'twoContacts':
      return dead(key, twoContactsDeath(answered(key, 'ids').ids));
    case 'keyMoved':
      return dead(key, keyMovedDeath(answered(key, 'ids').ids));
    case 'keyTaken':
      return dead(key, keyTakenDeath(answered(key, 'refusal')));
    case 'refused':
      return dead(key, refusedDeath(answered(key, 'refusal')), boundUnwritten(key));
    case 'notApplied':
      return dead(key, notAppliedDeath(answered(key, 'contact').differences), boundPartly(key));
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

/** The record reached its contact: both halves of the base move. */
function well(key: KeyWork, outcome: 'created' | 'updated' | 'unchanged'): Ended {
  const { record, contact } = key;
  const { plan, input } = plannedOf(key);
  const { contact: reply, warnings } = answered(key, 'contact');
  const { said, seen, owned } = settle({ ...input, plan, reply });
  const complete = isSettled(plan);
  const madeByUs = key.createAnswered || key.madeByUs;
  const adopted = outcome !== 'created' && contact.contactId === null && !madeByUs;
  const end: RecordEnd = {
    // What our own intent made counts as created, whenever it was found; what we adopt counts as updated, and so does
    // what an update of ours changed before its answer was lost.
    outcome: madeByUs ? 'created' : outcome === 'unchanged' && (adopted || record.sent) ? 'updated' : outcome,
    adopted,
    heldFields: plan.held.map((field) => field.field),
    removedValues: plan.removals,
    warnings: [...plan.notes.map((note) => note.message), ...warnings],
  };
  return {
    end,
    bound: { contactId: reply.id, seen, owned },
    said: {
      said,
      rowHash: complete ? record.rowHash : null,
      fingerprint: complete ? record.fingerprint : null,
      mappingVersion: record.mappingVersion,
    },
    ...(contact.state === 'intent' ? { afterDoubt: key.createAnswered ? 'created' : 'adopted' } : {}),
  };
}

function dead(key: KeyWork, death: Death, bound: SettledRecord['bound'] = null): Ended {
  const { line, key: name, row, letterId, desired } = key.record;
  const { code, message, hint, field = null, answer = null } = death;
  const deadClass: DeadClass = death.class;
  const problem = { code, line, field, value: null, message, hint };
  const letter = letterId === undefined ? {} : { letterId };
  const deadRow = { class: deadClass, code, line, key: name, problems: [problem], row, ...letter, desired, answer };
  return { end: { outcome: 'dead', dead: deadRow }, bound, said: null };
}

/** An update was refused, and nothing of it landed: what was claimed for it is nobody's again. */
function boundUnwritten(key: KeyWork): SettledRecord['bound'] {
  const theirs = key.planned?.input.theirs ?? null;
  if (theirs === null) return null;
  return { contactId: theirs.id, seen: key.base.seen ?? theirs, owned: key.base.owned };
}

/** What of the write did land stays the feed's own, so that it can leave with the file one day. */
function boundPartly(key: KeyWork): SettledRecord['bound'] {
  const { plan, input } = plannedOf(key);
  const reply: Contact = answered(key, 'contact').contact;
  const seen = plan.kind === 'create' ? reply : settle({ ...input, plan, reply }).seen;
  return { contactId: reply.id, seen, owned: ownedIfWritten(key).owned };
}
