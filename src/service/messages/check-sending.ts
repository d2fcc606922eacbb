/** Whether a message may be sent: from which number, by whom, to whom (sections 7 and 9). */
import { invariant } from '#src/errors.ts';
import { badRequest, Refusal } from '../http/refusal.ts';
import { numberOwnerId } from '../phone-numbers/number-owner.ts';
import type { PhoneNumber } from '../phone-numbers/phone-number.ts';
import { requireNumber } from '../phone-numbers/require-number.ts';
import type { PhoneNumberTable } from '../store/phone-number-table.ts';
import { isInternational } from './international.ts';
import type { SendBody } from './send-body.ts';

export interface SendingRules {
  readonly phoneNumbers: Pick<PhoneNumberTable, 'find' | 'findByNumber'>;
  readonly ownerUserId: string;
  readonly internationalMessaging: boolean;
}

export interface Sending {
  readonly phoneNumber: PhoneNumber;
  readonly userId: string;
}

/** Throws `Refusal`: 404 for a number that the workspace does not have, 403 for what is not allowed, 400. */
export function checkSending(body: SendBody, rules: SendingRules): Sending {
  const sender = body.from ?? body.phoneNumberId;
  invariant(sender !== undefined, 'the body was checked to name a sender');
  const phoneNumber = requireNumber(rules.phoneNumbers, sender);
  const ownerId = numberOwnerId(phoneNumber, rules.ownerUserId);
  const userId = body.userId ?? ownerId;
  // 4.5, a user who does not have the number: not shown. 403 under the title that the public description has.
  if (userId !== ownerId && !phoneNumber.users.some((user) => user.id === userId)) {
    throw strangerRefusal();
  }
  for (const [index, recipient] of body.to.entries()) {
    if (recipient === phoneNumber.number) {
      throw badRequest([
        { path: `to.${index}`, message: 'is the number that the message is sent from', type: 'string' },
      ]);
    }
    if (isInternational(recipient) && !rules.internationalMessaging) {
      throw internationalRefusal();
    }
  }
  return { phoneNumber, userId };
}

/** Section 7, the code: not shown. A variant of its own, so that a client can tell it from the other 403. */
export function internationalRefusal(): Refusal {
  return new Refusal(
    403,
    'International messaging is not enabled in this workspace: the recipient is outside the United States and Canada.',
    { variant: '01' },
  );
}

/** Code and title are those of the public description. */
export function strangerRefusal(): Refusal {
  return new Refusal(403, 'The user is not a user of the phone number.', {
    variant: '02',
    title: 'Not Phone Number User',
  });
}
