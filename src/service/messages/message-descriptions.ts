/** The operations on messages for the public description (4.5, sections 7 and 9). */
import { z } from 'zod';
import { badRequest } from '../http/refusal.ts';
import type { OperationDescription } from '../operations/operation-description.ts';
import { pageReply } from '../paging/page-reply.ts';
import { internationalRefusal, strangerRefusal } from './check-sending.ts';
import { messageListQuery } from './message-list-query.ts';
import { sendBodySchema } from './send-body.ts';
import { type StoredMessage, storedMessage } from './stored-message.ts';

const tag = 'Messages';
const flagged = 'A reply to a request with a deprecated parameter has a Warning header.';

const example: StoredMessage = {
  id: 'AC019aa6f3c1d20000a1b2c3d4',
  to: ['+14155550110'],
  from: '+14155550100',
  text: 'Your order is ready.',
  phoneNumberId: 'PNa1b2c3d4e5',
  direction: 'outgoing',
  userId: 'USa1b2c3d4e5',
  status: 'sent',
  createdAt: '2026-11-21T14:00:00.000Z',
  updatedAt: '2026-11-21T14:00:00.000Z',
};

export const listMessagesDescription: OperationDescription = {
  operationId: 'listMessages',
  tag,
  summary: 'List messages',
  about: `Sections 4.5 and 9. The messages of one phone number with some others, the newest first. ${flagged}`,
  pathId: null,
  query: messageListQuery,
  body: null,
  reply: {
    status: 200,
    about: 'A page of messages.',
    schema: pageReply(storedMessage).meta({ id: 'MessagePage' }),
    example: { data: [example], totalItems: 1, nextPageToken: null },
  },
  refusals: {
    400: 'A parameter is missing, empty or not valid, or the page token is none that this listing gave.',
    404: 'The workspace has no such phone number.',
  },
  refusalExamples: [badRequest([{ path: 'participants', message: 'is required and must be a list', type: 'array' }])],
};

export const sendMessageDescription: OperationDescription = {
  operationId: 'sendMessage',
  tag,
  summary: 'Send a text message',
  about: `Sections 4.5, 7 and 9. The message is stored and listed; nothing leaves this service. There is no idempotency key: list before you try again. ${flagged}`,
  pathId: null,
  query: null,
  body: {
    schema: sendBodySchema,
    example: { content: example.text, from: example.from, to: example.to },
  },
  reply: {
    status: 202,
    about: 'The message.',
    schema: z.object({ data: storedMessage }),
    example: { data: example },
  },
  refusals: {
    400: 'The body is not valid; a text of nothing but white space is none.',
    403: 'The recipient is outside the United States and Canada and international messaging is off, or the user has not this phone number.',
    404: 'The workspace has no phone number to send from under this number or identifier.',
  },
  refusalExamples: [
    badRequest([{ path: 'content', message: 'must hold more than white space', type: 'string' }]),
    internationalRefusal(),
    strangerRefusal(),
  ],
};
