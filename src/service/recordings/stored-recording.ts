/**
 * A call recording. Section 2.4, fields of recording records: not shown; those of `facts.md` ("Calls, recordings,
 * messages"). The store keeps the call beside it, replies do not show it.
 */
import { z } from 'zod';
import { text } from '../text-schemas.ts';

export const recordingReply = z
  .object({
    id: text.min(1),
    duration: z.int().min(0).nullable().meta({ description: 'Seconds.' }),
    startTime: z.iso.datetime({ offset: true }).nullable(),
    status: z
      .enum(['absent', 'completed', 'deleted', 'failed', 'in-progress', 'paused', 'processing', 'stopped', 'stopping'])
      .nullable(),
    type: text.nullable().meta({ description: 'The media type.' }),
    url: text.nullable().meta({ format: 'uri-reference' }),
  })
  .meta({ id: 'CallRecording' });

export const storedRecording = recordingReply.extend({ callId: z.string().regex(/^AC/) });

export type StoredRecording = Readonly<z.infer<typeof storedRecording>>;
