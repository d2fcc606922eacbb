/** Invents the recordings of a call. Their files do not exist: example.com is set aside for examples. */
import { randomBytes } from 'node:crypto';
import { isoInstant } from '#src/clock.ts';
import type { StoredCall } from '../calls/stored-call.ts';
import type { StoredRecording } from '../recordings/stored-recording.ts';

/** Segments of equal length, one after the other, from the answer to the end; the oldest first. */
export function inventRecordings(
  { id: callId, answeredAt, duration }: StoredCall,
  recordingCount: number,
): readonly StoredRecording[] {
  if (answeredAt === null) return [];
  const seconds = Math.floor(duration / Math.max(1, recordingCount));
  return Array.from({ length: recordingCount }, (_, index) => {
    const id = `CR${randomBytes(8).toString('hex')}`;
    return {
      id,
      callId,
      duration: seconds,
      startTime: isoInstant(Date.parse(answeredAt) + index * seconds * 1_000),
      status: 'completed',
      type: 'audio/mpeg',
      url: `https://example.com/invented-recordings/${id}.mp3`,
    };
  });
}
