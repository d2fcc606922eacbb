/**
 * List calls (4.5, section 9), get one (`docs/facts.md`, "Later findings") and its recordings. The order of the listing: not
 * shown. The newest first, as people look at calls.
 */
import { z } from 'zod';
import { checkQuery } from '#src/service/http/check-request.ts';
import { badRequest, Refusal } from '#src/service/http/refusal.ts';
import type { Operation, OperationDescription, OperationRequest, Reply } from '#src/service/operations/operation.ts';
import { newestFirstPage, type PageTokens, pageReply } from '#src/service/paging.ts';
import { requireNumber } from '#src/service/phone-numbers.ts';
import type { Store } from '#src/service/store/open-store.ts';
import { numberOwnerId, recordingReply, type StoredCall, storedCall } from '#src/service/stored-records.ts';
import {
  activityPathId,
  conversationQueryShape,
  deprecatedInListing,
  noActivityId,
  queryParticipant,
  timeWindow,
  userFilter,
  wholeWindow,
} from './conversations.ts';

interface CallParts {
  readonly store: Pick<Store, 'calls' | 'phoneNumbers' | 'ownerUserId'>;
  readonly pageTokens: PageTokens;
}

export function callOperations(parts: CallParts): readonly Operation[] {
  const shared = { name: 'calls', method: 'GET', resource: '01', takesBody: false } as const;
  return [
    {
      ...shared,
      path: '/v1/calls',
      description: listCallsDescription,
      deprecatedIn: { query: deprecatedInListing },
      run: (request) => listCalls(parts, request),
    },
    {
      ...shared,
      path: '/v1/calls/:callId',
      description: getCallDescription,
      run: ({ id }) => ({ status: 200, body: { data: requireCall(parts.store.calls, id) } }),
    },
  ];
}

/** Throws `Refusal` 404. */
function requireCall(calls: Pick<Store['calls'], 'find'>, callId: string): StoredCall {
  const call = calls.find(callId);
  if (call === null) throw new Refusal(404, `No call has the id ${callId.slice(0, 100)}.`);
  return call;
}

function listCalls({ store, pageTokens }: CallParts, { query, listing }: OperationRequest): Reply {
  const { calls, phoneNumbers, ownerUserId } = store;
  const sent = checkQuery(callListQuery, query);
  const place = pageTokens.readPlace('calls', sent.pageToken ?? null);
  const [participant = '', ...more] = sent.participants;
  if (more.length > 0) throw tooManyParticipants();
  const phoneNumber = requireNumber(phoneNumbers, sent.phoneNumberId);
  const window = timeWindow(sent, place);
  const { maxResults } = sent;
  const userId = sent.userId ?? numberOwnerId(phoneNumber, ownerUserId);
  const rows = listing.ignoreFilters
    ? calls.page({ conversation: null, ...wholeWindow(place), limit: maxResults + 1 })
    : calls.page({
        conversation: { phoneNumberId: phoneNumber.id, participant, userId },
        ...window,
        limit: maxResults + 1,
      });
  const placed = rows.map((row) => ({ place: row.place, item: row.call }));
  return newestFirstPage({ listing: 'calls', rows: placed, maxResults, pageTokens });
}

/**
 * The query of list calls. Section 7: an empty `participants` is 400 with a descriptive message. 4.5, several
 * participants: not shown. One conversation has one other party (`docs/facts.md`).
 */
const oneParticipant = 'must be exactly one phone number, that of the other party';
const participants = z.array(queryParticipant).min(1, { error: oneParticipant });

const callListQuery = z.object({
  ...conversationQueryShape,
  participants: participants.meta({
    // More are refused by a title of their own: `tooManyParticipants`.
    maxItems: 1,
    description: 'The other party, E.164. Exactly one. In an address that is written by hand, its plus is %2B.',
    examples: [['+14155550110']],
  }),
  userId: userFilter('Who placed or received the call. Without it: the owner of the phone number (section 9, 1.0.1).'),
});

/** Code, title and description are those of the public description (`docs/facts.md`, "Later findings"). */
function tooManyParticipants(): Refusal {
  return new Refusal(400, `Too many participants. participants: ${oneParticipant}`, {
    variant: '01',
    title: 'Too Many Participants',
    description: 'Too Many Participants',
    problems: [{ path: 'participants', message: oneParticipant, type: 'array' }],
  });
}

/** List calls for the public description (4.5, section 9). */
const example: StoredCall = {
  id: 'AC019aa6f3c1d20000a1b2c3d4',
  direction: 'incoming',
  status: 'completed',
  duration: 95,
  participants: ['+14155550110', '+14155550100'],
  phoneNumberId: 'PNa1b2c3d4e5',
  userId: 'USa1b2c3d4e5',
  initiatedBy: null,
  answeredBy: 'USa1b2c3d4e5',
  answeredAt: '2026-11-21T14:00:15.000Z',
  completedAt: '2026-11-21T14:01:50.000Z',
  callRoute: 'phone-number',
  aiHandled: null,
  forwardedFrom: null,
  forwardedTo: null,
  createdAt: '2026-11-21T14:00:00.000Z',
  updatedAt: '2026-11-21T14:01:50.000Z',
};

const listCallsDescription: OperationDescription = {
  operationId: 'listCalls',
  tag: 'Calls',
  summary: 'List calls',
  about:
    'Sections 4.5 and 9. The calls of one phone number with one other party, the newest first. Without userId those of the owner of the phone number (1.0.1). A reply to a request with a deprecated parameter has a Warning header.',
  pathId: null,
  query: callListQuery,
  body: null,
  reply: {
    status: 200,
    about: 'A page of calls.',
    schema: pageReply(storedCall).meta({ id: 'CallPage' }),
    example: { data: [example], totalItems: 1, nextPageToken: null },
  },
  refusals: {
    400: 'A parameter is missing, empty or not valid, or the page token is none that this listing gave.',
    404: 'The workspace has no such phone number.',
  },
  refusalExamples: [
    badRequest([
      { path: 'participants.0', message: 'is empty; it must be a phone number in E.164 format', type: 'string' },
    ]),
    tooManyParticipants(),
  ],
};

const callId = activityPathId('callId', 'Identifier of the call.');

/** Beside the listing: what is answered for one call that is named by its id. */
const ofOneCall = {
  tag: 'Calls',
  pathId: callId,
  query: null,
  body: null,
  refusals: { 400: 'The identifier does not begin with AC.', 404: 'No call has this identifier.' },
  refusalExamples: [noActivityId(callId)],
} as const satisfies Partial<OperationDescription>;

const getCallDescription: OperationDescription = {
  ...ofOneCall,
  operationId: 'getCall',
  summary: 'Get a call',
  about: 'Beyond the interface. One call, as a listing has it, of whatever user.',
  reply: { status: 200, about: 'The call.', schema: z.object({ data: storedCall }), example: { data: example } },
};

/** Get call recordings for the public description (4.5). */
const getCallRecordingsDescription: OperationDescription = {
  ...ofOneCall,
  operationId: 'getCallRecordings',
  summary: 'Get the recordings of a call',
  about: 'Section 4.5. All recordings of one call, the oldest first; an empty list for a call without any.',
  reply: {
    status: 200,
    about: 'The recordings.',
    schema: z.object({ data: z.array(recordingReply) }),
    example: {
      data: [
        {
          id: 'CRa1b2c3d4e5f60718',
          duration: 95,
          startTime: '2026-11-21T14:00:15.000Z',
          status: 'completed',
          type: 'audio/mpeg',
          url: 'https://example.com/invented-recordings/CRa1b2c3d4e5f60718.mp3',
        },
      ],
    },
  },
};

/**
 * Get call recordings (4.5, section 9, 1.0.2: a call with recordings never answers an empty array).
 *
 * 4.5, what is answered for a call without recordings, and for no call: not shown. An empty array; 404.
 */
type RecordingParts = Pick<Store, 'calls' | 'recordings'>;

export function recordingOperations(parts: RecordingParts): readonly Operation[] {
  return [
    {
      name: 'recordings',
      method: 'GET',
      path: '/v1/call-recordings/:callId',
      resource: '09',
      takesBody: false,
      description: getCallRecordingsDescription,
      run: (request) => getCallRecordings(parts, request),
    },
  ];
}

function getCallRecordings({ calls, recordings }: RecordingParts, request: OperationRequest): Reply {
  const { id } = requireCall(calls, request.id);
  const data = recordings.ofCall(id).map(({ callId: _, ...recording }) => recording);
  return { status: 200, body: { data } };
}
