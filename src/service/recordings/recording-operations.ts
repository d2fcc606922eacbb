/**
 * Get call recordings (4.5, section 9, 1.0.2: a call with recordings never answers an empty array).
 *
 * 4.5, what is answered for a call without recordings, and for no call: not shown. An empty array; 404.
 */
import { z } from 'zod';
import { checkShape } from '../http/check-shape.ts';
import { Refusal } from '../http/refusal.ts';
import type { Operation, OperationRequest, Reply } from '../operations/operation.ts';
import type { Store } from '../store/open-store.ts';
import { getCallRecordingsDescription, recordedCallId } from './recording-descriptions.ts';

export type RecordingParts = Pick<Store, 'calls' | 'recordings'>;

const pathShape = z.object({ callId: recordedCallId });

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
  const { callId } = checkShape(pathShape, { callId: request.id });
  if (calls.find(callId) === null) throw new Refusal(404, `No call has the id ${callId.slice(0, 100)}.`);
  const data = recordings.ofCall(callId).map(({ callId: _, ...recording }) => recording);
  return { status: 200, body: { data } };
}
