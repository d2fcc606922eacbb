/** Why a row was given up, in the words of its dead letter: what happened, and what to do next. */
import type { DeadClass } from '#src/contacts/outcome.ts';
import type { ReplyDifference } from '#src/contacts/verify-reply.ts';
import type { PatchbayError } from '#src/errors.ts';
import type { ServiceAnswer } from '#src/ledger/staged-record.ts';
import type { ServiceErrorBody } from '#src/wire/error.ts';

export interface Death {
  readonly class: DeadClass;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly field?: string | null;
  readonly answer?: ServiceAnswer | null;
}

/** What the service answered, where it said no. */
export interface Refusal {
  readonly status: number;
  readonly body: ServiceErrorBody;
}

function answerOf({ status, body }: Refusal): ServiceAnswer {
  return { status, code: body.code, title: body.title, message: body.message, trace: body.trace };
}

/** 400, 404, 422…, and 401 or 403 that concern one contact: sending the same again is of no use. */
export function refusedDeath(refusal: Refusal): Death {
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

export function twoContactsDeath(ids: readonly string[]): Death {
  return {
    class: 'conflict',
    code: 'twoContacts',
    message: `the workspace holds ${ids.length} contacts with this externalId: ${ids.join(', ')}`,
    hint: 'Merge or delete all but one of them in the workspace, then retry the dead letter.',
  };
}

export function keyMovedDeath([contactId]: readonly string[]): Death {
  return {
    class: 'conflict',
    code: 'keyMoved',
    message: `contact ${contactId} was bound to this externalId and carries another one now`,
    hint: 'Give the contact its externalId back in the workspace, then retry the dead letter.',
  };
}

/** 409 for a key that no look-up finds. */
export function keyTakenDeath(refusal: Refusal): Death {
  return {
    class: 'conflict',
    code: 'keyTaken',
    message: 'the service says that the externalId is taken, and lists no contact that has it',
    hint: 'Look for the contact in the workspace (perhaps it was deleted, or belongs to another source), then retry the dead letter.',
    answer: answerOf(refusal),
  };
}

export function doubtDeath(attempts: number): Death {
  return {
    class: 'doubt',
    code: 'doubt',
    message: `${attempts} writes of this contact ended without an answer that tells whether they landed`,
    hint: 'Look at the contact in the workspace, then retry the dead letter: it is looked up before anything is written.',
  };
}

/** The look-up of this one key fails again and again, while that of others passes. */
export function lookUpFailsDeath(failure: PatchbayError): Death {
  return {
    class: 'exhausted',
    code: 'lookUpFails',
    message: `the service cannot answer for this externalId, and does for others: ${failure.message}`,
    hint: 'Look at the contact in the workspace, then retry the dead letter.',
  };
}

/** Neither the list nor the contact itself answers with all that the interface promises. */
export function oddReplyDeath(id: string, what: string): Death {
  return {
    class: 'exhausted',
    code: 'oddReply',
    message: `the service answers for contact ${id} with something that is not this contact as the interface describes it: ${what}`,
    hint: 'Nothing was written, since values could be lost. Look at the contact in the workspace, then retry the dead letter.',
  };
}

/** The service said yes and holds something else: never a success (`facts.md`, what goes wrong, 9). */
export function notAppliedDeath(differences: readonly ReplyDifference[]): Death {
  const fields = differences.map((difference) => difference.field.replace(/:.*$/, ''));
  return {
    class: 'notApplied',
    code: 'notApplied',
    field: fields[0] ?? null,
    message: `the service accepted the contact, and its reply differs from what was sent in: ${[...new Set(fields)].join(', ')}`,
    hint: 'Look at the contact in the workspace; perhaps another tool writes to it, or the service changes such values.',
  };
}
