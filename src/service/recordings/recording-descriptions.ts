/** Get call recordings for the public description (4.5). */
import { z } from 'zod';
import { badRequest } from '../http/refusal.ts';
import type { OperationDescription } from '../operations/operation-description.ts';
import { recordingReply } from './stored-recording.ts';

export const recordedCallId = z
  .string()
  .regex(/^AC/, { error: 'must begin with AC' })
  .meta({ description: 'Identifier of the call.', examples: ['AC019aa6f3c1d20000a1b2c3d4'] });

export const getCallRecordingsDescription: OperationDescription = {
  operationId: 'getCallRecordings',
  tag: 'Calls',
  summary: 'Get the recordings of a call',
  about: 'Section 4.5. All recordings of one call, the oldest first; an empty list for a call without any.',
  pathId: recordedCallId,
  query: null,
  body: null,
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
  refusals: { 400: 'The identifier does not begin with AC.', 404: 'No call has this identifier.' },
  refusalExamples: [badRequest([{ path: 'callId', message: 'must begin with AC', type: 'string' }])],
};
