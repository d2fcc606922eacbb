/** Job: look up, plan and write one batch of staged rows. */
import { z } from 'zod';
import type { JobDefinition } from '#src/queue/job-definition.ts';
import { stopForGuard } from '#src/runs/stop-run.ts';
import { processBatch } from '#src/upsert/process-batch.ts';
import type { JobContext } from './context.ts';

const payload = z.object({
  runId: z.string(),
  batch: z.number().int().positive(),
  generation: z.number().int().nonnegative(),
});

export const upsertBatch: JobDefinition<z.infer<typeof payload>, JobContext> = {
  name: 'upsert-batch',
  schema: payload,
  concurrency: 2,
  process: async (reference, context, signal) => {
    if ((await context.runs.ledger.pause()) !== null) return;
    try {
      await processBatch(context.upsert, reference, signal);
    } catch (error) {
      if (await stopForGuard(context.runs, reference.runId, error)) return;
      if (!(await context.pause(error))) throw error;
    }
  },
};
