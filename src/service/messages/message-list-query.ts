/**
 * The query of list messages. 4.5, whether several participants are a group or alternatives: not shown. They are all
 * the others of one conversation, in any order.
 */
import { z } from 'zod';
import { conversationQueryShape, queryParticipant, userFilter } from '../conversations/list-query.ts';

/** A limit of ours: a group text has no more. */
const participantsMax = 20;

export const messageListQuery = z.object({
  ...conversationQueryShape,
  participants: z
    .array(queryParticipant)
    .min(1, { error: 'must name at least one phone number' })
    .max(participantsMax, { error: `must name at most ${participantsMax} phone numbers` })
    .meta({
      description: 'All the others of the conversation, E.164, the plus written %2B.',
      examples: [['+14155550110']],
    }),
  userId: userFilter('Only the messages of this user. Without it: those of every user of the phone number.'),
});
