/**
 * A message as it is stored when it is sent. Section 2.4, its status: not shown. It is `sent` and stays so: nothing
 * leaves this service.
 */
import { isoInstant } from '#src/clock.ts';
import type { PhoneNumber } from '../phone-numbers/phone-number.ts';
import type { SendBody } from './send-body.ts';
import type { StoredMessage } from './stored-message.ts';

export interface MessageFacts {
  readonly id: string;
  readonly createdMs: number;
  readonly phoneNumber: PhoneNumber;
  readonly userId: string;
}

export function newMessage(body: SendBody, { id, createdMs, phoneNumber, userId }: MessageFacts): StoredMessage {
  const createdAt = isoInstant(createdMs);
  return {
    id,
    to: body.to,
    from: phoneNumber.number,
    text: body.content,
    phoneNumberId: phoneNumber.id,
    direction: 'outgoing',
    userId,
    status: 'sent',
    createdAt,
    updatedAt: createdAt,
  };
}
