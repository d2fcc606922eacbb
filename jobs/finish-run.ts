/** Job: finish a run whose rows all have an outcome, or that was cancelled. */
import { z } from 'zod';
import type { JobDefinition } from '#src/queue/job-definition.ts';
import { finishCancelled, finishRun } from '#src/runs/finish-run.ts';
import { aboutRun, type RunContext } from './context.ts';

const payload = z.object({ runId: z.string() });

export const finishRunJob: JobDefinition<z.infer<typeof payload>, RunContext> = {
  name: 'finish-run',
  schema: payload,
  concurrency: 1,
  about: ({ runId }, { runs }) => aboutRun(runs, runId),
  process: async ({ runId }, { runs }) => {
    if (!(await finishRun(runs, runId))) await finishCancelled(runs, runId);
  },
};
