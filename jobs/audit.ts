/** Job: look at the next keys of an audit. */
import { z } from 'zod';
import { carryOutAudit } from '#src/audits/carry-out-audit.ts';
import type { JobDefinition } from '#src/queue/job-definition.ts';
import { aboutRun, type RunContext } from './context.ts';
import { isExhaustedRead } from './upsert-batch.ts';

const payload = z.object({ auditId: z.string() });

/** Whatever is wrong may be wrong for long: the audit is handed out again at once when the job ends. */
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
    // Where writes alone are paused, reads pass.
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
