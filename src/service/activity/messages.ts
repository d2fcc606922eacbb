/**
 * List messages, send one (4.5, sections 7 and 9) and get one (`docs/facts.md`, "Later findings"). The order of the listing:
 * not shown. The newest first, as with calls. Section 4, status of success: not shown. 202 for send (`docs/facts.md`).
 */
import { z } from 'zod';
import type { Clock } from '#src/clock.ts';
import { checkQuery, checkShape } from '#src/service/http/check-request.ts';
import { badRequest, Refusal } from '#src/service/http/refusal.ts';
import type { Operation, OperationDescription, OperationRequest, Reply } from '#src/service/operations/operation.ts';
import { newestFirstPage, type PageTokens, pageReply } from '#src/service/paging.ts';
import { requireNumber } from '#src/service/phone-numbers.ts';
import type { Store } from '#src/service/store/open-store.ts';
import { type StoredMessage, storedMessage } from '#src/service/stored-records.ts';
import {
  activityPathId,
  conversationQueryShape,
  createActivityIds,
  deprecatedInListing,
  noActivityId,
  queryParticipant,
  timeWindow,
  userFilter,
  wholeWindow,
} from './conversations.ts';
import {
  checkSending,
  deprecatedInSending,
  internationalRefusal,
  newMessage,
  recipientsMax,
  sendBodySchema,
  strangerRefusal,
} from './sending.ts';

interface MessageParts {
  readonly store: Pick<Store, 'messages' | 'phoneNumbers' | 'ownerUserId' | 'write'>;
  readonly internationalMessaging: boolean;
  readonly pageTokens: PageTokens;
  readonly clock: Clock;
}

export function messageOperations(parts: MessageParts): readonly Operation[] {
  const shared = { path: '/v1/messages', resource: '02' } as const;
  const read = { ...shared, name: 'messages', method: 'GET', takesBody: false } as const;
  return [
    {
      ...read,
      description: listMessagesDescription,
      deprecatedIn: { query: deprecatedInListing },
      run: (request) => listMessages(parts, request),
    },
    {
      ...read,
      path: '/v1/messages/:id',
      description: getMessageDescription,
      run: (request) => getMessage(parts, request),
    },
    {
      ...shared,
      name: 'send',
      method: 'POST',
      takesBody: true,
      description: sendMessageDescription,
      deprecatedIn: { body: deprecatedInSending },
      run: sendMessage(parts),
    },
  ];
}

function listMessages({ store, pageTokens }: MessageParts, { query, listing }: OperationRequest): Reply {
  const sent = checkQuery(messageListQuery, query);
  const place = pageTokens.readPlace('messages', sent.pageToken ?? null);
  const phoneNumber = requireNumber(store.phoneNumbers, sent.phoneNumberId);
  const window = timeWindow(sent, place);
  const { maxResults, participants, userId = null } = sent;
  const rows = listing.ignoreFilters
    ? store.messages.page({ conversation: null, ...wholeWindow(place), limit: maxResults + 1 })
    : store.messages.page({
        conversation: { phoneNumberId: phoneNumber.id, participants, userId },
        ...window,
        limit: maxResults + 1,
      });
  const placed = rows.map((row) => ({ place: row.place, item: row.message }));
  return newestFirstPage({ listing: 'messages', rows: placed, maxResults, pageTokens });
}

function getMessage({ store }: MessageParts, { id }: OperationRequest): Reply {
  const message = store.messages.find(id);
  if (message === null) throw new Refusal(404, `No message has the id ${id.slice(0, 100)}.`);
  return { status: 200, body: { data: message } };
}

function sendMessage({ store, internationalMessaging, clock }: MessageParts): Operation['run'] {
  const nextId = createActivityIds();
  return async (request) => {
    const body = checkShape(sendBodySchema, request.body());
    const { phoneNumber, userId } = checkSending(body, { ...store, internationalMessaging });
    const message = await store.write(() => {
      const nowMs = clock.nowMs();
      const made = newMessage(body, { id: nextId(nowMs), createdMs: nowMs, phoneNumber, userId });
      store.messages.insert(made);
      return store.messages.shown(made);
    });
    return { status: 202, body: { data: message } };
  };
}

// The query of list messages. 4.5, whether several participants are a group or alternatives: not shown. They are all
// the others of one conversation, in any order.

/** As many as a message may have recipients (`docs/facts.md`, "Later findings"). */
const participantsMax = recipientsMax;

const messageListQuery = z.object({
  ...conversationQueryShape,
  participants: z
    .array(queryParticipant)
    .min(1, { error: 'must name at least one phone number' })
    .max(participantsMax, { error: `must name at most ${participantsMax} phone numbers` })
    .meta({
      description:
        'All the others of the conversation, E.164. In an address that is written by hand, their plus is %2B.',
      examples: [['+14155550110']],
    }),
  userId: userFilter('Only the messages of this user. Without it: those of every user of the phone number.'),
});

/** The operations on messages for the public description (4.5, sections 7 and 9). */
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
  conversationId: 'CN3f1c9a7b5d2e4f6081a2b3c4',
};

const listMessagesDescription: OperationDescription = {
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

const messageId = activityPathId('id', 'Identifier of the message.');

const getMessageDescription: OperationDescription = {
  operationId: 'getMessage',
  tag,
  summary: 'Get a message',
  about: 'Beyond the interface. One message, as a listing has it.',
  pathId: messageId,
  query: null,
  body: null,
  reply: {
    status: 200,
    about: 'The message.',
    schema: z.object({ data: storedMessage }),
    example: { data: example },
  },
  refusals: { 400: 'The identifier does not begin with AC.', 404: 'No message has this identifier.' },
  refusalExamples: [noActivityId(messageId)],
};

const sendMessageDescription: OperationDescription = {
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
    403: 'A recipient is outside the United States and Canada and international messaging is off, or the user has not this phone number.',
    404: 'The workspace has no phone number to send from under this number or identifier.',
  },
  refusalExamples: [
    badRequest([{ path: 'content', message: 'must hold more than white space', type: 'string' }]),
    internationalRefusal(),
    strangerRefusal(),
  ],
};
