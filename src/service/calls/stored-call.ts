/**
 * A call as the store keeps it and as replies show it. Section 2.4, fields of call records: not shown; those of
 * `facts.md` ("Calls, recordings, messages") and four that the public description has beside them.
 */
import { z } from 'zod';
import { e164, text } from '../text-schemas.ts';

const instant = z.iso.datetime({ offset: true });
const userId = text.regex(/^US/);

const callStatuses = [
  'queued',
  'initiated',
  'ringing',
  'in-progress',
  'completed',
  'busy',
  'failed',
  'no-answer',
  'canceled',
  'missed',
  'answered',
  'forwarded',
  'abandoned',
] as const;

export const storedCall = z
  .object({
    id: text.regex(/^AC/),
    direction: z.enum(['incoming', 'outgoing']),
    status: z.enum(callStatuses),
    duration: z.int().min(0).meta({ description: 'Seconds from the answer to the end; 0 without an answer.' }),
    participants: z
      .array(e164)
      .min(1)
      .max(2)
      .meta({ description: 'The other party, then the number of this workspace.' }),
    phoneNumberId: z.string().regex(/^PN/),
    userId: userId.meta({ description: 'The user who placed or received the call.' }),
    initiatedBy: userId.nullable().meta({ description: 'The user who placed it; null for an incoming call.' }),
    answeredBy: userId.nullable().meta({ description: 'The user who answered it; null where nobody did.' }),
    answeredAt: instant.nullable(),
    completedAt: instant.nullable(),
    forwardedFrom: text.nullable(),
    forwardedTo: text.nullable(),
    createdAt: instant,
    updatedAt: instant.nullable(),
  })
  .meta({ id: 'Call' });

export type StoredCall = Readonly<z.infer<typeof storedCall>>;
