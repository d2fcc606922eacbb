/** The service's refusal in the words of a dead letter. */
import type { PatchbayError } from '#src/errors.ts';
import type { ServiceAnswer } from '#src/ledger/staged-record.ts';
import type { ServiceErrorBody } from '#src/wire/error.ts';
import type { Death } from './chunk.ts';

export function answerOf(status: number | null, body: ServiceErrorBody): ServiceAnswer {
  return { status, code: body.code, title: body.title, message: body.message, trace: body.trace };
}

/** 400, 404, 422…, and 401 or 403 that concern one contact: sending the same again is of no use. */
export function refusedDeath(status: number, body: ServiceErrorBody): Death {
  const words = [body.title, body.message].filter((text) => text !== null).join(': ');
  return {
    class: 'refused',
    code: body.title === 'Invalid Custom Field Item' ? 'customFieldRefused' : `refused${status}`,
    field: body.paths[0] ?? null,
    message: `the service refused the contact with ${status}${words === '' ? '' : `: ${words}`}`,
    hint: 'Correct the row by what the service says, and drop the fix-file in again.',
    answer: answerOf(status, body),
  };
}

/** 409 for a key that no look-up finds. */
export function keyTakenDeath(status: number, body: ServiceErrorBody): Death {
  return {
    class: 'conflict',
    code: 'keyTaken',
    message: 'the service says that the externalId is taken, and lists no contact that has it',
    hint: 'Look for the contact in the workspace (perhaps it was deleted, or belongs to another source), then retry the dead letter.',
    answer: answerOf(status, body),
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
export function exhaustedDeath(failure: PatchbayError): Death {
  return {
    class: 'exhausted',
    code: 'lookUpFails',
    message: `the service cannot answer for this externalId, and does for others: ${failure.message}`,
    hint: 'Look at the contact in the workspace, then retry the dead letter.',
  };
}
