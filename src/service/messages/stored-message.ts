/**
 * A text message as the store keeps it and as replies show it. Section 2.4, fields of message records: not shown;
 * those of `facts.md` ("Calls, recordings, messages").
 *
 * The user of an incoming message: not shown. The owner of the number that received it: the public description calls
 * the member a text that begins with `US`, always there.
 */
import { z } from 'zod';
import { e164, text } from '../text-schemas.ts';

const instant = z.iso.datetime({ offset: true });

export const storedMessage = z
  .object({
    id: text.regex(/^AC/),
    to: z.array(e164).min(1),
    from: e164,
    text,
    phoneNumberId: z.string().regex(/^PN/),
    direction: z.enum(['incoming', 'outgoing']),
    userId: z
      .string()
      .regex(/^US/)
      .meta({ description: 'The sender; of an incoming message the owner of the number.' }),
    status: z.enum(['queued', 'sent', 'delivered', 'undelivered']),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Message' });

export type StoredMessage = Readonly<z.infer<typeof storedMessage>>;
