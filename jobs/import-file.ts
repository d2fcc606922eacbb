/** Job: read one file (or the dead letters of a redrive, or what an undo takes back) to its end and stage its changed rows. */
import { z } from 'zod';
import { openRedriveSupply } from '#src/dead-letters/redrive.ts';
import type { JobDefinition } from '#src/queue/job-definition.ts';
import { stageRun } from '#src/runs/stage.ts';
import { stageUndo } from '#src/runs/stage-undo.ts';
import { openFileSupply } from '#src/runs/supply.ts';
import { aboutRun, type RunContext } from './context.ts';

const payload = z.object({ runId: z.string() });

export const importFile: JobDefinition<z.infer<typeof payload>, RunContext> = {
  name: 'import-file',
  schema: payload,
  concurrency: 2,
  about: ({ runId }, { runs }) => aboutRun(runs, runId),
  process: async ({ runId }, context, signal) => {
    const { runs, staging } = context;
    // After a flush the job may be added again while the first one is still active.
    if (staging.has(runId)) return;
    staging.add(runId);
    try {
      const run = await runs.ledger.runs.get(runId);
      if (run === null || (run.state !== 'queued' && run.state !== 'staging')) return;
      if (run.kind === 'undo') return await stageUndo(runs, run, signal);
      await stageRun(
        runs,
        run,
        (one) => (one.kind === 'redrive' ? openRedriveSupply(runs, one) : openFileSupply(runs, one)),
        signal,
      );
    } catch (error) {
      if (!(await context.pause(error))) throw error;
    } finally {
      staging.delete(runId);
    }
  },
};
