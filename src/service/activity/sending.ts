/**
 * The body of send a text message (4.5; its members: `docs/facts.md`, "Calls, recordings, messages").
 *
 * Section 7: only white space is a 400. Section 9: `phoneNumberId` is deprecated and still accepted in the place of
 * `from`; where both are given, `from` counts.
 */
import { z } from 'zod';
import { isoInstant } from '#src/clock.ts';
import { invariant } from '#src/errors.ts';
import { badRequest, type DeprecatedUse, Refusal, type RequestProblem } from '#src/service/http/refusal.ts';
import { requireNumber } from '#src/service/phone-numbers.ts';
import type { PhoneNumberTable } from '#src/service/store/workspace-tables.ts';
import { type KeptMessage, numberOwnerId, type PhoneNumber } from '#src/service/stored-records.ts';
import { e164, lengthOf, text } from '#src/service/text-schemas.ts';

const contentLengthMax = 1_600;

/** NEL (U+0085) is white space by Unicode, and not by the class of regular expressions. */
const notWhiteSpace = /[^\s\u0085]/;

const content = text
  .refine((value) => notWhiteSpace.test(value), { error: 'must hold more than white space' })
  .refine((value) => lengthOf(value) <= contentLengthMax, {
    error: `must be at most ${contentLengthMax} characters long`,
  })
  .meta({ description: 'The text.', minLength: 1, maxLength: contentLengthMax, pattern: notWhiteSpace.source });

/** 4.5, how many recipients: not shown. 1 to 10, as the newest public description has it (`docs/facts.md`). */
export const recipientsMax = 10;
const recipientsProblem = { error: `must be 1 to ${recipientsMax} phone numbers` };

export const sendBodySchema = z
  .object({
    content,
    from: z
      .string()
      .regex(/^(?:PN.*|\+[1-9]\d{1,14})$/, {
        error: 'must be a phone number in E.164 format, or its identifier, which begins with PN',
      })
      .meta({ description: 'The sending phone number of this workspace: its number or its identifier.' })
      .optional(),
    phoneNumberId: z
      .string()
      .regex(/^PN/, { error: 'must begin with PN' })
      .meta({ deprecated: true, description: 'Deprecated (section 9): use from.' })
      .optional(),
    to: z
      .array(e164)
      .min(1, recipientsProblem)
      .max(recipientsMax, recipientsProblem)
      .meta({ description: 'The recipients, E.164. Several are one conversation.' }),
    userId: z
      .string()
      .regex(/^US/, { error: 'must begin with US' })
      .meta({ description: 'The sender, a user of the phone number. Without it: the owner of the phone number.' })
      .optional(),
    setInboxStatus: z
      .literal('done', { error: 'must be "done"' })
      .meta({ description: 'Accepted, without effect: this workspace has no inbox.' })
      .optional(),
  })
  .refine((body) => body.from !== undefined || body.phoneNumberId !== undefined, {
    path: ['from'],
    // Also where other members are wrong: every problem is listed.
    when: ({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value),
    error: 'is required: the number to send from, or its identifier',
  })
  .meta({ id: 'SendMessage', anyOf: [{ required: ['from'] }, { required: ['phoneNumberId'] }] });

/** Every reply says it, also one that refuses the rest of the body. */
export function deprecatedInSending(body: unknown): readonly DeprecatedUse[] {
  const isUsed = typeof body === 'object' && body !== null && 'phoneNumberId' in body;
  return isUsed ? [{ name: 'phoneNumberId', instead: 'use from' }] : [];
}

type SendBody = z.infer<typeof sendBodySchema>;

/** Whether a message may be sent: from which number, by whom, to whom (sections 7 and 9). */
interface SendingRules {
  readonly phoneNumbers: Pick<PhoneNumberTable, 'find' | 'findByNumber'>;
  readonly ownerUserId: string;
  readonly internationalMessaging: boolean;
}

interface Sending {
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
  const toItself = body.to.flatMap((recipient, index): RequestProblem[] =>
    recipient === phoneNumber.number
      ? [{ path: `to.${index}`, message: 'is the number that the message is sent from', type: 'string' }]
      : [],
  );
  if (toItself.length > 0) throw badRequest(toItself);
  if (!rules.internationalMessaging && body.to.some(isInternational)) throw internationalRefusal();
  return { phoneNumber, userId };
}

/** Section 7, the code: not shown. A variant of its own, so that a client can tell it from the other 403. */
export function internationalRefusal(): Refusal {
  return new Refusal(
    403,
    'International messaging is not enabled in this workspace: a recipient is outside the United States and Canada.',
    { variant: '01' },
  );
}

/** Code, title and description are those of the public description. */
export function strangerRefusal(): Refusal {
  return new Refusal(403, 'The user is not a user of the phone number.', {
    variant: '02',
    title: 'Not Phone Number User',
    description: 'Not Phone Number User',
  });
}

/**
 * A message as it is stored when it is sent. Section 2.4, its status: not shown. It is `sent` and stays so: nothing
 * leaves this service.
 */
interface MessageFacts {
  readonly id: string;
  readonly createdMs: number;
  readonly phoneNumber: PhoneNumber;
  readonly userId: string;
}

export function newMessage(body: SendBody, { id, createdMs, phoneNumber, userId }: MessageFacts): KeptMessage {
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

// Which recipients are international (section 7: not shown). All outside the United States and Canada, as the
// regions of a number's restrictions have it (2.4: CA, US, Intl).
//
// It is judged by the number alone. Country code 1 is shared: its area codes of other countries are international, those
// of territories of the United States are not.

/** Area codes under +1 that belong neither to the United States nor to Canada. */
const otherCountries: ReadonlySet<string> = new Set([
  ...['242', '246', '264', '268', '284', '345', '441', '473', '649', '658', '664', '721', '758', '767', '784'],
  ...['809', '829', '849', '868', '869', '876'],
]);

/** `number`: E.164. */
function isInternational(number: string): boolean {
  return !number.startsWith('+1') || otherCountries.has(number.slice(2, 5));
}
