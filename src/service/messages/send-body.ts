/**
 * The body of send a text message (4.5; its members: `facts.md`, "Calls, recordings, messages").
 *
 * Section 7: only white space is a 400. Section 9: `phoneNumberId` is deprecated and still accepted in the place of
 * `from`; where both are given, `from` counts.
 */
import { z } from 'zod';
import type { DeprecatedUse } from '../operations/deprecated-use.ts';
import { e164, lengthOf, text } from '../text-schemas.ts';

const contentLengthMax = 1_600;

const content = text
  .refine((value) => /\S/.test(value), { error: 'must hold more than white space' })
  .refine((value) => lengthOf(value) <= contentLengthMax, {
    error: `must be at most ${contentLengthMax} characters long`,
  })
  .meta({ description: 'The text.', minLength: 1, maxLength: contentLengthMax, pattern: '\\S' });

/** 4.5, how many recipients: not shown. One, as the public description has it. */
const recipientsMax = 1;
const oneRecipient = { error: `must be exactly ${recipientsMax} phone number` };

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
      .min(1, oneRecipient)
      .max(recipientsMax, oneRecipient)
      .meta({ description: 'The recipient, E.164. Exactly one.' }),
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
    error: 'is required: the number to send from, or its identifier',
  })
  .meta({ id: 'SendMessage', anyOf: [{ required: ['from'] }, { required: ['phoneNumberId'] }] });

/** Every reply says it, also one that refuses the rest of the body. */
export function deprecatedInSending(body: unknown): readonly DeprecatedUse[] {
  const isUsed = typeof body === 'object' && body !== null && 'phoneNumberId' in body;
  return isUsed ? [{ name: 'phoneNumberId', instead: 'use from' }] : [];
}

export type SendBody = z.infer<typeof sendBodySchema>;
