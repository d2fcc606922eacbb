/** List calls for the public description (4.5, section 9). */
import { badRequest } from '../http/refusal.ts';
import type { OperationDescription } from '../operations/operation-description.ts';
import { pageReply } from '../paging/page-reply.ts';
import { callListQuery } from './call-list-query.ts';
import { type StoredCall, storedCall } from './stored-call.ts';

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
  forwardedFrom: null,
  forwardedTo: null,
  createdAt: '2026-11-21T14:00:00.000Z',
  updatedAt: '2026-11-21T14:01:50.000Z',
};

export const listCallsDescription: OperationDescription = {
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
  ],
};
