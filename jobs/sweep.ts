/** Job: one sweep of the engine's periodic tasks. */
import { z } from 'zod';
import type { JobDefinition } from '#src/queue/job-definition.ts';
import type { RunContext } from './context.ts';

const payload = z.object({ slot: z.number().int() });

export const sweep: JobDefinition<z.infer<typeof payload>, RunContext> = {
  name: 'sweep',
  schema: payload,
  concurrency: 1,
  process: async (_payload, context) => context.sweep(),
};
