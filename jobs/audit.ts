/** Job: check the next keys of an audit. */
import { z } from 'zod';
import { carryOutAudit } from '#src/audits/carry-out-audit.ts';
import type { JobDefinition } from '#src/queue/job-definition.ts';
import { aboutRun, type RunContext } from './context.ts';
import { isExhaustedRead } from './upsert-batch.ts';

const payload = z.object({ auditId: z.string() });

/** After a failure, which may last: the audit is handed out again as soon as the job ends. */
const restAfterFailureMs = 5_000;

export const audit: JobDefinition<z.infer<typeof payload>, RunContext> = {
  name: 'audit',
  schema: payload,
  concurrency: 1,
  about: async ({ auditId }, { audits, runs }) => {
    const known = await audits.ledger.audits.get(auditId);
    return known === null ? {} : aboutRun(runs, known.runId);
  },
  process: async ({ auditId }, context, signal) => {
    const { audits } = context;
    const pause = await audits.ledger.pause();
    // While writes alone are paused, reads continue.
    if (pause !== null && pause.scope !== 'writes') return;
    const untilPaused = AbortSignal.any([signal, context.atWork()]);
    try {
      await carryOutAudit(audits, auditId, untilPaused);
    } catch (error) {
      if (untilPaused.aborted) return;
      if (isExhaustedRead(error)) await context.exhausted(error);
      else if (await context.pause(error)) return;
      await audits.clock.sleep(restAfterFailureMs, untilPaused);
      if (!isExhaustedRead(error)) throw error;
    }
  },
};
