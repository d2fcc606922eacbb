/**
 * The query of list calls. Section 7: an empty `participants` is 400 with a descriptive message. 4.5, several
 * participants: not shown. One conversation has one other party (`facts.md`).
 */
import { z } from 'zod';
import { conversationQueryShape, queryParticipant, userFilter } from '../conversations/list-query.ts';

const oneParticipant = { error: 'must be exactly one phone number, that of the other party' };

export const callListQuery = z.object({
  ...conversationQueryShape,
  participants: z
    .array(queryParticipant)
    .min(1, oneParticipant)
    .max(1, oneParticipant)
    .meta({ description: 'The other party, E.164, the plus written %2B. Exactly one.', examples: [['+14155550110']] }),
  userId: userFilter('Who placed or received the call. Without it: the owner of the phone number (section 9, 1.0.1).'),
});
